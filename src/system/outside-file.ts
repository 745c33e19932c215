import { type BigIntStats, closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { addAbortSignal, type Readable } from 'node:stream';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { err, ok, type Result } from '../core/result.ts';
import type { FileFailure, RawLine } from '../ports/files.ts';
import { describeNonFile, errorCode, fileError, NO_FOLLOW, NO_WAIT, orElse, toFileFailure } from './files.ts';

/*
 * Every file that somebody else wrote is opened here: transcripts, exports, lists and rules. A test lists the few
 * modules that read files of our own or of the system by other means.
 */

/** Whether a last part of the path that is a link may be followed: the user's own names may be links, files found in folders may not. */
type Opening = { readonly followsLinks: boolean };

/** Opens a regular file. Waits for nothing, and fails for a pipe, a socket or a device. */
export function openOutsideFile(
  path: string,
  { followsLinks }: Opening,
): Result<{ readonly fd: number; readonly stats: BigIntStats }, FileFailure> {
  let fd: number | null = null;
  try {
    fd = openSync(path, constants.O_RDONLY | NO_WAIT | (followsLinks ? 0 : NO_FOLLOW));
    const stats = fstatSync(fd, { bigint: true });
    const is = describeNonFile(stats);
    if (is === null) return ok({ fd, stats });
    closeSync(fd);
    return err({ kind: 'not-a-file', path, is });
  } catch (error) {
    if (fd !== null) closeSync(fd);
    if (!followsLinks && errorCode(error) === 'ELOOP') return err({ kind: 'not-a-file', path, is: 'a link' });
    return err(toFileFailure(error, { path, what: 'read' }));
  }
}

/** Reads an open file up to this size; errors are thrown with their failure. */
export function createLineSource(fd: number, path: string, sizeBytes: number): LineSource {
  return {
    fill: (into, position) => {
      const wanted = Math.min(into.length, Math.max(0, sizeBytes - position));
      let got = 0;
      while (got < wanted) {
        const count = readAt(fd, path, { into: into.subarray(got, wanted), position: position + got });
        if (count === 0) break;
        got += count;
      }
      return got;
    },
    refuseLine: (line, maxLineBytes) => {
      throw fileError(`${path}: line ${line} is too long`, { kind: 'line-too-long', path, line, maxLineBytes });
    },
  };
}

function readAt(fd: number, path: string, { into, position }: { into: Uint8Array; position: number }): number {
  try {
    return readSync(fd, into, 0, into.length, position);
  } catch (error) {
    const failure = toFileFailure(error, { path, what: 'read' });
    throw fileError(`${path}: the system cannot read it (${errorCode(error)})`, failure);
  }
}

/** The longest line of a file, unless the user allows more. */
export const MAX_OUTSIDE_LINE_BYTES = 64 * 1024 * 1024;
/** An interruption is noticed after this much. */
const PAUSE_BYTES = 8 * 1024 * 1024;

export type LineLimits = { readonly maxLineBytes?: number | undefined; readonly signal?: AbortSignal | undefined };

/** The lines of a file that was found in a folder. Rejects with the failure of the file, and when aborted. */
export async function* readOutsideLines(
  path: string,
  { maxLineBytes = MAX_OUTSIDE_LINE_BYTES, signal }: LineLimits,
): AsyncGenerator<RawLine> {
  const opened = openOutsideFile(path, { followsLinks: false });
  if (!opened.ok) throw fileError(`${path}: it cannot be opened`, opened.error);
  const { fd, stats } = opened.value;
  const to = Number(stats.size);
  try {
    let pauseAt = PAUSE_BYTES;
    for (const line of readLines(createLineSource(fd, path, to), { from: 0, to, maxLineBytes })) {
      if (line.start >= pauseAt) {
        await setImmediate();
        signal?.throwIfAborted();
        pauseAt = line.start + PAUSE_BYTES;
      }
      yield line;
    }
  } finally {
    closeSync(fd);
  }
}

/** A whole file that must be small. */
export function readOutsideFile(
  path: string,
  { maxBytes, ...opening }: Opening & { maxBytes: number },
): Result<{ readonly bytes: Uint8Array; readonly stats: BigIntStats }, FileFailure> {
  const opened = openOutsideFile(path, opening);
  if (!opened.ok) return opened;
  const { fd, stats } = opened.value;
  try {
    const sizeBytes = Number(stats.size);
    if (sizeBytes > maxBytes) return err({ kind: 'too-large', path, limitBytes: maxBytes });
    const bytes = Buffer.allocUnsafe(sizeBytes);
    return ok({ bytes: bytes.subarray(0, createLineSource(fd, path, sizeBytes).fill(bytes, 0)), stats });
  } finally {
    closeSync(fd);
  }
}

/** Null: it is not UTF-8. A byte order mark is dropped, unless it is kept for writing the text again. */
export function decodeText(bytes: Uint8Array, { keepsMark = false } = {}): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: keepsMark }).decode(bytes);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return null;
  }
}

/**
 * What the user pipes in, or a file that the user names and that may be a pipe (`<(…)`). Rejects when aborted.
 * `patienceMs`: how long to wait for somebody to write to a named pipe.
 */
export async function readOutsideStream(
  from: Readable | string,
  {
    name,
    maxBytes,
    signal,
    patienceMs = PATIENCE_MS,
  }: { name: string; maxBytes: number; signal?: AbortSignal; patienceMs?: number },
): Promise<Result<Buffer, FileFailure>> {
  const pieces: Buffer[] = [];
  let sizeBytes = 0;
  try {
    const named = typeof from === 'string' ? readNamed(from, patienceMs, signal) : withSignal(from, signal);
    for await (const data of named) {
      const piece: Buffer = Buffer.isBuffer(data) ? data : Buffer.from(String(data));
      sizeBytes += piece.length;
      if (sizeBytes > maxBytes) return err({ kind: 'too-large', path: name, limitBytes: maxBytes });
      pieces.push(piece);
    }
    return ok(Buffer.concat(pieces));
  } catch (error) {
    if (signal?.aborted === true) throw error;
    return err(toFileFailure(error, { path: name, what: 'read' }));
  }
}

function withSignal(source: Readable, signal: AbortSignal | undefined): Readable {
  return signal === undefined ? source : addAbortSignal(signal, source);
}

const PATIENCE_MS = 5000;
const POLL_MS = 10;
/** What a shell makes of `<(…)`: its writer is there already, or is done. */
const INHERITED = /^\/(?:dev\/fd|proc)\//;

/** Never blocks: a thread that waits in the system for somebody to write would outlive the end of the program. */
async function* readNamed(path: string, patienceMs: number, signal?: AbortSignal): AsyncGenerator<Buffer> {
  const fd = openSync(path, constants.O_RDONLY | NO_WAIT);
  try {
    const awaitsWriter = fstatSync(fd).isFIFO() && !INHERITED.test(path);
    let waitedMs = 0;
    for (let hasBegun = false; ;) {
      const piece = Buffer.allocUnsafe(PIECE_BYTES);
      const count = readNow(fd, piece);
      const isIdle = count === null || (count === 0 && awaitsWriter && !hasBegun);
      if (count === 0 && !isIdle) return;
      if (count !== null && count > 0) {
        hasBegun = true;
        await setImmediate();
        signal?.throwIfAborted();
        yield piece.subarray(0, count);
        continue;
      }
      if (count === 0 && waitedMs >= patienceMs)
        throw fileError(`${path}: nobody writes`, { kind: 'not-a-file', path, is: 'a pipe that nobody writes to' });
      await setTimeout(POLL_MS, undefined, { ...(signal !== undefined && { signal }) });
      waitedMs += POLL_MS;
    }
  } finally {
    closeSync(fd);
  }
}

const PIECE_BYTES = 1024 * 1024;

/** Null: there is nothing yet. */
function readNow(fd: number, into: Uint8Array): number | null {
  return orElse(null, () => readSync(fd, into, 0, into.length, null), ['EAGAIN']);
}

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
  { start, rest, maxLineBytes }: { start: number; rest: number; maxLineBytes: number },
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
function makeRoom(buffer: Buffer<ArrayBuffer>, { begin, filled, bufferBytes, lineBytes }: Filling) {
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
