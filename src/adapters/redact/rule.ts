/** Where a secret stands: `text.slice(start, end)`. */
export type SecretSpan = { readonly start: number; readonly end: number; readonly kind: string };

/** Finds secrets. It takes time in proportion to the text, whatever the text. */
export type SecretRule = {
  /** In lower case; text in which none of them stands is not looked at. Empty: every text is. */
  readonly keywords: readonly string[];
  /** `folded` is the text in lower case: the same length, so that places agree. */
  readonly find: (text: string, folded: string) => Iterable<SecretSpan>;
};

type PatternOptions = {
  readonly kind: string;
  readonly keywords: readonly string[];
  /** Global. It begins with something rare, and nothing in it can be matched in two ways, so that it never goes far back. */
  readonly pattern: RegExp;
  /** The group that is the secret; by default the whole match is. */
  readonly group?: string;
  /** Whether what matched is a secret and no placeholder. */
  readonly accepts?: (secret: string) => boolean;
};

/** Secrets that a regular expression finds. One that begins in the middle of a longer word is none. */
export function patternRule({ kind, keywords, pattern, group, accepts = () => true }: PatternOptions): SecretRule {
  return {
    keywords,
    *find(text) {
      for (const match of text.matchAll(pattern)) {
        const secret = group === undefined ? match[0] : (match.groups?.[group] ?? '');
        if (secret === '' || !isAtEdge(text, match.index) || !accepts(secret)) continue;
        const start = match.index + match[0].lastIndexOf(secret);
        yield { start, end: start + secret.length, kind };
      }
    },
  };
}

const WORD = /[A-Za-z0-9_]/;
// What may stand for a separator and ends in a letter or digit: `\n` and `\u000a` in a JSON string, `%20` in a URL, the color codes of a terminal.
const ENCODED_SEPARATOR = /(?:\\[bfnrtv]|\\u[0-9A-Fa-f]{4}|\\x[0-9A-Fa-f]{2}|%[0-9A-Fa-f]{2}|\[[0-9;]{0,12}m)$/;
const LONGEST_ENCODED = 14;

/** Whether a word may begin at `index`: none is going on there, or what stands before only looks like letters. */
export function isAtEdge(text: string, index: number): boolean {
  if (index === 0 || !WORD.test(text.charAt(index - 1))) return true;
  return ENCODED_SEPARATOR.test(text.slice(Math.max(0, index - LONGEST_ENCODED), index));
}

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

const EXAMPLE_WORDS =
  /your|example|placeholder|replace|insert|change.?me|dummy|sample|redacted|secret.?here|goes.?here|_here$|todo|xxxx|0000000|1234567890|abcdefgh/i;
const DELIMITED_EXAMPLE_WORD =
  /(?:^|[^A-Za-z])(?:your|example|placeholder|dummy|sample|redacted|x{4,})(?:[^A-Za-z]|$)/i;
const REFERENCE = /^(?:\$|%\w+%|\{|<|\(|\[|#\{|@\{|\*|\.{2,}|…|-{2,}|_{2,})/;
const ONE_CHARACTER = /^(.)\1*$/su;
// Random text of this length has at least so many different characters.
const MIN_RANDOM_CHARS = 16;
const MIN_DIFFERENT = 6;

/** Text that stands where a secret would, and is none: `<your key>`, `${TOKEN}`, `xxxx`, `***`, a mask. */
export function isPlaceholder(text: string): boolean {
  if (REFERENCE.test(text) || ONE_CHARACTER.test(text)) return true;
  if (text.length >= MIN_RANDOM_CHARS && new Set(text).size < MIN_DIFFERENT) return true;
  // Where letters of both cases and digits are mixed, such a word may stand by chance.
  const isMixed = text.length >= MIN_RANDOM_CHARS && /\d/.test(text) && /[a-z]/.test(text) && /[A-Z]/.test(text);
  return (isMixed ? DELIMITED_EXAMPLE_WORD : EXAMPLE_WORDS).test(text);
}

/** Looks drawn by lot, as keys are: letters and digits, a long stretch without a joint, and no placeholder. */
export function looksRandom(text: string): boolean {
  return !isPlaceholder(text) && /\d/.test(text) && /[A-Za-z]/.test(text) && /[A-Za-z0-9]{12}/.test(text);
}

/** Shannon's entropy in bits a character. */
export function entropyOf(text: string): number {
  const counts = new Map<string, number>();
  let total = 0;
  for (const character of text) {
    counts.set(character, (counts.get(character) ?? 0) + 1);
    total += 1;
  }
  let bits = 0;
  for (const count of counts.values()) bits -= (count / total) * Math.log2(count / total);
  return bits;
}
