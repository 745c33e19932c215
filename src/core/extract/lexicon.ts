import {
  ADDRESS_WORDS,
  COUNT_WORDS,
  FAILURE_WORDS,
  FILLERS,
  FUNCTION_WORDS,
  NAMING_WORDS,
  NARRATOR_ADVERBS,
  NARRATOR_WORDS,
  OTHER_TIME_WORDS,
  OWN_WORDS,
  PAST_WORDS,
  SELF_WORDS,
  TIME_WORDS,
} from './word-lists.ts';

/** Reduces an English word to its stem. */
export type Stemmer = (word: string) => string;

/** Marks a word that is not a term: a function word, a filler, a speaker's name, a single letter. */
export const IGNORED = -1;

export const WORD_FLAG = {
  self: 1,
  address: 2,
  time: 4,
  failure: 8,
  own: 16,
  count: 32,
  naming: 64,
  narrator: 128,
  narratorAdverb: 256,
  past: 512,
} as const;

type LexiconEntry = { readonly term: number; readonly flags: number };

export type LexiconOptions = {
  readonly stem: Stemmer;
  /** If false, words are neither stemmed nor looked up in the English lists. */
  readonly isEnglish: boolean;
  readonly speakers: readonly string[];
};

/** Numbers terms in order of appearance. All forms of a word share one number; a token and a word never do. */
export type Lexicon = {
  readonly word: (written: string) => LexiconEntry;
  readonly token: (key: string) => number;
  /** Looks up a term without adding one. */
  readonly knownWord: (written: string) => number | undefined;
  readonly knownToken: (key: string) => number | undefined;
  readonly termCount: () => number;
};

export function createLexicon({ stem, isEnglish, speakers }: LexiconOptions): Lexicon {
  const speakerWords = new Set(speakers.flatMap((name) => name.toLowerCase().split(/[^\p{L}\p{N}]+/u)));
  const byForm = new Map<string, LexiconEntry>();
  const wordTerms = new Map<string, number>();
  const tokenTerms = new Map<string, number>();
  const termCount = (): number => wordTerms.size + tokenTerms.size;

  const stemOf = (word: string): string => (isEnglish && /^[a-z]+$/.test(word) ? stem(word) : word);
  const isDropped = (word: string): boolean => {
    if (speakerWords.has(word)) return true;
    if (word.length < 2 && word.charCodeAt(0) < FIRST_IDEOGRAPH) return true;
    return isEnglish && (FUNCTION_WORDS.has(word) || FILLERS.has(word));
  };
  const learn = (written: string): LexiconEntry => {
    const word = folded(written);
    const entry = {
      term: isDropped(word) ? IGNORED : numbered(wordTerms, stemOf(word), termCount),
      flags: (isEnglish ? flagsOf(word) : otherFlagsOf(word)) | (NUMBER.test(word) ? WORD_FLAG.count : 0),
    };
    byForm.set(written, entry);
    return entry;
  };
  return {
    word: (written) => byForm.get(written) ?? learn(written),
    token: (key) => numbered(tokenTerms, key, termCount),
    knownWord: (written) => byForm.get(written)?.term ?? wordTerms.get(stemOf(folded(written))),
    knownToken: (key) => tokenTerms.get(key),
    termCount,
  };
}

// From this code point on, a single character can be a word.
const FIRST_IDEOGRAPH = 0x2e80;

const NUMBER = /^\p{N}/u;
const PAST = /[a-z]{2}ed$/;

const WORDS_BY_FLAG: readonly (readonly [number, ReadonlySet<string>])[] = [
  [WORD_FLAG.self, SELF_WORDS],
  [WORD_FLAG.address, ADDRESS_WORDS],
  [WORD_FLAG.time, TIME_WORDS],
  [WORD_FLAG.failure, FAILURE_WORDS],
  [WORD_FLAG.own, OWN_WORDS],
  [WORD_FLAG.count, COUNT_WORDS],
  [WORD_FLAG.naming, NAMING_WORDS],
  [WORD_FLAG.narrator, NARRATOR_WORDS],
  [WORD_FLAG.narratorAdverb, NARRATOR_ADVERBS],
  [WORD_FLAG.past, PAST_WORDS],
];

const FLAGS_BY_WORD: ReadonlyMap<string, number> = new Map(
  WORDS_BY_FLAG.flatMap(([, words]) =>
    [...words].map((word) => [
      word,
      WORDS_BY_FLAG.reduce((sum, [flag, others]) => (others.has(word) ? sum | flag : sum), 0),
    ]),
  ),
);

function flagsOf(word: string): number {
  const flags = PAST.test(word) ? WORD_FLAG.past : 0;
  return flags | (FLAGS_BY_WORD.get(word) ?? 0);
}

function otherFlagsOf(word: string): number {
  return OTHER_TIME_WORDS.has(word) ? WORD_FLAG.time : 0;
}

function numbered(terms: Map<string, number>, key: string, next: () => number): number {
  const known = terms.get(key);
  if (known !== undefined) return known;
  const term = next();
  terms.set(key, term);
  return term;
}

function folded(written: string): string {
  for (let i = 0; i < written.length; i += 1) {
    if (written.charCodeAt(i) > 127) return written.normalize('NFKC').toLowerCase();
  }
  return written.toLowerCase();
}
