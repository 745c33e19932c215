import type { Json, LineParse, RawRecord, Records, RecordSplitter } from '../../../ports/codec.ts';
import { parseJsonLine } from '../json-lines.ts';
import { parseText } from '../json.ts';
import {
  BACKSLASH,
  CLOSE_LIST,
  CLOSE_OBJECT,
  COLON,
  COMMA,
  createUnitSplitter,
  eolLengthOf,
  isSpace,
  OPEN_LIST,
  OPEN_OBJECT,
  placeBehind,
  QUOTE,
  SPACE,
  type Unit,
  type UnitKind,
} from './units.ts';

/** How a file holds its conversations, and where each has its list of messages. */
export type ListedShape = ListShape & { readonly unit: UnitKind };

/**
 * For conversations that are values with a list of messages in them. Everything up to the first element is one record,
 * each element is one (with the comma and white space after it), and everything after the last element is one: bytes
 * that stay are never rewritten. A value with an empty list, or without one, is one record. What is not JSON becomes a
 * record that cannot be parsed or that has a fault.
 */
export function createListRecords(shape: ListedShape): Records {
  return {
    ...(shape.unit === 'file' && { isOne: true }),
    open: (start) => createRecordSplitter(start, shape),
    trim: trimElement,
    parse: (bytes) => parseElement(bytes, shape.kind),
  };
}

/** For JSON Lines in which an object may also be pretty-printed over several lines, as consoles and log files have them. */
export const printedRecords: Records = {
  spansLines: true,
  open: (start) => {
    const units = createUnitSplitter('printed', start);
    let line = 0;
    const toRecord = ({ bytes, start: at, fileLine, column }: Unit): RawRecord => {
      line += 1;
      return { line, start: at, bytes, eolLength: eolLengthOf(bytes), findPlace: () => ({ line: fileLine, column }) };
    };
    return {
      add: (piece) => Iterator.from(units.add(piece)).map(toRecord),
      end: () => Iterator.from(units.end()).map(toRecord),
    };
  },
  trim: (bytes) => bytes.subarray(0, bytes.length - eolLengthOf(bytes)),
  parse: parseJsonLine,
};

function createRecordSplitter(from: number, shape: ListedShape): RecordSplitter {
  const units = createUnitSplitter(shape.unit, from);
  let line = 0;
  let list = 0;
  let isInList = false;
  function* recordsOf(unit: Unit): Generator<RawRecord> {
    if (unit.isFirst) isInList = shape.unit === 'element' && unit.bytes[skipSpace(unit.bytes, 0)] === OPEN_LIST;
    const { parts, fault } = takeApart(unit, { shape, isInList });
    for (const [at, { start, end, around }] of parts.entries()) {
      if ((around !== undefined && at === 0) || (around ?? null) !== null) list += 1;
      const bytes = unit.bytes.subarray(start, end);
      line += 1;
      yield {
        line,
        start: unit.start + start,
        bytes,
        eolLength: around === undefined && parts.length > 1 ? 0 : eolLengthOf(bytes),
        ...((around !== undefined || parts.length > 1) && { list }),
        ...(around !== undefined && { around }),
        ...(fault !== null && { fault }),
        findPlace: () => {
          const { fileLine, column } = placeBehind(unit, start);
          return { line: fileLine, column };
        },
      };
    }
  }
  function* recordsOfAll(found: Iterable<Unit>): Generator<RawRecord> {
    for (const unit of found) yield* recordsOf(unit);
  }
  return { add: (piece) => recordsOfAll(units.add(piece)), end: () => recordsOfAll(units.end()) };
}

type Part = Range & { readonly around?: Json };

function takeApart(unit: Unit, { shape, isInList }: { readonly shape: ListedShape; readonly isInList: boolean }) {
  const { bytes } = unit;
  const inOrder = (...parts: readonly Part[]) => ({ parts, fault: null });
  const whole: Part = { start: 0, end: bytes.length };
  // The bracket of the outer list comes before its first element.
  const at = skipSpace(bytes, isInList && unit.isFirst ? skipSpace(bytes, 0) + 1 : 0);
  const end = at < bytes.length ? skipValue(bytes, at) : -1;
  if (end < 0) return inOrder(whole);
  const fault = findFaultBehind(unit, end, isInList);
  if (fault !== null) return { parts: [whole], fault };
  const conversations = findConversations(bytes, at, shape).filter(({ lists }) => lists.length > 0);
  const value = readAround(bytes, { start: at, end, lists: conversations.flatMap(({ lists }) => lists) });
  if (value === undefined) return inOrder(whole);
  if (conversations.length === 0) return inOrder({ ...whole, around: value });
  const parts: Part[] = [];
  let from = 0;
  for (const conversation of conversations) {
    const around = shape.within === undefined ? value : readAround(bytes, conversation);
    for (const [index, elements] of conversation.lists.entries()) {
      parts.push({ start: from, end: elements[0]?.start ?? from, around: index === 0 ? around : null });
      for (const [place, { start, end: ownEnd }] of elements.entries()) {
        from = elements[place + 1]?.start ?? ownEnd;
        parts.push({ start, end: from });
      }
    }
  }
  return inOrder(...parts, { start: from, end: bytes.length, around: null });
}

/**
 * After a value there is only white space; in a list also a comma, or the closing bracket at the end of the file.
 * null: so it is here.
 */
function findFaultBehind({ bytes, isLast }: Unit, end: number, isInList: boolean): string | null {
  const rest = bytes.subarray(end).filter((byte) => !isSpace(byte));
  const [byte] = rest;
  const isComma = rest.length === 1 && byte === COMMA;
  if (isInList && isLast && (rest.length === 0 || isComma)) return 'not valid JSON (the list does not end)';
  const isInOrder = isInList ? rest.length === 1 && byte === (isLast ? CLOSE_LIST : COMMA) : rest.length === 0;
  return isInOrder ? null : 'not valid JSON (something follows the value)';
}

/** The value with its lists emptied; undefined: it is not JSON. */
function readAround(bytes: Uint8Array, { start, end, lists }: ConversationPlace): Json | undefined {
  const pieces: Uint8Array[] = [];
  let from = start;
  for (const elements of lists) {
    pieces.push(bytes.subarray(from, elements[0]?.start));
    from = elements.at(-1)?.end ?? from;
  }
  const parsed = parseJsonLine(Buffer.concat([...pieces, bytes.subarray(from, end)]));
  return parsed.ok ? parsed.value : undefined;
}

/**
 * An element, or a member `"key": value` as an object of its own. What is not JSON may be a whole stretch of the file,
 * including the bracket of the list.
 */
function parseElement(bytes: Uint8Array, kind: ListShape['kind']): LineParse {
  if (kind === 'members' && bytes[0] === QUOTE) {
    const member = parseJsonLine(Buffer.concat([Buffer.from('{'), bytes, Buffer.from('}')]));
    return member.ok ? member : { ...member, column: Math.max(1, member.column - 1) };
  }
  const element = parseJsonLine(bytes);
  if (element.ok || bytes[skipSpace(bytes, 0)] !== OPEN_LIST) return element;
  // With a blank instead of the bracket, so that columns stay the same.
  const stretch = parseJsonLine(Uint8Array.from(bytes).fill(SPACE, 0, skipSpace(bytes, 0) + 1));
  return stretch.ok ? element : stretch;
}

/** The offset of the first byte, and of the byte after the last. */
type Range = { readonly start: number; readonly end: number };

/** A conversation: the value around its lists, and the elements of each list that is not empty, in file order. */
type ConversationPlace = Range & { readonly lists: readonly (readonly Range[])[] };

type ListShape = {
  /** The list may be under any of these keys of the value. `a.b` is key b of the object under a. */
  readonly keys: readonly string[];
  /** list: `[…]`. members: an object whose members are the elements. */
  readonly kind: 'list' | 'members';
  /** The value itself may be the list. */
  readonly orItself?: boolean;
  /** Keys of other lists of the same conversation, whose elements are records too. */
  readonly alongside?: readonly string[];
  /** The value holds many conversations, in a list under this key. */
  readonly within?: string;
};

/**
 * The conversations in the value that begins at `at`, those without messages too. Empty: there is no such list, there
 * are two, or the value is not JSON.
 */
function findConversations(bytes: Uint8Array, at: number, shape: ListShape): readonly ConversationPlace[] {
  if (shape.within === undefined) {
    const place = findLists(bytes, at, shape);
    return place === null ? [] : [place];
  }
  const outer = findLists(bytes, at, { keys: [shape.within], kind: 'list' });
  return (outer?.lists[0] ?? []).flatMap(({ start }) => findLists(bytes, start, shape) ?? []);
}

function findLists(bytes: Uint8Array, at: number, shape: ListShape): ConversationPlace | null {
  if (shape.orItself === true && bytes[at] === OPEN_LIST) {
    const itself = rangesIn(bytes, at, 'list');
    return itself === null ? null : toPlace(at, itself.end, [itself.elements]);
  }
  if (bytes[at] !== OPEN_OBJECT) return null;
  const { keys, kind, alongside = [] } = shape;
  const under = findListsUnder(bytes, at, { keys: [...keys, ...alongside], kind });
  if (under === null) return null;
  const others = under.lists.flatMap(({ key }) => (alongside.includes(key) ? [key] : []));
  if (under.lists.length - others.length !== 1 || new Set(others).size !== others.length) return null;
  const lists = under.lists.map(({ elements }) => elements);
  return toPlace(at, under.end, lists);
}

type FoundList = { readonly key: string; readonly elements: readonly Range[] };

/** The lists under these keys of the object that begins at `at`, and where it ends; null: it is not JSON. */
function findListsUnder(
  bytes: Uint8Array,
  at: number,
  { keys, kind }: ListShape,
): { readonly lists: readonly FoundList[]; readonly end: number } | null {
  const members = rangesIn(bytes, at, 'members');
  if (members === null) return null;
  const lists: FoundList[] = [];
  for (const member of members.elements) {
    const key = readKey(bytes, member.start);
    if (key === null) return null;
    const opening = bytes[key.valueAt];
    if (keys.includes(key.name) && opening === (kind === 'list' ? OPEN_LIST : OPEN_OBJECT)) {
      const list = rangesIn(bytes, key.valueAt, kind);
      if (list === null) return null;
      lists.push({ key: key.name, elements: list.elements });
    }
    const inner = keys.flatMap((path) => (path.startsWith(`${key.name}.`) ? [path.slice(key.name.length + 1)] : []));
    if (inner.length === 0 || opening !== OPEN_OBJECT) continue;
    const under = findListsUnder(bytes, key.valueAt, { keys: inner, kind });
    if (under === null) return null;
    lists.push(...under.lists);
  }
  return { lists, end: members.end };
}

function toPlace(start: number, end: number, lists: readonly (readonly Range[])[]): ConversationPlace {
  return { start, end, lists: lists.filter(({ length }) => length > 0) };
}

/** The elements of the list, or the members with their keys of the object, that begins at `at`; and where it ends. */
function rangesIn(bytes: Uint8Array, at: number, kind: ListShape['kind']) {
  const closing = kind === 'list' ? CLOSE_LIST : CLOSE_OBJECT;
  const elements: Range[] = [];
  let next = skipSpace(bytes, at + 1);
  if (bytes[next] === closing) return { elements, end: next + 1 };
  for (;;) {
    const valueAt = kind === 'list' ? next : (readKey(bytes, next)?.valueAt ?? -1);
    const end = valueAt < 0 ? -1 : skipValue(bytes, valueAt);
    if (end < 0) return null;
    elements.push({ start: next, end });
    const after = skipSpace(bytes, end);
    if (bytes[after] === closing) return { elements, end: after + 1 };
    if (bytes[after] !== COMMA) return null;
    next = skipSpace(bytes, after + 1);
  }
}

function readKey(bytes: Uint8Array, at: number): { readonly name: string; readonly valueAt: number } | null {
  if (bytes[at] !== QUOTE) return null;
  const end = skipString(bytes, at);
  if (end < 0) return null;
  const colon = skipSpace(bytes, end);
  if (bytes[colon] !== COLON) return null;
  const valueAt = skipSpace(bytes, colon + 1);
  const name = Buffer.from(bytes.subarray(at + 1, end - 1)).toString('utf8');
  // Any character of a key may be written as an escape. If it is not JSON, neither is the value around it.
  const read = name.includes('\\') ? parseText(`"${name}"`) : name;
  return { name: typeof read === 'string' ? read : name, valueAt };
}

/** An element without the comma and white space after it. A comma alone separates nothing and stays. */
function trimElement(bytes: Uint8Array): Uint8Array {
  let end = bytes.length;
  while (end > 0 && isSpace(bytes[end - 1])) end -= 1;
  if (bytes[end - 1] !== COMMA || skipSpace(bytes, 0) === end - 1) return bytes.subarray(0, end);
  end -= 1;
  while (end > 0 && isSpace(bytes[end - 1])) end -= 1;
  return bytes.subarray(0, end);
}

/** The first byte at or after `at` that is not white space. */
function skipSpace(bytes: Uint8Array, at: number): number {
  let next = at;
  while (isSpace(bytes[next])) next += 1;
  return next;
}

/** The place after the string that begins at `at`; -1: it does not end. */
function skipString(bytes: Uint8Array, at: number): number {
  for (let quote = bytes.indexOf(QUOTE, at + 1); quote >= 0; quote = bytes.indexOf(QUOTE, quote + 1)) {
    let before = quote - 1;
    while (bytes[before] === BACKSLASH) before -= 1;
    if ((quote - before) % 2 === 1) return quote + 1;
  }
  return -1;
}

/** The place after the value that begins at `at`, judging by brackets and quotes only; -1: it does not end. */
function skipValue(bytes: Uint8Array, at: number): number {
  let depth = 0;
  for (let next = at; next < bytes.length;) {
    const byte = bytes[next];
    if (byte === QUOTE) {
      next = skipString(bytes, next);
      if (next < 0) return -1;
      if (depth === 0) return next;
      continue;
    }
    const closes = byte === CLOSE_LIST || byte === CLOSE_OBJECT;
    if (depth === 0 && (closes || byte === COMMA || isSpace(byte))) return next > at ? next : -1;
    if (byte === OPEN_LIST || byte === OPEN_OBJECT) depth += 1;
    next += 1;
    if (!closes) continue;
    depth -= 1;
    if (depth === 0) return next;
  }
  return depth === 0 && bytes.length > at ? bytes.length : -1;
}
