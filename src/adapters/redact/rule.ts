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
type Form = {
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

/** Keywords from a text, as in a `Form`. */
export function keywordsOf(text: string): readonly string[] {
  return text.split(' ').map((keyword) => keyword.replaceAll('+', ' '));
}

export function formRule({ kind, keywords, pattern, accepts }: Form): SecretRule {
  return {
    keywords: keywordsOf(keywords),
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

type Entries = {
  readonly kind: string;
  /** Global. Its group `value` ends it. */
  readonly pattern: RegExp;
  readonly accepts: (value: string, name: string) => boolean;
};

/** The values of pairs in a part of a text that begins at `offset`. */
export function* entriesIn(part: string, offset: number, { kind, pattern, accepts }: Entries): Iterable<SecretSpan> {
  for (const match of part.matchAll(pattern)) {
    const { name = '', value = '' } = match.groups ?? {};
    if (accepts(value, name)) yield spanOf(offset + match.index + match[0].length - value.length, value, kind);
  }
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

/** The rules that may find something in a text, in their order. `folded` is the text in lower case. */
export type RuleIndex = { readonly rulesFor: (folded: string) => readonly SecretRule[] };

const ASCII = 128;

/**
 * Looks for the keywords of all rules in one pass over a text (Aho and Corasick): there are hundreds of rules, and most texts concern none
 * of them.
 */
export function indexRules(rules: readonly SecretRule[]): RuleIndex {
  const letters = new Map<string, number>();
  for (const { keywords } of rules) {
    for (const letter of keywords.join(''))
      for (const unit of letter.split('')) letters.set(unit, letters.get(unit) ?? letters.size + 1);
  }
  // Class 0 is every character that is in no keyword.
  const width = letters.size + 1;
  const classOfAscii = Uint16Array.from({ length: ASCII }, (_, code) => letters.get(String.fromCharCode(code)) ?? 0);
  const classOf = (text: string, at: number): number => {
    const code = text.charCodeAt(at);
    return code < ASCII ? (classOfAscii[code] ?? 0) : (letters.get(text.charAt(at)) ?? 0);
  };
  const size = 1 + rules.reduce((sum, { keywords }) => sum + keywords.join('').length, 0);
  const next = new Int32Array(size * width);
  const found: number[][] = [[]];
  for (const [number, { keywords }] of rules.entries()) {
    for (const keyword of keywords) {
      let state = 0;
      for (let at = 0; at < keyword.length; at += 1) {
        const cell = state * width + classOf(keyword, at);
        if (next[cell] === 0) next[cell] = found.push([]) - 1;
        state = next[cell] ?? 0;
      }
      found[state]?.push(number);
    }
  }
  addFallbacks(next, found, width);
  const always = rules.flatMap(({ keywords }, number) => (keywords.length === 0 ? [number] : []));
  return {
    rulesFor: (folded) => {
      const numbers = new Set(always);
      const seen = new Uint8Array(found.length);
      let state = 0;
      for (let at = 0; at < folded.length; at += 1) {
        state = next[state * width + classOf(folded, at)] ?? 0;
        if (seen[state] === 1) continue;
        seen[state] = 1;
        for (const number of found[state] ?? []) numbers.add(number);
      }
      return [...numbers].sort((a, b) => a - b).flatMap((number) => rules[number] ?? []);
    },
  };
}

/** Where a text goes on that leaves a keyword: in the longest other one that its last characters begin. */
function addFallbacks(next: Int32Array, found: number[][], width: number): void {
  const fallback = new Int32Array(found.length);
  const queue = Array.from(next.subarray(0, width)).filter((state) => state !== 0);
  for (let head = 0; head < queue.length; head += 1) {
    const state = queue[head] ?? 0;
    const other = fallback[state] ?? 0;
    found[state]?.push(...(found[other] ?? []));
    for (let letter = 0; letter < width; letter += 1) {
      const after = next[state * width + letter] ?? 0;
      const otherwise = next[other * width + letter] ?? 0;
      if (after === 0) next[state * width + letter] = otherwise;
      else {
        fallback[after] = otherwise;
        queue.push(after);
      }
    }
  }
}
