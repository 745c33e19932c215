import { isPlaceholder } from './placeholder.ts';

const NAME_LIKE = /^[\w.-]*(?:password|secret|token|key|user|pass)[\w.-]*$/i;
const LOCATION = /^(?:[\w+.-]+:\/\/|\.{0,2}\/|~\/)|\.(?:json|ya?ml|toml|txt|pem|key|env|[jt]sx?|py|go|rs|sh|md)$/i;

/**
 * Whether text that stands where a password belongs looks like one that a person or a program made: letters together with digits or
 * signs; no word, number, path, variable or placeholder.
 */
export function looksChosen(text: string): boolean {
  if (text.length < 6 || isPlaceholder(text)) return false;
  if (!/[A-Za-z]/.test(text) || !/[^A-Za-z]/.test(text)) return false;
  if (NAME_LIKE.test(text) || LOCATION.test(text)) return false;
  return /\d/.test(text) || /[!#%*+=~^?@]/.test(text);
}

/** Whether text is too irregular to be a word, name or path of words: a key that a program made. */
export function looksGenerated(text: string, minChars = 16): boolean {
  if (text.length < minChars || isPlaceholder(text) || LOCATION.test(text)) return false;
  if (!/\d/.test(text) || !/[A-Za-z]/.test(text)) return false;
  // Words with numbers between separators (`node-modules-linux-x64-v3`, dates) are made of short or purely alphabetic pieces.
  const pieces = text.split(/[^A-Za-z0-9]+/);
  return pieces.some((piece) => piece.length >= 8 && changesOf(piece) >= 3);
}

/** How often the kind of character changes: small letter, capital, digit. */
function changesOf(text: string): number {
  const kinds = text
    .replaceAll(/[a-z]+/g, 'a')
    .replaceAll(/[A-Z]+/g, 'b')
    .replaceAll(/\d+/g, 'c');
  return kinds.length - 1;
}
