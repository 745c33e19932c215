/** What the message that means most nearly the same has more than the one that does least, as a share of the best score by words. */
const MEANING_SHARE = 0.5;

/**
 * What likeness to a query speaks for each message, as a share of the best score by words. Models differ in what they call alike: only the
 * order and the distances among those that are looked at count.
 */
export function weighMeaning(similarities: ReadonlyMap<number, number>): (id: number) => number {
  const all = [...similarities.values()];
  const lowest = all.reduce((least, one) => Math.min(least, one), Number.POSITIVE_INFINITY);
  const highest = all.reduce((most, one) => Math.max(most, one), Number.NEGATIVE_INFINITY);
  const range = highest - lowest;
  return (id) => {
    const similarity = similarities.get(id);
    return similarity === undefined || !(range > 0) ? 0 : (MEANING_SHARE * (similarity - lowest)) / range;
  };
}
