import { lazily } from '../lazy.ts';
import { foldLetters } from './fold.ts';

/**
 * All letters and marks that occur in tables and what stands between them in Unicode, without punctuation. V8 takes a millisecond to compile each
 * `\p{L}`, which would slow down the start of the program.
 */
const LETTER =
  '[a-zµ\\u00df-\\u00f6\\u00f8-\\u024f\\u0300-\\u0373\\u0376-\\u037d\\u0386\\u0388-\\u0481\\u0483-\\u0559\\u0561-\\u0587\\u0591-\\u05bd\\u05d0-\\u05f2\\u0610-\\u061a\\u0620-\\u0669\\u066e-\\u06d3\\u06d5-\\u06ff\\u0900-\\u0963\\u0971-\\u09e3\\u0a01-\\u0df3\\u1100-\\u11ff\\u1e00-\\u1fff\\uac00-\\ud7af]';

export type Pattern = {
  readonly test: (sentence: string) => boolean;
  readonly findAll: (sentence: string) => readonly string[];
  readonly remove: (sentence: string) => string;
};

const NOTHING: Pattern = { test: () => false, findAll: () => [], remove: (sentence) => sentence };

/**
 * A pattern for alternatives, compiled when it is first tried: whole words, which `\b` only knows of English, or anything if the language puts no
 * spaces between words. Empty alternatives match nothing.
 */
export function createPattern(alternatives: string, { hasSpaces }: { readonly hasSpaces: boolean }): Pattern {
  if (alternatives === '') return NOTHING;
  const read = lazily(() => {
    const folded = foldLetters(alternatives).replaceAll('\\p{L}', LETTER);
    return hasSpaces ? `(?<!${LETTER})(?:${folded})(?!${LETTER})` : folded;
  });
  const first = lazily(() => new RegExp(read(), 'u'));
  const all = lazily(() => new RegExp(read(), 'gu'));
  return {
    test: (sentence) => first().test(sentence),
    findAll: (sentence) => sentence.match(all()) ?? [],
    remove: (sentence) => sentence.replace(all(), ' '),
  };
}
