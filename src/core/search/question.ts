import { FUNCTION_WORDS } from '../extract/english.ts';
import { isSpaceless, spaceOutSought } from './spaceless.ts';
import { formsOf } from './word-forms.ts';

/** A word that is looked for; what has any of the forms has it. */
export type SoughtWord = {
  readonly forms: readonly string[];
  /** Whatever begins so has it too. */
  readonly isBeginning: boolean;
};

/** What a text asks for. */
export type Question = {
  /** Each once; empty: there is no word in it. */
  readonly words: readonly SoughtWord[];
  /** The one speaker that it names. */
  readonly speaker: string | null;
  readonly asksWhen: boolean;
  /** So few words that somebody looks for the messages that have them. */
  readonly isKeywords: boolean;
};

/** What is looked for is said in the first of them; each more costs a look through the index. */
const MAX_WORDS = 64;
const MAX_QUESTION_CHARS = 20_000;
/** As the index parts words: marks but for those of Latin, Greek and Cyrillic part them too. */
const WORD = /[\p{L}\p{N}\p{Co}\u0300-\u036f]+/gu;
const MAX_KEYWORDS = 3;
/** The index knows no more of a word. */
const MAX_WORD_CHARS = 200;
const ASKS_WHEN =
  /^\s*(?:(?:and|so|but)\s+)?when\b|\b(?:what|which) (?:date|day|week|month|year|time)\b|\bhow long\b|什么时候|何时|いつ/iu;

/**
 * Reads any text: its words, function words only where there are no others. The names of those who spoke say whose words are looked
 * for, and are themselves, written as they write them, looked for only where there is nothing else.
 */
export function readQuestion(text: string, speakers: readonly string[]): Question {
  const asked = text.slice(0, MAX_QUESTION_CHARS);
  const written = spaceOutSought(asked).match(WORD) ?? [];
  const all = [...new Set(written.map((word) => word.toLowerCase()))];
  const speakerOf = new Map(speakers.flatMap((name) => wordsOf(name).map((word) => [word, name] as const)));
  const named = new Set(all.flatMap((word) => speakerOf.get(word) ?? []));
  const content = all.filter((word) => !FUNCTION_WORDS.has(word));
  const names = new Set(speakers.flatMap((name) => name.match(WORD) ?? []));
  const asNames = new Set(written.filter((word) => names.has(word)).map((word) => word.toLowerCase()));
  const unnamed = content.filter((word) => !asNames.has(word));
  const words = [unnamed, content, all].find((some) => some.length > 0) ?? [];
  const [speaker] = named;
  return {
    words: words.slice(0, MAX_WORDS).map(toSought),
    speaker: named.size === 1 && speaker !== undefined ? speaker : null,
    asksWhen: ASKS_WHEN.test(asked),
    isKeywords: written.length <= MAX_KEYWORDS,
  };
}

/** The words of a text in small letters, as the index parts them. */
export function wordsOf(text: string): readonly string[] {
  return text.toLowerCase().match(WORD) ?? [];
}

function toSought(word: string): SoughtWord {
  const isBeginning = isSpaceless(word) && Array.from(word).length === 1;
  return { forms: formsOf(word.slice(0, MAX_WORD_CHARS)), isBeginning };
}
