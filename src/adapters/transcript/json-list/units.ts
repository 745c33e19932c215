import { isAscii } from 'node:buffer';

/** A stretch of a file that holds one value. Units cover the file without gaps. */
export type Unit = {
  readonly bytes: Uint8Array;
  /** Byte offset in the file. */
  readonly start: number;
  /** Where it begins in the file, both from 1, the column in characters. */
  readonly fileLine: number;
  readonly column: number;
  /** It is the first unit of the file; the last one. */
  readonly isFirst: boolean;
  readonly isLast: boolean;
};

/** Where the values are: one a line; one a line, or pretty-printed over several; the elements of a list that is the whole file; the file itself. */
type AnyUnitKind = 'line' | 'printed' | 'element' | 'file';
export type UnitKind = Exclude<AnyUnitKind, 'printed'>;

const LF = 0x0a;
const CR = 0x0d;
export const SPACE = 0x20;
export const QUOTE = 0x22;
export const BACKSLASH = 0x5c;
export const COMMA = 0x2c;
export const COLON = 0x3a;
export const OPEN_LIST = 0x5b;
export const CLOSE_LIST = 0x5d;
export const OPEN_OBJECT = 0x7b;
export const CLOSE_OBJECT = 0x7d;

export function isSpace(byte: number | undefined): boolean {
  return byte === SPACE || byte === LF || byte === CR || byte === 0x09;
}

/** Takes a file in pieces and gives its units. A unit's bytes are valid only until the next one is requested. */
export function createUnitSplitter(kind: AnyUnitKind, from: number) {
  const pending = createPending();
  const findEnd = END_FINDERS[kind]();
  let start = from;
  let place = { fileLine: 1, column: 1 };
  const take = (length: number, isLast: boolean): Unit => {
    const unit = { bytes: pending.take(length), start, ...place, isFirst: start === from, isLast };
    start += length;
    place = placeBehind(unit, length);
    return unit;
  };
  function* add(piece: Uint8Array): Generator<Unit> {
    pending.append(piece);
    for (let end = findEnd(pending.view()); end > 0; end = findEnd(pending.view())) yield take(end, false);
  }
  function* end(): Generator<Unit> {
    const rest = pending.view().length;
    if (rest > 0) yield take(rest, true);
  }
  return { add, end };
}

/** 2 for CRLF, 1 for LF, 0 for none. */
export function eolLengthOf(bytes: Uint8Array): number {
  if (bytes.at(-1) !== LF) return 0;
  return bytes.at(-2) === CR ? 2 : 1;
}

/** The place in the file after this many bytes of a unit. */
export function placeBehind({ bytes, fileLine, column }: Unit, length: number): Pick<Unit, 'fileLine' | 'column'> {
  const before = bytes.subarray(0, length);
  const lastEnd = before.lastIndexOf(LF);
  if (lastEnd < 0) return { fileLine, column: column + countCharacters(before) };
  let ends = 1;
  for (let at = before.indexOf(LF); at < lastEnd; at = before.indexOf(LF, at + 1)) ends += 1;
  return { fileLine: fileLine + ends, column: 1 + countCharacters(before.subarray(lastEnd + 1)) };
}

function countCharacters(bytes: Uint8Array): number {
  if (isAscii(bytes)) return bytes.length;
  let count = 0;
  // Counts every byte except those that continue a character.
  for (let at = 0; at < bytes.length; at += 1) if (((bytes[at] ?? 0) & 0xc0) !== 0x80) count += 1;
  return count;
}

/**
 * Finds the end of the first pending unit; 0: it is not here yet. It is called again with more bytes, or with what
 * follows the unit.
 */
type EndFinder = (pending: Uint8Array) => number;

const END_FINDERS: { readonly [kind in AnyUnitKind]: () => EndFinder } = {
  line: createLineEnds,
  printed: createPrintedEnds,
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

/** A longer one is damaged: then each line counts by itself. */
const MAX_PRINTED_BYTES = 64 * 1024 * 1024;

/**
 * A line that is `{` alone opens an object, whose other lines are indented, up to `}` at the beginning of one. Where another object
 * begins first, it is damaged.
 */
function createPrintedEnds(): EndFinder {
  let scanned = 0;
  const endAt = (end: number): number => {
    scanned = 0;
    return end;
  };
  return (pending) => {
    for (let at = pending.indexOf(LF, scanned); at >= 0; at = pending.indexOf(LF, scanned)) {
      const [first, second, third] = pending;
      const isPrinted = first === OPEN_OBJECT && (second === LF || (second === CR && third === LF));
      if (!isPrinted || at > MAX_PRINTED_BYTES) return endAt(at + 1);
      const begin = pending.lastIndexOf(LF, at - 1) + 1;
      if (begin > 0 && pending[begin] === CLOSE_OBJECT) return endAt(at + 1);
      if (begin > 0 && pending[begin] === OPEN_OBJECT) return endAt(begin);
      scanned = at + 1;
    }
    return 0;
  };
}

/** A unit ends where the next element of the outermost list begins. */
function createElementStarts(): EndFinder {
  let scanned = 0;
  let depth = 0;
  let isInString = false;
  let isEscaped = false;
  let isBetween = false; // after a comma of the outermost list, before the next element
  const step = (byte: number): void => {
    if (isInString) {
      if (isEscaped) isEscaped = false;
      else if (byte === BACKSLASH) isEscaped = true;
      else if (byte === QUOTE) isInString = false;
    } else if (byte === QUOTE) isInString = true;
    else if (byte === OPEN_LIST || byte === OPEN_OBJECT) depth += 1;
    else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) depth -= 1;
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

/** Bytes that were read and not yet handed out. */
function createPending() {
  let buffer = Buffer.allocUnsafe(1024 * 1024);
  let begin = 0;
  let end = 0;
  const append = (piece: Uint8Array): void => {
    if (end + piece.length > buffer.length) {
      const held = end - begin;
      const isTooSmall = held + piece.length > buffer.length;
      // Bytes handed out before are a view into the old buffer and no longer valid.
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
    view: (): Uint8Array => buffer.subarray(begin, end),
    take: (length: number): Uint8Array => {
      begin += length;
      return buffer.subarray(begin - length, begin);
    },
  };
}
