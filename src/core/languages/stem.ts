import { lazilyFor } from '../lazy.ts';
import { hasSpaces } from './detect.ts';
import { foldAccents, foldLetters } from './fold.ts';
import type { Language } from './language.ts';

/** Stands before a stem in the full text, so that it is found by stems of its language only. A private-use character, which is a letter there. */
export const STEM_MARK = '\ue000';

const MAX_WORD_CHARS = 40;
const MIN_WORD_CHARS = 3;
/** Letters of scripts with spaces; other words are names of code, numbers, or pieces of a text without spaces. */
const STEMMABLE = /^[a-z\u00df-\u0dff\u1e00-\u1fff\ue100-\ue5ff]+$/;
const LATIN = /^[a-z\u00df-\u036f\u1e00-\u1eff]/;
const UMLAUT = /[aou]e(?=[^aeiou])/g;

/** What the marks of Indian scripts become in the full text, which otherwise splits words at them: private-use characters. */
const INDIAN_MARKS = /(?=[\u0900-\u0dff])\p{M}/gu;
export const INDIAN = /[\u0900-\u0dff]/;
const FIRST_MARK = 0xe100 - 0x0900;

export function joinMarks(text: string): string {
  if (!INDIAN.test(text)) return text;
  return text.replace(INDIAN_MARKS, (mark) => String.fromCharCode(mark.charCodeAt(0) + FIRST_MARK));
}

const affixesOf = lazilyFor((language: Language) => {
  const read = (list = ''): readonly string[] =>
    [...new Set(joinMarks(foldAccents(foldLetters(list))).split(' '))]
      .filter((one) => one !== '')
      .toSorted((a, b) => b.length - a.length);
  return { endings: read(language.endings), prefixes: read(language.prefixes) };
});

/** A word in lower case without the endings, prefixes and accents of its language. */
export function stemOf(word: string, language: Language): string {
  const { endings, prefixes } = affixesOf(language);
  const { minStem = 1 } = language;
  const plain = foldAccents(word);
  let stem = language.code === 'de' ? plain.replace(UMLAUT, (letters) => letters.charAt(0)) : plain;
  // Again and again, so that a word with two endings and one with the first of them have the same stem.
  for (;;) {
    const most = stem.length - minStem;
    const prefix = prefixes.find((one) => one.length <= most && stem.startsWith(one)) ?? '';
    const ending = endings.find((one) => one.length <= most - prefix.length && stem.endsWith(one)) ?? '';
    if (prefix === '' && ending === '') return stem;
    stem = stem.slice(prefix.length, stem.length - ending.length);
  }
}

/** The distinct stems of a word, marked; none for what is no word of a language with spaces. */
export function markedStems(word: string, languages: readonly Language[]): readonly string[] {
  if (word.length < MIN_WORD_CHARS || word.length > MAX_WORD_CHARS) return [];
  const lower = word.toLowerCase();
  if (!STEMMABLE.test(lower)) return [];
  const isLatin = LATIN.test(lower);
  const spoken = languages.filter((language) => hasSpaces(language) && (language.script === 'latin') === isLatin);
  return [...new Set(spoken.map((language) => STEM_MARK + stemOf(lower, language)))];
}
