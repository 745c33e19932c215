import type { TermIndex } from './terms.ts';
import { SAME_MESSAGE_BONUS, TOKEN_POWER, WORD_POWER } from './weights.ts';

/** Rates units by what they add to the text kept so far: a term that was kept before adds little. */
type GainTracker = {
  readonly gainOf: (unit: number) => number;
  readonly keep: (unit: number) => void;
  /** Counts terms of other text as kept. */
  readonly cover: (terms: readonly number[]) => void;
};

type GainOptions = {
  readonly index: TermIndex;
  /** By term. */
  readonly worth: Float64Array;
  /** By unit: the factor for its terms, the further factor for its tokens, and the number of its passage. */
  readonly units: readonly { readonly weight: number; readonly context: number; readonly passage: number }[];
};

const MAX_COUNT = 63;

export function createGainTracker({ index, worth, units }: GainOptions): GainTracker {
  const counts = new Uint32Array(worth.length);
  const isToken = new Uint8Array(worth.length);
  for (let term = 0; term < worth.length; term += 1) isToken[term] = index.tokenUseOf(term) === null ? 0 : 1;
  const wordSteps = stepsOf(WORD_POWER);
  const tokenSteps = stepsOf(TOKEN_POWER);
  const touched = new Set<number>();
  const sum = { words: 0, tokens: 0 };
  const addGain = (term: number): void => {
    const count = Math.min(counts[term] ?? 0, MAX_COUNT);
    if (isToken[term] === 1) sum.tokens += (worth[term] ?? 0) * (tokenSteps[count] ?? 0);
    else sum.words += (worth[term] ?? 0) * (wordSteps[count] ?? 0);
  };
  const count = (term: number): void => {
    counts[term] = (counts[term] ?? 0) + 1;
  };
  return {
    gainOf: (place) => {
      const unit = units[place];
      if (unit === undefined) return 0;
      sum.words = 0;
      sum.tokens = 0;
      index.forEachTermOf(place, addGain);
      const bonus = touched.has(unit.passage) ? SAME_MESSAGE_BONUS : 1;
      return unit.weight * (bonus * sum.words + unit.context * sum.tokens);
    },
    keep: (place) => {
      const unit = units[place];
      if (unit !== undefined) touched.add(unit.passage);
      index.forEachTermOf(place, count);
    },
    cover: (terms) => terms.forEach(count),
  };
}

/** What the next repetition adds: (count + 1)^power − count^power. */
function stepsOf(power: number): Float64Array {
  return Float64Array.from({ length: MAX_COUNT + 1 }, (_, before) => (before + 1) ** power - before ** power);
}

// A unit is also new when it has this many new words and they make up this share of its words.
const MIN_NEW_WORDS = 3;
const MIN_NEW_SHARE = 0.5;

/** Whether a unit says something that text with the covered terms does not: a new technical name, or mostly new words. */
export function isNovel(index: TermIndex, unit: number, covered: ReadonlySet<number>): boolean {
  let words = 0;
  let newWords = 0;
  let hasNewToken = false;
  index.forEachTermOf(unit, (term) => {
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
