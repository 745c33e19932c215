import { isAtEdge } from './edge.ts';

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
