import type { Json, LineParse } from '../../../ports/json.ts';
import type { RawRecord, Records, RecordSplitter } from '../../../ports/records.ts';
import { parseJsonLine } from '../json-lines.ts';
import {
  CLOSE_LIST,
  COMMA,
  type ConversationPlace,
  findConversations,
  isSpace,
  type ListShape,
  OPEN_LIST,
  skipSpace,
  skipValue,
  trimElement,
} from './find-list.ts';
import { createUnitSplitter, eolLengthOf, placeBehind, type Unit, type UnitKind } from './units.ts';

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

type Part = { readonly start: number; readonly end: number; readonly around?: Json };
type Parts = { readonly parts: readonly Part[]; readonly fault: string | null };

function takeApart(
  unit: Unit,
  { shape, isInList }: { readonly shape: ListedShape; readonly isInList: boolean },
): Parts {
  const { bytes } = unit;
  const inOrder = (...parts: readonly Part[]): Parts => ({ parts, fault: null });
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

const QUOTE = 0x22;
const SPACE = 0x20;

/**
 * An element, or a member `"key": value` as an object of its own. What is not JSON may be a whole stretch of the file,
 * including the bracket of the list.
 */
function parseElement(bytes: Uint8Array, kind: ListShape['kind']): LineParse {
  if (kind === 'members' && bytes[0] === QUOTE) {
    const member = parseJsonLine(asObject(bytes));
    return member.ok ? member : { ...member, column: Math.max(1, member.column - 1) };
  }
  const element = parseJsonLine(bytes);
  if (element.ok || bytes[skipSpace(bytes, 0)] !== OPEN_LIST) return element;
  const stretch = parseJsonLine(withoutBracket(bytes));
  return stretch.ok ? element : stretch;
}

function asObject(member: Uint8Array): Uint8Array {
  return Buffer.concat([Buffer.from('{'), member, Buffer.from('}')]);
}

/** With a blank instead, so that columns stay the same. */
function withoutBracket(bytes: Uint8Array): Uint8Array {
  const copy = Uint8Array.from(bytes);
  copy[skipSpace(bytes, 0)] = SPACE;
  return copy;
}
