import { createScanner, type ScanSink } from './scan.ts';
import type { Span } from './sentence.ts';
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

/** Who used a token, which decides how much it is worth. */
export type SpeakerKind = 'user' | 'assistant' | 'call' | 'result';

/** How many units of each kind of speaker contain a token, and in which message it appeared last: at all, and outside tool results. */
export type TokenUse = {
  readonly counts: Record<SpeakerKind, number>;
  lastIndex: number;
  lastSpokenIndex: number;
  readonly isSmallNumber: boolean;
};

/** What the words of a unit reveal, apart from its terms. */
export type UnitFeatures = {
  readonly mentionsTime: boolean;
  readonly hasName: boolean;
  /** Speaks to the listener and mentions nobody else. */
  readonly onlyAddressesListener: boolean;
  readonly mentionsFailure: boolean;
  /** "I went", "we just finished". */
  readonly reportsOwnPast: boolean;
  /** "my", "our". */
  readonly mentionsOwn: boolean;
  readonly hasCount: boolean;
  /** "called", "named". */
  readonly introducesName: boolean;
  readonly hasToken: boolean;
  readonly contentWords: number;
  /** Content words outside its technical names. */
  readonly contextWords: number;
};

/** The terms of units: words by stem, technical tokens by key. A term counts once per unit. Terms and units are numbered from 0. */
export type TermIndex = {
  readonly add: (text: string, span: Span, use: { speakerKind: SpeakerKind; messageIndex: number }) => UnitFeatures;
  /** The distinct terms of other text that also appear in a unit. */
  readonly knownTermsIn: (text: string) => readonly number[];
  readonly forEachTermOf: (unit: number, visit: (term: number) => void) => void;
  readonly unitCount: () => number;
  readonly termCount: () => number;
  /** The number of units that contain a term. */
  readonly frequencyOf: (term: number) => number;
  /** Null if the term is a word. */
  readonly tokenUseOf: (term: number) => TokenUse | null;
};

export function createTermIndex(options: LexiconOptions): TermIndex {
  const lexicon = createLexicon(options);
  const uses: (TokenUse | null)[] = [];
  const frequency: number[] = [];
  const lastUnit: number[] = [];
  const terms: number[] = [];
  const starts: number[] = [0];
  const scan = createScanner();
  const seen = {
    flags: 0,
    words: 0,
    contentWords: 0,
    longestRun: 0,
    hasName: false,
    hasToken: false,
    isAfterNarrator: false,
    reportsOwnPast: false,
    unit: 0,
    speakerKind: 'user' as SpeakerKind,
    messageIndex: 0,
  };

  const note = (term: number): boolean => {
    if (lastUnit[term] === seen.unit) return false;
    lastUnit[term] = seen.unit;
    frequency[term] = (frequency[term] ?? 0) + 1;
    terms.push(term);
    return true;
  };
  const noteWord = (written: string, isCapitalized: boolean): void => {
    const { term, flags } = lexicon.word(written);
    seen.flags |= flags;
    seen.words += 1;
    if (seen.isAfterNarrator && (flags & WORD_FLAG.past) !== 0) seen.reportsOwnPast = true;
    seen.isAfterNarrator =
      (flags & WORD_FLAG.narrator) !== 0 || (seen.isAfterNarrator && (flags & WORD_FLAG.narratorAdverb) !== 0);
    if (term === IGNORED) return;
    if (isCapitalized && seen.words > 1) seen.hasName = true;
    seen.contentWords += 1;
    note(term);
  };
  const noteToken = (key: string): void => {
    const term = lexicon.token(key);
    seen.hasToken = true;
    if (!note(term)) return;
    const use = (uses[term] ??= newUse(key));
    use.counts[seen.speakerKind] += 1;
    use.lastIndex = seen.messageIndex;
    if (seen.speakerKind !== 'result') use.lastSpokenIndex = seen.messageIndex;
  };
  const sink: ScanSink = {
    word: noteWord,
    run: (run) => {
      const wordsBefore = seen.contentWords;
      for (const word of run.words) noteWord(word, startsUpper(word));
      for (const token of run.tokens) noteToken(token);
      seen.longestRun = Math.max(seen.longestRun, seen.contentWords - wordsBefore);
    },
  };

  return {
    add: (text, span, { speakerKind, messageIndex }) => {
      seen.flags = 0;
      seen.words = 0;
      seen.contentWords = 0;
      seen.longestRun = 0;
      seen.hasName = false;
      seen.hasToken = false;
      seen.isAfterNarrator = false;
      seen.reportsOwnPast = false;
      seen.unit = starts.length - 1;
      seen.speakerKind = speakerKind;
      seen.messageIndex = messageIndex;
      scan(text, span, { sink, escapes: speakerKind === 'call' });
      starts.push(terms.length);
      const { flags } = seen;
      return {
        mentionsTime: (flags & WORD_FLAG.time) !== 0,
        hasName: seen.hasName,
        onlyAddressesListener: (flags & WORD_FLAG.address) !== 0 && (flags & WORD_FLAG.self) === 0,
        mentionsFailure: (flags & WORD_FLAG.failure) !== 0,
        reportsOwnPast: seen.reportsOwnPast,
        mentionsOwn: (flags & WORD_FLAG.own) !== 0,
        hasCount: (flags & WORD_FLAG.count) !== 0,
        introducesName: (flags & WORD_FLAG.naming) !== 0,
        hasToken: seen.hasToken,
        contentWords: seen.contentWords,
        contextWords: seen.contentWords - seen.longestRun,
      };
    },
    knownTermsIn: (text) => {
      const found = new Set<number>();
      const noteKnown = (term: number | undefined): void => {
        if (term !== undefined && term !== IGNORED) found.add(term);
      };
      const known: ScanSink = {
        word: (written) => noteKnown(lexicon.knownWord(written)),
        run: ({ words, tokens }) => {
          for (const word of words) noteKnown(lexicon.knownWord(word));
          for (const token of tokens) noteKnown(lexicon.knownToken(token));
        },
      };
      scan(text, { start: 0, end: text.length }, { sink: known, escapes: false });
      return [...found];
    },
    forEachTermOf: (unit, visit) => {
      const end = starts[unit + 1] ?? 0;
      for (let i = starts[unit] ?? end; i < end; i += 1) visit(terms[i] ?? 0);
    },
    unitCount: () => starts.length - 1,
    termCount: () => lexicon.termCount(),
    frequencyOf: (term) => frequency[term] ?? 0,
    tokenUseOf: (term) => uses[term] ?? null,
  };
}

function startsUpper(word: string): boolean {
  const code = word.charCodeAt(0);
  return code >= 65 && code <= 90;
}

function newUse(key: string): TokenUse {
  return {
    counts: { user: 0, assistant: 0, call: 0, result: 0 },
    lastIndex: 0,
    lastSpokenIndex: -1,
    isSmallNumber: /^\d{1,3}$/.test(key),
  };
}

/** Reduces an English word to its stem. */
export type Stemmer = (word: string) => string;

/** Marks a word that is not a term: a function word, a filler, a speaker's name, a single letter. */
const IGNORED = -1;

const WORD_FLAG = {
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
type Lexicon = {
  readonly word: (written: string) => LexiconEntry;
  readonly token: (key: string) => number;
  /** Looks up a term without adding one. */
  readonly knownWord: (written: string) => number | undefined;
  readonly knownToken: (key: string) => number | undefined;
  readonly termCount: () => number;
};

function createLexicon({ stem, isEnglish, speakers }: LexiconOptions): Lexicon {
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
