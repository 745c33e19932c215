import type { Json } from '../../../ports/json.ts';
import type { RawRecord, RecordFault, Records } from '../../../ports/records.ts';
import { parseJsonLine } from '../jsonl.ts';
import { findList, trimElement } from './find-list.ts';
import type { ListPlace, ListShape } from './find-list.ts';
import { isSpace, OPEN_LIST, skipSpace, skipValue } from './json-bytes.ts';
import { parseElement } from './parse-element.ts';
import { countChars, countLineEnds, splitUnits } from './units.ts';
import type { Unit, UnitKind } from './units.ts';

/** How a format's conversations stand in a file, and where each has its list of messages. */
export type ListedShape = ListShape & { readonly unit: UnitKind };

/**
 * Conversations that are values with a list of messages in them. Of such a value all up to the first element is one record, each element with
 * the comma and white space behind it is one, and all behind the last element is one: bytes that stay are never written anew. A value
 * without a list, or with an empty one, is one record; what is no JSON is a record that cannot be parsed.
 */
export function createListRecords(shape: ListedShape): Records {
  return {
    split: (pieces, start) => splitRecords(pieces, start, shape),
    trim: trimElement,
    parse: (bytes) => parseElement(bytes, shape.kind),
  };
}

function* splitRecords(pieces: Iterable<Uint8Array>, from: number, shape: ListedShape): Generator<RawRecord> {
  let line = 0;
  let list = 0;
  for (const unit of splitUnits(pieces, shape.unit, from)) {
    const isCutOff = shape.unit === 'element' && isListCutOff(unit);
    const parts = isCutOff ? wholeOf(unit) : takeApart(unit, shape);
    if (parts.length > 0 && parts[0]?.around !== undefined) list += 1;
    for (const { start, end, around } of parts) {
      const bytes = unit.bytes.subarray(start, end);
      line += 1;
      yield {
        line,
        start: unit.start + start,
        bytes,
        eolLength: around === undefined && parts.length > 1 ? 0 : eolLengthOf(bytes),
        ...((around !== undefined || parts.length > 1) && { list }),
        ...(around !== undefined && { around }),
        ...(isCutOff && { fault: cutOffAt(unit) }),
        findPlace: () => placeIn(unit, start),
      };
    }
  }
}

type Part = { readonly start: number; readonly end: number; readonly around?: Json };

function wholeOf({ bytes }: Unit): readonly Part[] {
  return [{ start: 0, end: bytes.length }];
}

function takeApart(unit: Unit, shape: ListedShape): readonly Part[] {
  const { bytes } = unit;
  const whole = wholeOf(unit);
  const at = beginningOf(unit, shape.unit);
  const end = at < bytes.length ? skipValue(bytes, at) : -1;
  if (end < 0 || !isRestInOrder(bytes, end, shape.unit)) return whole;
  const found = findList(bytes, at, shape);
  const around = readAround(bytes, { start: at, end }, found);
  if (around === undefined) return whole;
  const elements = found?.elements ?? [];
  const first = elements[0];
  const last = elements.at(-1);
  if (first === undefined || last === undefined) return [{ start: 0, end: bytes.length, around }];
  return [
    { start: 0, end: first.start, around },
    ...elements.map((element, index): Part => ({
      start: element.start,
      end: elements[index + 1]?.start ?? element.end,
    })),
    { start: last.end, end: bytes.length, around: null },
  ];
}

/** Before the first element of a list stands its bracket, in the first unit. */
function beginningOf({ bytes, isFirst }: Unit, kind: UnitKind): number {
  const at = skipSpace(bytes, 0);
  return kind === 'element' && isFirst && bytes[at] === OPEN_LIST ? skipSpace(bytes, at + 1) : at;
}

/** Behind the value stands nothing but white space, and in a list a comma or its end. */
function isRestInOrder(bytes: Uint8Array, from: number, unit: UnitKind): boolean {
  const rest = bytes.subarray(from).filter((byte) => !isSpace(byte));
  const [byte] = rest;
  return rest.length === 0 || (unit === 'element' && rest.length === 1 && (byte === 0x2c || byte === 0x5d));
}

/** The last value of a list that is the whole file is whole, and the list's bracket is missing behind it. */
function isListCutOff({ bytes, isFirst, isLast }: Unit): boolean {
  if (!isLast) return false;
  const text = trimElement(bytes);
  return isFirst ? !parseJsonLine(text).ok && parseElement(text, 'list').ok : parseJsonLine(text).ok;
}

function cutOffAt({ bytes }: Unit): RecordFault {
  return { column: countChars(trimElement(bytes)) + 1, problem: 'the list is cut off, its ] is missing' };
}

/** The value with an empty list; undefined: it is no JSON. */
function readAround(
  bytes: Uint8Array,
  value: { readonly start: number; readonly end: number },
  found: ListPlace | null,
): Json | undefined {
  const first = found?.elements[0];
  const last = found?.elements.at(-1);
  const text =
    first === undefined || last === undefined
      ? bytes.subarray(value.start, value.end)
      : Buffer.concat([bytes.subarray(value.start, first.start), bytes.subarray(last.end, value.end)]);
  const parsed = parseJsonLine(text);
  return parsed.ok ? parsed.value : undefined;
}

function placeIn(unit: Unit, offset: number): { readonly line: number; readonly column: number } {
  const before = unit.bytes.subarray(0, offset);
  const lineStart = before.lastIndexOf(0x0a) + 1;
  const column = (lineStart > 0 ? 1 : unit.fileColumn) + countChars(before.subarray(lineStart));
  return { line: unit.fileLine + countLineEnds(before), column };
}

function eolLengthOf(bytes: Uint8Array): number {
  if (bytes.at(-1) !== 0x0a) return 0;
  return bytes.at(-2) === 0x0d ? 2 : 1;
}
