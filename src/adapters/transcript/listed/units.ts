import { isSpace } from './json-bytes.ts';

/** A stretch of a file with one value in it; units tile the file. */
export type Unit = {
  readonly bytes: Uint8Array;
  /** Byte offset in the file. */
  readonly start: number;
  /** The line in which it begins, and the character in it, both from 1. */
  readonly fileLine: number;
  readonly fileColumn: number;
  /** It begins, or ends, the file. */
  readonly isFirst: boolean;
  readonly isLast: boolean;
};

/** Where the values stand: one a line; the elements of a list that is the whole file; the file itself. */
export type UnitKind = 'line' | 'element' | 'file';

const LF = 0x0a;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;

/** The units of a file, one at a time in memory. A unit's bytes are only valid until the next one is asked for. */
export function* splitUnits(pieces: Iterable<Uint8Array>, kind: UnitKind, from: number): Generator<Unit> {
  const pending = createPending();
  const findEnd = END_FINDERS[kind]();
  let start = from;
  let fileLine = 1;
  let fileColumn = 1;
  const take = (length: number, isLast: boolean): Unit => {
    const unit = { bytes: pending.take(length), start, fileLine, fileColumn, isFirst: start === from, isLast };
    start += length;
    fileLine += countLineEnds(unit.bytes);
    const lineStart = unit.bytes.lastIndexOf(LF) + 1;
    fileColumn = (lineStart > 0 ? 1 : fileColumn) + countChars(unit.bytes.subarray(lineStart));
    return unit;
  };
  for (const piece of pieces) {
    pending.append(piece);
    for (let end = findEnd(pending.view()); end > 0; end = findEnd(pending.view())) yield take(end, false);
  }
  const rest = pending.view().length;
  if (rest > 0) yield take(rest, true);
}

/** Line ends in it. */
export function countLineEnds(bytes: Uint8Array): number {
  let count = 0;
  for (let at = bytes.indexOf(LF); at >= 0; at = bytes.indexOf(LF, at + 1)) count += 1;
  return count;
}

/** Characters in UTF-8: the bytes that do not continue one. */
export function countChars(bytes: Uint8Array): number {
  let count = 0;
  for (const byte of bytes) if ((byte & 0xc0) !== 0x80) count += 1;
  return count;
}

/** Tells where the first unit of what is pending ends; 0: not here. It is asked again with more behind, or with what follows the unit. */
type EndFinder = (pending: Uint8Array) => number;

const END_FINDERS: { readonly [kind in UnitKind]: () => EndFinder } = {
  line: createLineEnds,
  element: createElementStarts,
  file: () => () => 0,
};

function createLineEnds(): EndFinder {
  let scanned = 0;
  return (pending) => {
    const at = pending.indexOf(LF, scanned);
    scanned = at < 0 ? pending.length : 0;
    return at + 1;
  };
}

/** A unit ends where the next element of the outermost list begins. */
function createElementStarts(): EndFinder {
  let scanned = 0;
  let depth = 0;
  let isInString = false;
  let isEscaped = false;
  let isBetween = false; // a comma of the outermost list was seen, the next element was not
  const step = (byte: number): void => {
    if (isInString) {
      if (isEscaped) isEscaped = false;
      else if (byte === BACKSLASH) isEscaped = true;
      else if (byte === QUOTE) isInString = false;
    } else if (byte === QUOTE) isInString = true;
    else if (byte === 0x5b || byte === 0x7b) depth += 1;
    else if (byte === 0x5d || byte === 0x7d) depth -= 1;
    else if (byte === COMMA && depth === 1) isBetween = true;
  };
  return (pending) => {
    for (; scanned < pending.length; scanned += 1) {
      const byte = pending[scanned] ?? 0;
      if (isBetween && !isSpace(byte)) {
        isBetween = false;
        const end = scanned;
        scanned = 0;
        return end;
      }
      step(byte);
    }
    return 0;
  };
}

/** Bytes that were read and not yet given out. */
function createPending(): {
  readonly append: (piece: Uint8Array) => void;
  readonly view: () => Uint8Array;
  readonly take: (length: number) => Uint8Array;
} {
  let buffer = Buffer.allocUnsafe(1024 * 1024);
  let begin = 0;
  let end = 0;
  const append = (piece: Uint8Array): void => {
    if (end + piece.length > buffer.length) {
      const held = end - begin;
      const isTooSmall = held + piece.length > buffer.length;
      // What was given out is a view into the old buffer; it is not valid any more.
      const target = isTooSmall ? Buffer.allocUnsafe((held + piece.length) * 2) : buffer;
      buffer.copy(target, 0, begin, end);
      buffer = target;
      begin = 0;
      end = held;
    }
    buffer.set(piece, end);
    end += piece.length;
  };
  return {
    append,
    view: () => buffer.subarray(begin, end),
    take: (length) => {
      begin += length;
      return buffer.subarray(begin - length, begin);
    },
  };
}
