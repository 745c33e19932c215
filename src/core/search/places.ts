import { createHeap } from '../heap.ts';

/** The messages that have a word, by their numbers, lowest first. */
export type WordHits = { readonly lineIds: readonly number[]; readonly weight: number };

/** How much of a word's weight a message has from one so many steps before (negative) or after it: two before, it mostly spoke itself. */
export const NEAR_SHARES: ReadonlyMap<number, number> = new Map([
  [-2, 0.4],
  [-1, 0.4],
  [0, 1],
  [1, 0.4],
  [2, 0.2],
]);

/** How much more a rare word tells than a common one: 1 is BM25's measure. In a question it is less. */
export const KEYWORD_RARITY_POWER = 1;
export const QUESTION_RARITY_POWER = 0.7;

export function weighWord(hitCount: number, messageCount: number, rarityPower: number): number {
  const others = Math.max(0, messageCount - hitCount);
  return Math.log(1 + (others + 0.5) / (hitCount + 0.5)) ** rarityPower;
}

/**
 * The numbers of messages that have the most of the words in themselves or beside them, best first. Of a word that stands in several
 * neighbors the nearest counts. Rough: neighbors are told by their numbers alone.
 */
export function findPlaces(words: readonly WordHits[], limit: number): readonly number[] {
  const [first, last] = spanOf(words);
  if (first > last) return [];
  const base = first - 2;
  const length = last - base + 3;
  const scores = new Float32Array(length);
  const shares = new Float32Array(length);
  const owners = new Uint8Array(length);
  const nearest = [...NEAR_SHARES].map(([step, share]) => ({ step: -step, share }));
  words.forEach(({ lineIds, weight }, word) => {
    for (const id of lineIds) {
      for (const { step, share } of nearest) {
        const at = id - base + step;
        const known = owners[at] === word + 1 ? (shares[at] ?? 0) : 0;
        if (share <= known) continue;
        owners[at] = word + 1;
        shares[at] = share;
        scores[at] = (scores[at] ?? 0) + (share - known) * weight;
      }
    }
  });
  return bestOf(scores, limit).map((at) => at + base);
}

function spanOf(words: readonly WordHits[]): readonly [first: number, last: number] {
  const ids = words.flatMap(({ lineIds }) => (lineIds.length === 0 ? [] : [lineIds[0] ?? 0, lineIds.at(-1) ?? 0]));
  return [Math.min(...ids), Math.max(...ids)];
}

/** Places of the highest scores, highest first, of equal ones the first. */
function bestOf(scores: Float32Array, limit: number): readonly number[] {
  const heap = createHeap(); // the worst of those that are kept is on top
  let floor = 0;
  let size = 0;
  for (let at = 0; at < scores.length; at += 1) {
    const score = scores[at] ?? 0;
    if (score <= floor) continue;
    heap.push(-at, -score);
    size += 1;
    if (size <= limit) continue;
    heap.pop();
    size -= 1;
    floor = -heap.topKey();
  }
  const best: number[] = [];
  for (let at = heap.pop(); at !== null; at = heap.pop()) best.push(-at);
  return best.toReversed();
}
