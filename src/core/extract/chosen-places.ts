/** The chosen ones among numbered places, asked for their neighbours. */
export type ChosenPlaces = {
  readonly add: (place: number) => void;
  readonly has: (place: number) => boolean;
  /** The nearest chosen place before, or -1. */
  readonly before: (place: number) => number;
  /** The nearest chosen place after, or -1. */
  readonly after: (place: number) => number;
};

/** Two levels of bits: a search looks at most at 32 words a level and at the few words of the second. */
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
