/** The place of a secret: `text.slice(start, end)`. */
export type SecretSpan = { readonly start: number; readonly end: number; readonly kind: string };

/** Finds secrets in time linear in the text. */
export type SecretRule = {
  /** In lower case. Text without any of them is skipped; empty: no text is skipped. */
  readonly keywords: readonly string[];
  /** `folded` is the text in lower case, with the same offsets. `before`: what was said before it, such as the call whose result it is. */
  readonly find: (text: string, folded: string, before?: string) => Iterable<SecretSpan>;
};

/** A rule with one regular expression. */
export type Form = {
  readonly kind: string;
  /** In lower case, separated by spaces; `+` stands for a space within a keyword. */
  readonly keywords: string;
  /**
   * Global. It starts with something rare and matches in only one way, which limits backtracking. Its group `secret` holds the secret. Without
   * that group the whole match is a key, and is ignored in the middle of a longer word.
   */
  readonly pattern: RegExp;
  /** Whether the match is a secret and not a placeholder. */
  readonly accepts: (secret: string) => boolean;
};

/** What ends a sentence or closes a bracket, and follows a secret but is none of it. */
const SENTENCE_END = /[.,;:!?)\]}]+$/;

const MIN_CHARS = 4; // less is what a cut left

export function formRule({ kind, keywords, pattern, accepts }: Form): SecretRule {
  return {
    keywords: keywords.split(' ').map((keyword) => keyword.replaceAll('+', ' ')),
    *find(text) {
      for (const match of text.matchAll(pattern)) {
        const found = match.groups?.['secret'];
        if (found === undefined) {
          if (isAtEdge(text, match.index) && accepts(match[0])) yield spanOf(match.index, match[0], kind);
          continue;
        }
        const secret = found.replace(SENTENCE_END, '');
        if (secret.length >= MIN_CHARS && accepts(secret))
          yield spanOf(match.index + match[0].lastIndexOf(found), secret, kind);
      }
    },
  };
}

function spanOf(start: number, secret: string, kind: string): SecretSpan {
  return { start, end: start + secret.length, kind };
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
