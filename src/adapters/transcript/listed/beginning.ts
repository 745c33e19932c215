import type { Json } from '../../../ports/json.ts';

const CLOSING: ReadonlyMap<string, string> = new Map([
  ['{', '}'],
  ['[', ']'],
]);

/**
 * The value of a JSON text of which only the beginning is there: what was cut off in the middle is left out, and the open brackets are closed.
 * Where something in it is no JSON, a part before that is read. null: not even that is JSON.
 */
export function parseBeginning(text: string): Json {
  for (let { ends } = walk(text); ends.length > 0; ends = ends.slice(0, Math.floor(ends.length / 2))) {
    const head = text.slice(0, ends.at(-1));
    try {
      const value: Json = JSON.parse(head + walk(head).open.toReversed().join(''));
      return value;
    } catch {
      // A fault stands before this place, or it is nested too deeply.
    }
  }
  return null;
}

/** The places at which a text may end, and what closes the brackets that are open at its end. */
function walk(text: string): { readonly ends: readonly number[]; readonly open: readonly string[] } {
  const open: string[] = [];
  const ends: number[] = [];
  for (let at = 0; at < text.length; at += 1) {
    const char = text.charAt(at);
    if (char === '"') {
      at = endOfString(text, at);
      if (at < 0) break;
    } else if (char === ',') {
      ends.push(at);
    } else if (CLOSING.has(char)) {
      open.push(CLOSING.get(char) ?? '');
      ends.push(at + 1);
    } else if (char === '}' || char === ']') {
      open.pop();
      ends.push(at + 1);
      if (open.length === 0) break;
    }
  }
  return { ends, open };
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
