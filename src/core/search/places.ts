import { createHeap } from '../heap.ts';

/** The messages that contain a word, by ascending number. */
export type WordHits = { readonly lineIds: readonly number[]; readonly weight: number };

/**
 * The share of a word's weight that a message gets from a neighbor this many steps before (negative) or after it. The same person usually
 * spoke two messages before.
 */
export const NEAR_SHARES: ReadonlyMap<number, number> = new Map([
  [-2, 0.4],
  [-1, 0.4],
  [0, 1],
  [1, 0.4],
  [2, 0.2],
]);

/** How much rare words count. 1 is BM25's measure; in questions rarity matters less. */
export const KEYWORD_RARITY_POWER = 1;
export const QUESTION_RARITY_POWER = 0.7;

export function weighWord(hitCount: number, messageCount: number, rarityPower: number): number {
  const others = Math.max(0, messageCount - hitCount);
  return Math.log(1 + (others + 0.5) / (hitCount + 0.5)) ** rarityPower;
}

/**
 * The numbers of the messages that contain most of the words or have them nearby, best first. If several neighbors contain a word, the
 * nearest counts. Approximate, since neighbors are found by number alone.
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

/** The places with the highest scores, best first. The first of equals wins. */
function bestOf(scores: Float32Array, limit: number): readonly number[] {
  const heap = createHeap(); // the lowest kept score is on top
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
