import { FUNCTION_WORDS } from '../extract/english.ts';
import { wordsOf } from './question.ts';

/** Words that stand together in what is asked for, as a text would hold them. */
export type Phrase = readonly string[];

/** How much a message gains that holds a phrase, beside the best of all by its words. */
export const PHRASE_SHARE = 0.3;
/** So many of the best are read for it. */
export const PHRASE_MESSAGES = 20;
const MAX_PHRASES = 4;
const MAX_PHRASE_WORDS = 12;
const MAX_TEXT_CHARS = 200_000;
/** Between quotes, else what has no space in it: a path, an address, `can't-do`. */
const TOGETHER = /"([^"]{1,400})"|“([^”]{1,400})”|(\S+)/gu;

/** The paths, addresses and quotations of a question; a word with a mere ending (`Ada's`) is none. */
export function readPhrases(query: string): readonly Phrase[] {
  const phrases = Array.from(query.slice(0, 20_000).matchAll(TOGETHER), (match) =>
    wordsOf(match[1] ?? match[2] ?? match[3] ?? '').slice(0, MAX_PHRASE_WORDS),
  );
  return phrases.filter((words) => words.filter((word) => !FUNCTION_WORDS.has(word)).length > 1).slice(0, MAX_PHRASES);
}

/** How many of the phrases a text holds, as a share. */
export function sharePhrases(text: string, phrases: readonly Phrase[]): number {
  const words = ` ${wordsOf(text.slice(0, MAX_TEXT_CHARS)).join(' ')} `;
  const held = phrases.filter((phrase) => words.includes(` ${phrase.join(' ')} `));
  return held.length / Math.max(1, phrases.length);
}
