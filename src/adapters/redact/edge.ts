const WORD = /[A-Za-z0-9_]/;
// What may stand for a separator and ends in a letter or digit: `\n` and `\u000a` in a JSON string, `%20` in a URL, the color codes of a terminal.
const ENCODED_SEPARATOR = /(?:\\[bfnrtv]|\\u[0-9A-Fa-f]{4}|\\x[0-9A-Fa-f]{2}|%[0-9A-Fa-f]{2}|\[[0-9;]{0,12}m)$/;
const LONGEST_ENCODED = 14;

/** Whether a word may begin at `index`: none is going on there, or what stands before only looks like letters. */
export function isAtEdge(text: string, index: number): boolean {
  if (index === 0 || !WORD.test(text.charAt(index - 1))) return true;
  return ENCODED_SEPARATOR.test(text.slice(Math.max(0, index - LONGEST_ENCODED), index));
}
