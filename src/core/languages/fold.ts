import { lazily } from '../lazy.ts';
import { SIMPLIFIED } from './simplified.ts';

const NOT_ASCII = /[^\0-\x7f]/;
/** Fullwidth letters and digits, halfwidth kana. */
const WIDTHS = /[\uff01-\uffdc]+/g;
const ARABIC = /[\u0610-\u06ff]/;
const ARABIC_MARKS = /[\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06ed]/g;
const HEBREW_MARKS = /[\u0591-\u05bd\u05bf-\u05c7]/g;
const DIGITS = /[\u0660-\u0669\u06f0-\u06f9\u0966-\u096f\u09e6-\u09ef]/g;
const IDEOGRAPHS = /[\u4e00-\u9fff\ufa11]+/g;
/** Letters that people and keyboards exchange. */
const ARABIC_LETTERS: ReadonlyMap<string, string> = new Map(
  ['أا', 'إا', 'آا', 'ٱا', 'ىي', 'یي', 'ةه', 'ؤو', 'ئي', 'کك'].map(([from = '', to = '']) => [from, to] as const),
);
const ARABIC_VARIANTS = /[أإآٱىیةؤئک]/g;

const simplified = lazily(() => {
  const signs = Array.from(SIMPLIFIED.replaceAll('\n', ''));
  return new Map(signs.flatMap((sign, at) => (at % 2 === 0 ? [[sign, signs[at + 1] ?? sign] as const] : [])));
});

/** Writes what a language spells in several ways in one: widths, digits, Arabic letters and vowel signs, traditional Chinese. */
export function foldLetters(text: string): string {
  if (!NOT_ASCII.test(text)) return text;
  const read = text
    .replace(WIDTHS, (run) => run.normalize('NFKC'))
    .replace(DIGITS, (digit) => String((digit.charCodeAt(0) - (digit < '\u0900' ? 0 : 6)) & 0xf))
    .replace(HEBREW_MARKS, '')
    .replace(IDEOGRAPHS, simplify);
  if (!ARABIC.test(read)) return read;
  return read.replace(ARABIC_MARKS, '').replace(ARABIC_VARIANTS, (letter) => ARABIC_LETTERS.get(letter) ?? letter);
}

/** Replaces traditional characters; the length stays. */
export function simplify(text: string): string {
  let simple = '';
  for (const sign of text) simple += simplified().get(sign) ?? sign;
  return simple;
}

/** Letters without a decomposition, as people type them who do not have them. */
const LATIN: ReadonlyMap<string, string> = new Map(
  Object.entries({ ı: 'i', ß: 'ss', đ: 'd', ð: 'd', ø: 'o', ł: 'l', æ: 'ae', œ: 'oe', þ: 'th' }),
);
const LATIN_VARIANTS = /[ıßđðøłæœþ]/g;
const ACCENTS = /[\u0300-\u036f]+/g;

/** A word in lower case without accents, and with plain letters. */
export function foldAccents(word: string): string {
  if (!NOT_ASCII.test(word)) return word;
  return word
    .normalize('NFD')
    .replace(ACCENTS, '')
    .normalize('NFC')
    .replace(LATIN_VARIANTS, (letter) => LATIN.get(letter) ?? letter);
}
