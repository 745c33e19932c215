import { lazily } from '../lazy.ts';

/** The classes that the word scanner sorts characters into: separators, letters by case, digits, and characters that join technical names. */
export const CHARACTER = { separator: 0, lower: 1, upper: 2, digit: 4, joiner: 8, apostrophe: 16 } as const;

const CLASSES = buildClasses();
const LETTER = lazily(() => /[\p{L}\p{M}]/u);
const UPPER = lazily(() => /\p{Lu}/u);
const DIGIT = lazily(() => /\p{N}/u);

/** The class of a UTF-16 unit. Half of a surrogate pair counts as a letter only with its other half: see `classAt`. */
export function classOf(code: number): number {
  const known = CLASSES[code] ?? 0;
  if (known !== UNKNOWN) return known;
  const found = classify(String.fromCharCode(code));
  CLASSES[code] = found;
  return found;
}

/** The class of the character at `index`, which may be either half of a surrogate pair. */
export function classAt(text: string, index: number): number {
  const code = text.charCodeAt(index);
  if (code < 0xd800 || code > 0xdfff) return classOf(code);
  const first = code < 0xdc00 ? index : index - 1;
  const point = text.codePointAt(first) ?? 0;
  return point > 0xffff ? classify(String.fromCodePoint(point)) : CHARACTER.separator;
}

/** The last index up to `index` where text can be cut without splitting a surrogate pair. */
export function safeCut(text: string, index: number): number {
  const before = text.charCodeAt(index - 1);
  const after = text.charCodeAt(index);
  const parts = before >= 0xd800 && before < 0xdc00 && after >= 0xdc00 && after < 0xe000;
  return parts ? index - 1 : index;
}

/** White space, line ends and control characters, which units are trimmed of. */
export function isBlankCode(code: number): boolean {
  return code <= 32 || code === 0x7f || code === 0xa0 || code === 0x3000 || code === 0xfeff || isLineEndCode(code);
}

/** Every character that some reader of the summary may treat as a line end. */
export function isLineEndCode(code: number): boolean {
  if (code > 13 && code < 0x85) return false;
  return (code >= 10 && code <= 13) || code === 0x85 || code === 0x2028 || code === 0x2029;
}

const UNKNOWN = 255;

function classify(character: string): number {
  if (UPPER().test(character)) return CHARACTER.upper;
  if (LETTER().test(character)) return CHARACTER.lower;
  return DIGIT().test(character) ? CHARACTER.digit : CHARACTER.separator;
}

function buildClasses(): Uint8Array {
  const classes = new Uint8Array(65_536).fill(255, 128);
  for (const character of 'abcdefghijklmnopqrstuvwxyz') {
    classes[character.charCodeAt(0)] = CHARACTER.lower;
    classes[character.toUpperCase().charCodeAt(0)] = CHARACTER.upper;
  }
  for (const character of '0123456789') classes[character.charCodeAt(0)] = CHARACTER.digit;
  for (const character of '_./@~+-') classes[character.charCodeAt(0)] = CHARACTER.joiner;
  for (const character of "'’") classes[character.charCodeAt(0)] = CHARACTER.apostrophe;
  return classes;
}
