import { createLexicon, IGNORED, type LexiconOptions, WORD_FLAG } from './lexicon.ts';
import { createScanner, type ScanSink } from './scan.ts';
import type { Span } from './sentence.ts';

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
