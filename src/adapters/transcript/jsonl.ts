import { isAscii, isUtf8 } from 'node:buffer';
import type { Json } from '../../ports/codec.ts';
import type { LineParse } from '../../ports/formats.ts';
import { findJsonFault } from './json-fault.ts';

const REPLACEMENT = '\uFFFD';

/**
 * The value of a line (without its ending). The column is that of the first character that is wrong, counted in characters. Lone
 * surrogates in escapes, repeated keys (the last counts), numbers beyond a double's range and a key `__proto__` are all in order.
 */
export function parseJsonLine(bytes: Uint8Array): LineParse {
  const buffer = bytes instanceof Buffer ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const isPlain = isAscii(buffer);
  const text = buffer.toString(isPlain ? 'latin1' : 'utf8');
  // Bytes that are no UTF-8 become replacement characters; where there is none the text is sound.
  if (!isPlain && text.includes(REPLACEMENT) && !isUtf8(buffer)) {
    return { ok: false, column: columnAt(text, invalidAt(text, buffer)), problem: 'not UTF-8' };
  }
  try {
    const value: Json = JSON.parse(text);
    return { ok: true, value };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    const { at, problem } = findJsonFault(text);
    return { ok: false, column: columnAt(text, at), problem: `not valid JSON (${problem})` };
  }
}

/** Index of the first replacement character that the line itself does not hold. */
function invalidAt(text: string, buffer: Buffer): number {
  let at = text.indexOf(REPLACEMENT);
  let offset = Buffer.byteLength(text.slice(0, at));
  while (at >= 0) {
    if (buffer[offset] !== 0xef || buffer[offset + 1] !== 0xbf || buffer[offset + 2] !== 0xbd) return at;
    const next = text.indexOf(REPLACEMENT, at + 1);
    if (next < 0) return at;
    offset += Buffer.byteLength(text.slice(at, next));
    at = next;
  }
  return 0;
}

/** From 1; a character outside the basic plane is two UTF-16 units and one column. */
function columnAt(text: string, at: number): number {
  let column = 1;
  for (let index = 0; index < at; index += 1) {
    const isSecondHalf =
      (text.charCodeAt(index) & 0xfc00) === 0xdc00 && (text.charCodeAt(index - 1) & 0xfc00) === 0xd800;
    if (!isSecondHalf) column += 1;
  }
  return column;
}
