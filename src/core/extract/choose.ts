import { createHeap } from '../heap.ts';
import { costOf, type Line } from './summary-lines.ts';

// After a line is chosen, this many neighbors on each side in the same message are rated again: they may now cost less or gain more.
const REACH = 8;

/** What can be chosen, numbered in the order in which it would be written. */
export type Candidates = {
  readonly count: number;
  /** Called for few of the places, so it may do work. */
  readonly lineAt: (place: number) => Line;
  readonly charsAt: (place: number) => number;
  /** The number of the message that a place belongs to. */
  readonly passageAt: (place: number) => number | undefined;
  /** What a line adds to what is kept so far. It shrinks as more is kept, but grows next to kept lines. */
  readonly gainOf: (place: number) => number;
  /** A factor for the gain, of 1 at most: null until it was asked for with `factorOf`, which is called for few of the places. */
  readonly knownFactorOf: (place: number) => number | null;
  readonly factorOf: (place: number) => number;
  readonly keep: (place: number) => void;
};

/**
 * Lazy greedy selection: keeps the lines with the most gain per character of rendered text until nothing more fits into `budgetChars`.
 * Returns their places in order. The earliest of equals wins.
 */
export function chooseLines(candidates: Candidates, budgetChars: number): readonly number[] {
  const { count, lineAt, charsAt, passageAt, gainOf, knownFactorOf, factorOf, keep } = candidates;
  const heap = createHeap();
  const chosen = createChosenPlaces(count);
  const picked: number[] = [];
  // The last line needs no line end.
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
  const gains = new Float64Array(count);
  // Leaves out the header and label: no line can cost less, so no key is too low.
  const push = (place: number, factor: number): void => {
    const gain = factor * (gains[place] ?? 0);
    if (gain > 0 && charsAt(place) < leftChars) heap.push(place, gain / (charsAt(place) + 1));
  };
  const enter = (place: number): void => {
    gains[place] = gainOf(place);
    push(place, knownFactorOf(place) ?? 1);
  };
  /** The best place, after the factors of those that may be better were asked for. */
  const next = (): number | null => {
    for (;;) {
      const place = heap.pop();
      if (place === null || knownFactorOf(place) !== null) return place;
      if (charsAt(place) < leftChars) push(place, factorOf(place));
    }
  };
  for (let place = 0; place < count; place += 1) enter(place);

  for (let place = next(); place !== null; place = next()) {
    if (chosen.has(place) || charsAt(place) >= leftChars) continue;
    const gain = factorOf(place) * gainOf(place);
    if (gain === 0) continue; // it entered twice before its factor was known
    const chars = addedChars(place);
    const ratio = gain / chars;
    if (heap.hasBefore(place, ratio)) {
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

/** A set of numbered places that finds the nearest chosen neighbors of any place. */
type ChosenPlaces = {
  readonly add: (place: number) => void;
  readonly has: (place: number) => boolean;
  /** The nearest chosen place before, or -1. */
  readonly before: (place: number) => number;
  /** The nearest chosen place after, or -1. */
  readonly after: (place: number) => number;
};

/** A bit set in two levels: a search reads at most 32 words of the first level and a few of the second. */
export function createChosenPlaces(count: number): ChosenPlaces {
  const words = new Uint32Array((count >> 5) + 1);
  const groups = new Uint32Array((count >> 10) + 1);
  return {
    add: (place) => {
      words[place >> 5] = (words[place >> 5] ?? 0) | (1 << (place & 31));
      groups[place >> 10] = (groups[place >> 10] ?? 0) | (1 << ((place >> 5) & 31));
    },
    has: (place) => ((words[place >> 5] ?? 0) & (1 << (place & 31))) !== 0,
    before: (place) => {
      const word = place >> 5;
      const inWord = (words[word] ?? 0) & lowBits(place & 31);
      if (inWord !== 0) return (word << 5) + highest(inWord);
      let group = word >> 5;
      let candidates = (groups[group] ?? 0) & lowBits(word & 31);
      while (candidates === 0 && group > 0) {
        group -= 1;
        candidates = groups[group] ?? 0;
      }
      if (candidates === 0) return -1;
      const found = (group << 5) + highest(candidates);
      return (found << 5) + highest(words[found] ?? 0);
    },
    after: (place) => {
      const word = place >> 5;
      const inWord = (words[word] ?? 0) & highBits(place & 31);
      if (inWord !== 0) return (word << 5) + lowest(inWord);
      let group = word >> 5;
      let candidates = (groups[group] ?? 0) & highBits(word & 31);
      while (candidates === 0 && group < groups.length - 1) {
        group += 1;
        candidates = groups[group] ?? 0;
      }
      if (candidates === 0) return -1;
      const found = (group << 5) + lowest(candidates);
      return (found << 5) + lowest(words[found] ?? 0);
    },
  };
}

function lowBits(count: number): number {
  return count === 0 ? 0 : 0xffffffff >>> (32 - count);
}

function highBits(from: number): number {
  return from === 31 ? 0 : 0xffffffff << (from + 1);
}

function highest(bits: number): number {
  return 31 - Math.clz32(bits);
}

function lowest(bits: number): number {
  return 31 - Math.clz32(bits & -bits);
}
