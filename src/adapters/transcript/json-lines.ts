import { isAscii, isUtf8 } from 'node:buffer';
import type { Json, LineParse } from '../../ports/codec.ts';

const REPLACEMENT = '\uFFFD';

/**
 * The value of a line without its ending. On failure, the column of the first wrong character, counted in characters.
 * Lone surrogates in escapes, repeated keys (the last one counts), numbers beyond the range of a double and a key
 * `__proto__` are all valid.
 */
export function parseJsonLine(bytes: Uint8Array): LineParse {
  const buffer = bytes instanceof Buffer ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const isPlain = isAscii(buffer);
  const text = buffer.toString(isPlain ? 'latin1' : 'utf8');
  // Bytes that are not UTF-8 become replacement characters: without any, the text is sound.
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

/** Index of the first replacement character that is not in the line itself. */
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

/** From 1. A character outside the basic plane is two UTF-16 units and one column. */
function columnAt(text: string, at: number): number {
  let column = 1;
  for (let index = 0; index < at; index += 1) {
    const isSecondHalf =
      (text.charCodeAt(index) & 0xfc00) === 0xdc00 && (text.charCodeAt(index - 1) & 0xfc00) === 0xd800;
    if (!isSecondHalf) column += 1;
  }
  return column;
}

/** Where a text stops being JSON (an index into it) and what is wrong there. */
type JsonFault = { readonly at: number; readonly problem: string };

const END = 'unexpected end of line';
const SPACE = /[ \t\r\n]*/y;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const LITERAL = /true|false|null/y;
/** No quotes, backslashes or control characters. */
const PLAIN = /[ !#-[\]-\uffff]*/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
const CUT_ESCAPE = /\\(?:u[0-9a-fA-F]{0,3})?$/y;
const CUT_SCALAR = /(?:-|t(?:ru?)?|f(?:a(?:ls?)?)?|n(?:ul?)?|\.|[eE][+-]?)$/y;
const FOREIGN_WORD = /-?(?:NaN|Infinity)|None|True|False|undefined/y;

/**
 * The first fault of a text that JSON.parse refuses (its own messages often give no position). It works in one pass
 * and without recursion, since a line may be nested to any depth.
 */
export function findJsonFault(text: string): JsonFault {
  const open: ('{' | '[')[] = [];
  let at = skip(SPACE, text, 0);
  for (;;) {
    // A value is expected here, or a key of the current object.
    const begun = beginValue(text, at, open);
    if ('problem' in begun) return begun;
    at = skip(SPACE, text, begun.end);
    if (begun.isOpen) continue;
    const next = afterValue(text, at, open);
    if ('problem' in next) return next;
    at = next.end;
  }
}

type Step = { readonly end: number; readonly isOpen: boolean };

/** Reads a complete scalar, an empty list or object, or the opening of one (with its first key). */
function beginValue(text: string, at: number, open: ('{' | '[')[]): Step | JsonFault {
  const char = text[at];
  if (char === '"') return readString(text, at);
  if (char === '[') {
    const inside = skip(SPACE, text, at + 1);
    if (text[inside] === ']') return { end: inside + 1, isOpen: false };
    open.push('[');
    return { end: inside, isOpen: true };
  }
  if (char === '{') {
    const inside = skip(SPACE, text, at + 1);
    if (text[inside] === '}') return { end: inside + 1, isOpen: false };
    open.push('{');
    return readKey(text, inside);
  }
  const end = Math.max(skip(NUMBER, text, at), skip(LITERAL, text, at));
  return end > at ? { end, isOpen: false } : faultAt(text, at, 'a value is expected');
}

/** Closes what ends here, up to a comma that another value must follow. */
function afterValue(text: string, from: number, open: ('{' | '[')[]): Step | JsonFault {
  let at = from;
  for (let inside = open.at(-1); inside !== undefined; inside = open.at(-1)) {
    const close = inside === '{' ? '}' : ']';
    if (text[at] === ',') {
      const next = skip(SPACE, text, at + 1);
      if (text[next] === close) return { at: next, problem: `a comma before the ${close}` };
      return inside === '{' ? readKey(text, next) : { end: next, isOpen: true };
    }
    if (text[at] !== close) return faultAt(text, at, `a comma or ${close} is expected`);
    open.pop();
    at = skip(SPACE, text, at + 1);
  }
  const isGlued = text[at] === '{' || text[at] === '[';
  return faultAt(text, at, isGlued ? 'two records on one line' : 'something follows the record');
}

function readKey(text: string, at: number): Step | JsonFault {
  if (text[at] !== '"') return faultAt(text, at, 'a key in double quotes is expected');
  const key = readString(text, at);
  if ('problem' in key) return key;
  const colon = skip(SPACE, text, key.end);
  if (text[colon] !== ':') return faultAt(text, colon, 'a colon is expected after the key');
  return { end: skip(SPACE, text, colon + 1), isOpen: true };
}

function readString(text: string, start: number): Step | JsonFault {
  let at = start + 1;
  for (;;) {
    at = skip(PLAIN, text, at);
    const char = text[at];
    if (char === '"') return { end: at + 1, isOpen: false };
    if (char === undefined) return { at, problem: END };
    if (char !== '\\') return faultAt(text, at, 'a control character in a string');
    const end = skip(ESCAPE, text, at);
    if (end === at) {
      return skip(CUT_ESCAPE, text, at) > at
        ? { at: text.length, problem: END }
        : { at, problem: 'a bad escape in a string' };
    }
    at = end;
  }
}

/** Describes what is found instead of what was expected, if it is one of the usual accidents. */
function faultAt(text: string, at: number, expected: string): JsonFault {
  const char = text[at];
  if (char === undefined || skip(CUT_SCALAR, text, at) > at) return { at: text.length, problem: END };
  if (char === '\0') return { at, problem: 'NUL bytes: was the file cut off by a power loss?' };
  if (char === '\uFEFF') return { at, problem: 'a byte order mark within the file' };
  if (char === "'") return { at, problem: 'JSON has double quotes only' };
  const word = skip(FOREIGN_WORD, text, at);
  return { at, problem: word > at ? `${text.slice(at, word)} is not a JSON value` : expected };
}

/** Where a sticky expression stops matching; `at` itself if it does not match. */
function skip(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
}
