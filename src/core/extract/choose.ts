import { createChosenPlaces } from './chosen-places.ts';
import { createHeap } from './heap.ts';
import { costOf, type Line } from './layout.ts';

// Lines this near to a chosen one of the same message are looked at again: they may cost less now, or be worth more.
const REACH = 8;

/** What can be chosen, by its place in the order in which it would be written. */
export type Candidates = {
  readonly count: number;
  /** Asked for few of the places: it may do work. */
  readonly lineAt: (place: number) => Line;
  readonly charsAt: (place: number) => number;
  /** The number of the message that a place belongs to. */
  readonly passageAt: (place: number) => number | undefined;
  /** What a line adds to what is kept so far; it shrinks as more is kept, but beside kept lines. */
  readonly gainOf: (place: number) => number;
  readonly keep: (place: number) => void;
};

/**
 * Lazy greedy: keeps lines by their gain for each character that they add to the rendered text, until nothing more fits into
 * `budgetChars`. Returns their places in order. Of equals the earliest is kept.
 */
export function chooseLines(candidates: Candidates, budgetChars: number): readonly number[] {
  const { count, lineAt, charsAt, passageAt, gainOf, keep } = candidates;
  const heap = createHeap();
  const chosen = createChosenPlaces(count);
  const picked: number[] = [];
  // The last line end is not written.
  let leftChars = budgetChars + 1;

  const addedChars = (place: number): number => {
    const line = lineAt(place);
    const before = chosen.before(place);
    const after = chosen.after(place);
    const lineBefore = before < 0 ? null : lineAt(before);
    const ownChars = costOf(line, lineBefore);
    if (after < 0) return ownChars;
    return ownChars + costOf(lineAt(after), line) - costOf(lineAt(after), lineBefore);
  };
  // Without its head: no line can be cheaper, so that no key is too low.
  const enter = (place: number): void => {
    const gain = gainOf(place);
    if (gain > 0 && charsAt(place) < leftChars) heap.push(place, gain / (charsAt(place) + 1));
  };
  for (let place = 0; place < count; place += 1) enter(place);

  for (let place = heap.pop(); place !== null; place = heap.pop()) {
    if (chosen.has(place) || charsAt(place) >= leftChars) continue;
    const chars = addedChars(place);
    const ratio = gainOf(place) / chars;
    if (ratio < heap.topKey()) {
      heap.push(place, ratio);
      continue;
    }
    if (chars > leftChars) continue;
    chosen.add(place);
    picked.push(place);
    leftChars -= chars;
    keep(place);
    for (const step of [-1, 1]) {
      for (let reach = 1; reach <= REACH; reach += 1) {
        const other = place + step * reach;
        if (passageAt(other) !== passageAt(place)) break;
        if (!chosen.has(other)) enter(other);
      }
    }
  }
  return picked.sort((a, b) => a - b);
}
