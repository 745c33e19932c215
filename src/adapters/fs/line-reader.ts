import type { RawLine } from '../../ports/files.ts';

const LF = 0x0a;
const CR = 0x0d;

/** Most records are far smaller; the buffer grows for a bigger one. */
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
    buffer = makeRoom(buffer, { begin, filled, bufferBytes, maxLineBytes });
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

type Filling = {
  /** Where the unfinished line begins, and where the read bytes end. */
  readonly begin: number;
  readonly filled: number;
  readonly bufferBytes: number;
  readonly maxLineBytes: number;
};

/**
 * Moves the unfinished line to the front of a buffer with room behind it: twice the size for a long line, the usual
 * size after it.
 */
function makeRoom(buffer: Buffer<ArrayBuffer>, filling: Filling): Buffer<ArrayBuffer> {
  const { begin, filled, bufferBytes, maxLineBytes } = filling;
  const rest = filled - begin;
  const isFull = rest === buffer.length;
  const grown = Math.min(buffer.length * 2, maxLineBytes + bufferBytes);
  const sizeBytes = isFull ? grown : rest < bufferBytes ? bufferBytes : buffer.length;
  if (sizeBytes === buffer.length) {
    buffer.copyWithin(0, begin, filled);
    return buffer;
  }
  const other = Buffer.allocUnsafe(sizeBytes);
  buffer.copy(other, 0, begin, filled);
  return other;
}
