import { createHeap } from './heap.ts';
import { costOf } from './layout.ts';
import type { Line } from './layout.ts';
import { createChosenPlaces } from './neighbours.ts';

// Lines this near to a chosen one of the same message are looked at again: they may cost less now.
const REACH = 8;

/** What can be chosen, in the order in which it would be written. */
export type Candidates = {
  readonly lines: readonly Line[];
  /** Which message a line is of: choosing one makes the others cheaper. */
  readonly messageOf: (line: number) => number;
  /** What a line adds to what is chosen so far; it never grows as more is chosen. */
  readonly gainOf: (line: number) => number;
  readonly onChosen: (line: number) => void;
};

/**
 * Chooses lines by their gain for each character, counting exactly what each adds to the rendered text, until nothing more fits into
 * `budgetChars`. Returns their numbers in order.
 */
export function chooseLines({ lines, messageOf, gainOf, onChosen }: Candidates, budgetChars: number): readonly number[] {
  const heap = createHeap();
  const chosen = createChosenPlaces(lines.length);
  const picked: number[] = [];
  // The last line end is not written.
  let leftChars = budgetChars + 1;

  const lineAt = (place: number): Line | null => (place < 0 ? null : (lines[place] ?? null));
  const addedChars = (place: number, line: Line): number => {
    const before = lineAt(chosen.before(place));
    const after = lineAt(chosen.after(place));
    const own = costOf(line, before);
    return after === null ? own : own + costOf(after, line) - costOf(after, before);
  };
  const enter = (place: number, line: Line): void => {
    const gain = gainOf(place);
    if (gain > 0) heap.push(place, gain / (line.text.length + 1) ** (globalThis.P ?? 1));
  };
  lines.forEach((line, place) => enter(place, line));

  for (let top = heap.pop(); top !== null; top = heap.pop()) {
    const { item: place } = top;
    const line = lines[place];
    if (line === undefined || chosen.has(place)) continue;
    const chars = addedChars(place, line);
    if (line.text.length + 1 > leftChars) continue;
    const gain = gainOf(place);
    if (gain <= 0) continue;
    const ratio = gain / Math.max(1, chars) ** (globalThis.P ?? 1);
    if (ratio < heap.topKey()) {
      heap.push(place, ratio);
      continue;
    }
    if (chars > leftChars) continue;
    chosen.add(place);
    picked.push(place);
    leftChars -= chars;
    onChosen(place);
    for (let step = -1; step <= 1; step += 2) {
      for (let reach = 1; reach <= REACH; reach += 1) {
        const other = place + step * reach;
        if (messageOf(other) !== messageOf(place)) break;
        const neighbour = lines[other];
        if (neighbour !== undefined && !chosen.has(other)) enter(other, neighbour);
      }
    }
  }
  return picked.sort((a, b) => a - b);
}
