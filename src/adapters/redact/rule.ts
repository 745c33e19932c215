/** The place of a secret: `text.slice(start, end)`. */
export type SecretSpan = { readonly start: number; readonly end: number; readonly kind: string };

/** Finds secrets in time linear in the text. */
export type SecretRule = {
  /** In lower case. Text without any of them is skipped; empty: no text is skipped. */
  readonly keywords: readonly string[];
  /** `folded` is the text in lower case, with the same offsets. */
  readonly find: (text: string, folded: string) => Iterable<SecretSpan>;
};

type PatternOptions = {
  readonly kind: string;
  readonly keywords: readonly string[];
  /** Global. It starts with something rare and matches in only one way, which limits backtracking. */
  readonly pattern: RegExp;
  /** The group that holds the secret; by default the whole match. */
  readonly group?: string;
  /** Whether the match is a secret and not a placeholder. */
  readonly accepts?: (secret: string) => boolean;
};

/** A rule with one regular expression. A match in the middle of a longer word is ignored. */
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
// Separators that end in a letter or digit: `\n` and `\u000a` in a JSON string, `%20` in a URL, the color codes of a
// terminal.
const ENCODED_SEPARATOR = /(?:\\[bfnrtv]|\\u[0-9A-Fa-f]{4}|\\x[0-9A-Fa-f]{2}|%[0-9A-Fa-f]{2}|\[[0-9;]{0,12}m)$/;
const LONGEST_ENCODED = 14;

/** Whether a word may start at `index`: the text before it is no letter or digit, or only looks like one. */
export function isAtEdge(text: string, index: number): boolean {
  if (index === 0 || !WORD.test(text.charAt(index - 1))) return true;
  return ENCODED_SEPARATOR.test(text.slice(Math.max(0, index - LONGEST_ENCODED), index));
}

const NAME_LIKE = /^[\w.-]*(?:password|secret|token|key|user|pass)[\w.-]*$/i;
const LOCATION = /^(?:[\w+.-]+:\/\/|\.{0,2}\/|~\/)|\.(?:json|ya?ml|toml|txt|pem|key|env|[jt]sx?|py|go|rs|sh|md)$/i;

/**
 * Whether text in the place of a password looks like one: letters with digits or signs, and not a word, number, path,
 * variable or placeholder.
 */
export function looksChosen(text: string): boolean {
  if (text.length < 6 || isPlaceholder(text)) return false;
  if (!/[A-Za-z]/.test(text) || !/[^A-Za-z]/.test(text)) return false;
  if (NAME_LIKE.test(text) || LOCATION.test(text)) return false;
  return /\d/.test(text) || /[!#%*+=~^?@]/.test(text);
}

/** Whether text is a generated key: too irregular for a word, a name or a path of words. */
export function looksGenerated(text: string, minChars = 16): boolean {
  if (text.length < minChars || isPlaceholder(text) || LOCATION.test(text)) return false;
  if (!/\d/.test(text) || !/[A-Za-z]/.test(text)) return false;
  // Words with numbers between separators (`node-modules-linux-x64-v3`, dates) consist of short or purely alphabetic
  // pieces.
  const pieces = text.split(/[^A-Za-z0-9]+/);
  return pieces.some((piece) => piece.length >= 8 && changesOf(piece) >= 3);
}

/** How often the kind of character changes: lower case, upper case, digit. */
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
// Random text of this length has more different characters than `MIN_DIFFERENT`.
const MIN_RANDOM_CHARS = 16;
const MIN_DIFFERENT = 6;

/** Whether text is a placeholder for a secret: `<your key>`, `${TOKEN}`, `xxxx`, `***`, a mask. */
export function isPlaceholder(text: string): boolean {
  if (REFERENCE.test(text) || ONE_CHARACTER.test(text)) return true;
  if (text.length >= MIN_RANDOM_CHARS && new Set(text).size < MIN_DIFFERENT) return true;
  // In a mix of both cases and digits, such a word may appear by chance.
  const isMixed = text.length >= MIN_RANDOM_CHARS && /\d/.test(text) && /[a-z]/.test(text) && /[A-Z]/.test(text);
  return (isMixed ? DELIMITED_EXAMPLE_WORD : EXAMPLE_WORDS).test(text);
}

/** Whether text looks like a random key: letters and digits, a long run without a separator, and no placeholder. */
export function looksRandom(text: string): boolean {
  return !isPlaceholder(text) && /\d/.test(text) && /[A-Za-z]/.test(text) && /[A-Za-z0-9]{12}/.test(text);
}

/** Shannon's entropy in bits per character. */
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
