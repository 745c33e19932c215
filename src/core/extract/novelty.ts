import type { TermIndex } from './terms.ts';

// So many content words that other text lacks are a fact of their own, if they are what the unit mostly says.
const MIN_NEW_WORDS = 3;
const MIN_NEW_SHARE = 0.5;

/** Whether a unit says what text with these terms does not: a technical name that is not in it, or mostly words that are not. */
export function isNovel(index: TermIndex, unit: number, covered: ReadonlySet<number>): boolean {
  let words = 0;
  let newWords = 0;
  let hasNewToken = false;
  index.eachTermOf(unit, (term) => {
    const use = index.tokenUseOf(term);
    const isNew = !covered.has(term);
    if (use !== null) {
      hasNewToken ||= isNew && !use.isSmallNumber;
      return;
    }
    words += 1;
    if (isNew) newWords += 1;
  });
  return hasNewToken || (newWords >= MIN_NEW_WORDS && newWords >= words * MIN_NEW_SHARE);
}
