import type { Json } from '../../../ports/json.ts';

const CLOSING: ReadonlyMap<string, string> = new Map([
  ['{', '}'],
  ['[', ']'],
]);

/** A place at which a text may end, and the brackets that are open there. */
type Cut = { readonly end: number; readonly closing: string };

/**
 * The value of a JSON text of which only the beginning is there: what was cut off in the middle is left out, and the open brackets are closed.
 * Where something in it is no JSON, a part before that is read. null: not even that is JSON.
 */
export function parseBeginning(text: string): Json {
  for (let cuts = findCuts(text); cuts.length > 0; cuts = cuts.slice(0, Math.floor(cuts.length / 2))) {
    const { end = 0, closing = '' } = cuts.at(-1) ?? {};
    try {
      const value: Json = JSON.parse(text.slice(0, end) + closing);
      return value;
    } catch {
      // A fault stands before this place.
    }
  }
  return null;
}

function findCuts(text: string): readonly Cut[] {
  const open: string[] = [];
  const cuts: Cut[] = [];
  const mark = (end: number): void => {
    cuts.push({ end, closing: open.toReversed().join('') });
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
  return cuts;
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
