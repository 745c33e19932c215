import type { SecretRule } from './rule.ts';

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
