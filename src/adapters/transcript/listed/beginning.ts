import type { Json } from '../../../ports/json.ts';

const CLOSING: ReadonlyMap<string, string> = new Map([
  ['{', '}'],
  ['[', ']'],
]);

/**
 * The value of a JSON text of which only the beginning is there: what was cut off in the middle is left out, and the open brackets are closed.
 * null: not even that is JSON.
 */
export function parseBeginning(text: string): Json {
  const open: string[] = [];
  let cut = { end: 0, closing: '' };
  const mark = (end: number): void => {
    cut = { end, closing: open.toReversed().join('') };
  };
  for (let at = 0; at < text.length; at += 1) {
    const char = text.charAt(at);
    if (char === '"') {
      at = endOfString(text, at);
      if (at < 0) break;
    } else if (char === ',') {
      mark(at);
    } else if (CLOSING.has(char)) {
      open.push(CLOSING.get(char) ?? '');
      mark(at + 1);
    } else if (char === '}' || char === ']') {
      open.pop();
      mark(at + 1);
      if (open.length === 0) break;
    }
  }
  try {
    const value: Json = JSON.parse(text.slice(0, cut.end) + cut.closing);
    return value;
  } catch {
    // Why it is none does not matter here.
    return null;
  }
}

/** The place of the quote that ends the string; -1: it is cut off. */
function endOfString(text: string, quoteAt: number): number {
  for (let at = quoteAt + 1; at < text.length; at += 1) {
    const char = text.charAt(at);
    if (char === '\\') at += 1;
    else if (char === '"') return at;
  }
  return -1;
}
