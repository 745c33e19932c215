import { ADDRESS_WORDS, FILLERS, FUNCTION_WORDS, SELF_WORDS, TIME_WORDS } from './english.ts';
import { scanText } from './scan.ts';
import type { SegmentKind } from './segment.ts';
import type { Span } from './sentence.ts';

/** Brings the forms of an English word to one. */
export type Stemmer = (word: string) => string;

/** Who used a token: the shares of its weight. */
export type Voice = 'user' | 'assistant' | 'call' | 'result';

/** How often a token was used by each voice, and in which message last. */
export type TokenUse = Record<Voice, number> & { lastIndex: number; lastSpokenIndex: number };

/** What a unit's words tell of it, beside its terms. */
export type UnitTraits = {
  readonly hasTime: boolean;
  readonly hasName: boolean;
  /** It speaks to the other and not of anybody. */
  readonly onlyAddresses: boolean;
  readonly hasToken: boolean;
};

/** Terms of units: words by their stem, technical tokens by their key; a term counts once a unit. */
export type TermIndex = {
  readonly add: (text: string, span: Span, use: { kind: SegmentKind; voice: Voice; messageIndex: number }) => UnitTraits;
  /** The ids of the terms of the unit added as number `unit`. */
  readonly termsOf: (unit: number) => readonly [terms: readonly number[], from: number, to: number];
  readonly unitCount: () => number;
  readonly termCount: () => number;
  readonly frequencyOf: (term: number) => number;
  /** Null for a word. */
  readonly tokenUse: (term: number) => TokenUse | null;
  readonly nameOf: (term: number) => string;
};

export type TermOptions = {
  readonly stem: Stemmer;
  readonly isEnglish: boolean;
  /** Names of the speakers: no terms. */
  readonly speakers: readonly string[];
};

const IGNORED = -1;
const FLAG = { self: 1, address: 2, time: 4, plain: 8 } as const;

export function createTermIndex({ stem, isEnglish, speakers }: TermOptions): TermIndex {
  const speakerWords = new Set(speakers.flatMap((name) => name.toLowerCase().split(/[^\p{L}\p{N}]+/u)));
  const known = new Map<string, number>();
  const flagsOf = new Map<string, number>();
  const ids = new Map<string, number>();
  const names: string[] = [];
  const uses: (TokenUse | null)[] = [];
  const frequency: number[] = [];
  const lastUnit: number[] = [];
  const terms: number[] = [];
  const starts: number[] = [0];

  const idOf = (key: string, name: string, isToken: boolean): number => {
    const id = ids.get(key);
    if (id !== undefined) return id;
    const next = names.length;
    ids.set(key, next);
    names.push(name);
    uses.push(isToken ? { user: 0, assistant: 0, call: 0, result: 0, lastIndex: 0, lastSpokenIndex: -1 } : null);
    frequency.push(0);
    lastUnit.push(-1);
    return next;
  };
  const learn = (written: string): number => {
    const word = (isAscii(written) ? written : written.normalize('NFKC')).toLowerCase();
    let flags = 0;
    if (isEnglish) {
      if (SELF_WORDS.has(word)) flags |= FLAG.self;
      if (ADDRESS_WORDS.has(word)) flags |= FLAG.address;
      if (TIME_WORDS.has(word)) flags |= FLAG.time;
    }
    const isPlain = isEnglish && (FUNCTION_WORDS.has(word) || FILLERS.has(word));
    if (isPlain) flags |= FLAG.plain;
    flagsOf.set(written, flags);
    const isDropped = isPlain || speakerWords.has(word) || (word.length < 2 && word.charCodeAt(0) < 0x2e80);
    const id = isDropped ? IGNORED : idOf(` ${isEnglish && /^[a-z]+$/.test(word) ? stem(word) : word}`, word, false);
    known.set(written, id);
    return id;
  };

  const state = { flags: 0, words: 0, hasName: false, hasToken: false, unit: 0, voice: 'user' as Voice, messageIndex: 0 };
  const note = (id: number): void => {
    if (lastUnit[id] === state.unit) return;
    lastUnit[id] = state.unit;
    frequency[id] = (frequency[id] ?? 0) + 1;
    terms.push(id);
  };
  const sink = {
    word: (written: string, isCapitalized: boolean): void => {
      const id = known.get(written) ?? learn(written);
      const flags = flagsOf.get(written) ?? 0;
      state.flags |= flags;
      if (isCapitalized && state.words > 0 && id !== IGNORED && (flags & FLAG.plain) === 0) state.hasName = true;
      state.words += 1;
      if (id !== IGNORED) note(id);
    },
    token: (key: string): void => {
      const id = idOf(key, key, true);
      state.hasToken = true;
      note(id);
      const use = uses[id];
      if (use === null || use === undefined) return;
      use[state.voice] += 1;
      use.lastIndex = state.messageIndex;
      if (state.voice !== 'result') use.lastSpokenIndex = state.messageIndex;
    },
  };

  return {
    add: (text, span, { kind, voice, messageIndex }) => {
      state.flags = 0;
      state.words = 0;
      state.hasName = false;
      state.hasToken = false;
      state.unit = starts.length - 1;
      state.voice = voice;
      state.messageIndex = messageIndex;
      scanText(text, span, { sink, escapes: kind === 'call' });
      starts.push(terms.length);
      const { flags } = state;
      return {
        hasTime: (flags & FLAG.time) !== 0,
        hasName: state.hasName,
        onlyAddresses: (flags & FLAG.address) !== 0 && (flags & FLAG.self) === 0,
        hasToken: state.hasToken,
      };
    },
    termsOf: (unit) => [terms, starts[unit] ?? 0, starts[unit + 1] ?? 0],
    unitCount: () => starts.length - 1,
    termCount: () => names.length,
    frequencyOf: (term) => frequency[term] ?? 0,
    tokenUse: (term) => uses[term] ?? null,
    nameOf: (term) => names[term] ?? '',
  };
}

function isAscii(text: string): boolean {
  for (let i = 0; i < text.length; i += 1) if (text.charCodeAt(i) > 127) return false;
  return true;
}
