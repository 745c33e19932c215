import type { Detection, Json } from '../../../ports/codec.ts';
import { isList, isRecord, type JsonRecord } from '../json.ts';

/** Whether a document is a list of conversations of one kind, each with what is `wanted`. It may be cut off after some of them. */
export function detectConversations(
  beginning: Json,
  wanted: string,
  isConversation: (value: JsonRecord) => boolean,
): Detection {
  if (isRecord(beginning) && isConversation(beginning)) {
    return {
      confidence: 0,
      reason: `it is one conversation, and an export is a list of them; make it one: jq -c '[.]' FILE`,
    };
  }
  if (!isList(beginning)) return { confidence: 0, reason: 'it is not a list of conversations' };
  if (beginning.length === 0) return { confidence: 0, reason: 'it is an empty list' };
  const found = beginning.filter((value) => isRecord(value) && isConversation(value)).length;
  if (found === 0) return { confidence: 0, reason: `no element of the list has ${wanted}` };
  return { confidence: 1, reason: `a list of conversations, each with ${wanted}` };
}

const CLOSING: ReadonlyMap<string, string> = new Map([
  ['{', '}'],
  ['[', ']'],
]);

/**
 * The value of a JSON text of which only the beginning is known: the last, incomplete value is left out and open
 * brackets are closed. If there is a fault in it, only what comes before the fault is read. null: not even that is
 * JSON.
 */
export function parseBeginning(text: string): Json {
  for (let { ends } = walk(text); ends.length > 0; ends = ends.slice(0, Math.floor(ends.length / 2))) {
    const head = text.slice(0, ends.at(-1));
    try {
      const value: Json = JSON.parse(head + walk(head).open.toReversed().join(''));
      return value;
    } catch {
      // The fault is before this place, or the text is nested too deeply.
    }
  }
  return null;
}

/** The places where the text may end, and what closes the brackets that are open at its end. */
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

/** The place of the closing quote; -1: the string is cut off. */
function endOfString(text: string, quoteAt: number): number {
  for (let at = quoteAt + 1; at < text.length; at += 1) {
    const char = text.charAt(at);
    if (char === '\\') at += 1;
    else if (char === '"') return at;
  }
  return -1;
}
