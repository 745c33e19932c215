import type { RawLine } from '../ports/files.ts';

const LF = 0x0a;
const CR = 0x0d;

/** Most records are far smaller; a bigger one gets a buffer of its own size. */
const BUFFER_BYTES = 1024 * 1024;
/** A longer record is damage, not data. */
const MAX_LINE_BYTES = 256 * 1024 * 1024;

export type LineSource = {
  /** Reads into `into` from byte `position` on. Returns the count of bytes read, 0 at the end. */
  readonly fill: (into: Uint8Array, position: number) => number;
  /** Throws an error about a line that is too long. */
  readonly refuseLine: (line: number, maxLineBytes: number) => never;
};

export type LineRange = {
  /** Byte offset of the first line. */
  readonly from: number;
  /** Byte offset of the end, if known; a short source then gets a small buffer. */
  readonly to?: number;
  readonly bufferBytes?: number;
  readonly maxLineBytes?: number;
};

/**
 * Yields every line from an offset to the end, split at LF only; a CR belongs to the line ending only right before an
 * LF. Lines are numbered from 1. `bytes` is a view into a buffer that is reused for the next line.
 */
export function* readLines(source: LineSource, range: LineRange): Generator<RawLine> {
  const { from, to = Number.POSITIVE_INFINITY, maxLineBytes = MAX_LINE_BYTES } = range;
  // One byte more, to notice the end.
  const bufferBytes = Math.min(range.bufferBytes ?? BUFFER_BYTES, Math.max(1, to - from + 1));
  let buffer = Buffer.allocUnsafe(bufferBytes);
  let position = from; // of the buffer's first byte
  let filled = 0;
  let begin = 0; // of the current line
  let scanned = 0; // there is no LF between `begin` and here
  let line = 0;
  for (;;) {
    const at = buffer.indexOf(LF, scanned);
    if (at >= 0 && at < filled) {
      const end = at + 1;
      if (end - begin > maxLineBytes) source.refuseLine(line + 1, maxLineBytes);
      const eolLength = at > begin && buffer[at - 1] === CR ? 2 : 1;
      yield { line: (line += 1), start: position + begin, bytes: buffer.subarray(begin, end), eolLength };
      begin = end;
      scanned = end;
      continue;
    }
    const rest = filled - begin;
    if (rest > maxLineBytes) source.refuseLine(line + 1, maxLineBytes);
    const isFull = rest === buffer.length;
    const lineBytes = isFull ? measureLine(source, { start: position + begin, rest, maxLineBytes }) : 0;
    if (lineBytes > maxLineBytes) source.refuseLine(line + 1, maxLineBytes);
    buffer = makeRoom(buffer, { begin, filled, bufferBytes, lineBytes });
    position += begin;
    begin = 0;
    scanned = rest;
    const count = source.fill(buffer.subarray(rest), position + rest);
    filled = rest + count;
    if (count > 0) continue;
    if (rest > 0) yield { line: line + 1, start: position, bytes: buffer.subarray(0, rest), eolLength: 0 };
    return;
  }
}

/** The size of a line of which the first `rest` bytes have no LF, or a size beyond the limit. Nothing of it is kept: it may be endless. */
function measureLine(
  source: LineSource,
  { start, rest, maxLineBytes }: { readonly start: number; readonly rest: number; readonly maxLineBytes: number },
): number {
  const window = Buffer.allocUnsafe(BUFFER_BYTES);
  let size = rest;
  while (size <= maxLineBytes) {
    const count = source.fill(window, start + size);
    const at = window.subarray(0, count).indexOf(LF);
    if (at >= 0) return size + at + 1;
    if (count === 0) break;
    size += count;
  }
  return size;
}

type Filling = {
  /** Where the unfinished line begins, and where the read bytes end. */
  readonly begin: number;
  readonly filled: number;
  readonly bufferBytes: number;
  /** The size of a line that fills the buffer; 0: it does not. */
  readonly lineBytes: number;
};

/** Moves the unfinished line to the front of a buffer with room behind it: for all of a long line, the usual size after it. */
function makeRoom(
  buffer: Buffer<ArrayBuffer>,
  { begin, filled, bufferBytes, lineBytes }: Filling,
): Buffer<ArrayBuffer> {
  const isLong = filled - begin >= bufferBytes;
  // One byte more, to notice the end.
  const sizeBytes = lineBytes > 0 ? Math.max(lineBytes, bufferBytes) + 1 : isLong ? buffer.length : bufferBytes;
  if (sizeBytes === buffer.length) {
    buffer.copyWithin(0, begin, filled);
    return buffer;
  }
  const other = Buffer.allocUnsafe(sizeBytes);
  buffer.copy(other, 0, begin, filled);
  return other;
}
