import { type BigIntStats, closeSync, constants, createReadStream, fstatSync, openSync, readSync } from 'node:fs';
import { type Readable, addAbortSignal } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { err, ok, type Result } from '../../core/result.ts';
import type { FileFailure, RawLine } from '../../ports/files.ts';
import { type LineSource, readLines } from './line-reader.ts';
import { describeNonFile, errorCode, fileError, toFileFailure } from './system.ts';

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
    // A named pipe would wait for a writer forever.
    const noFollow = followsLinks ? 0 : (constants.O_NOFOLLOW ?? 0);
    fd = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | noFollow);
    const stats = fstatSync(fd, { bigint: true });
    const is = describeNonFile(stats);
    if (is === null) return ok({ fd, stats });
    closeSync(fd);
    return err({ kind: 'not-a-file', path, is });
  } catch (error) {
    if (fd !== null) closeSync(fd);
    const code = errorCode(error);
    // Sockets cannot be opened.
    if (code === 'ENXIO') return err({ kind: 'not-a-file', path, is: 'a socket' });
    if (code === 'ELOOP') return err({ kind: 'not-a-file', path, is: followsLinks ? 'a circle of links' : 'a link' });
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

function readAt(
  fd: number,
  path: string,
  { into, position }: { readonly into: Uint8Array; readonly position: number },
): number {
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
  { maxBytes, ...opening }: Opening & { readonly maxBytes: number },
): Result<Uint8Array, FileFailure> {
  const opened = openOutsideFile(path, opening);
  if (!opened.ok) return opened;
  const { fd, stats } = opened.value;
  try {
    const sizeBytes = Number(stats.size);
    if (sizeBytes > maxBytes) return err({ kind: 'too-large', path, limitBytes: maxBytes });
    const bytes = Buffer.allocUnsafe(sizeBytes);
    return ok(bytes.subarray(0, createLineSource(fd, path, sizeBytes).fill(bytes, 0)));
  } finally {
    closeSync(fd);
  }
}

/**
 * What the user pipes in, or a file that the user names and that may be a pipe (`<(…)`). Rejects when aborted, and with
 * the system's error.
 */
export async function readOutsideStream(
  from: Readable | string,
  { name, maxBytes, signal }: { readonly name: string; readonly maxBytes: number; readonly signal: AbortSignal },
): Promise<Result<Buffer, FileFailure>> {
  const pieces: Buffer[] = [];
  let sizeBytes = 0;
  const stream = typeof from === 'string' ? createReadStream(from) : from;
  for await (const data of addAbortSignal(signal, stream)) {
    const piece: Buffer = Buffer.isBuffer(data) ? data : Buffer.from(String(data));
    sizeBytes += piece.length;
    if (sizeBytes > maxBytes) return err({ kind: 'too-large', path: name, limitBytes: maxBytes });
    pieces.push(piece);
  }
  return ok(Buffer.concat(pieces));
}
