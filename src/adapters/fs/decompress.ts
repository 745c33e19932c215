import { closeSync, mkdtempSync, openSync, rmdirSync, statfsSync, unlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { addAbortSignal } from 'node:stream';
import { createGunzip, createZstdDecompress, type Gunzip, type ZstdDecompress } from 'node:zlib';
import { err, ok, type Result } from '../../core/result.ts';
import type { Compression, CompressionProblem, FileFailure } from '../../ports/files.ts';
import { detectCompression, isSkippable, MAGIC_BYTES } from './compression.ts';
import { errorCode, orElse, writeAll } from '../../system/files.ts';

export type PackedFile = {
  /** As shown in messages. */
  readonly path: string;
  /** Size on disk. */
  readonly sizeBytes: number;
  /** Reads bytes as stored on disk, fewer at the end of the file. Throws system errors. */
  readonly read: (start: number, length: number) => Uint8Array;
  readonly signal: AbortSignal | undefined;
  /** Limit for the decompressed size; undefined: derived from the size on disk. */
  readonly maxUnpackedBytes: number | undefined;
};

type CompressedFile = PackedFile & { readonly compression: 'gzip' | 'zstd' };

/** The content of a compressed file, in an unnamed temporary file. The caller closes `fd`. */
type Decompressed = { readonly fd: number; readonly sizeBytes: number };

const MAX_BYTES = 2 * 1024 ** 3;
/** Transcripts are text, which grows 3 to 20 times. */
const MAX_RATIO = 100;
/** A small file may always grow to this size, whatever the ratio, because that does no harm. */
const MIN_LIMIT_BYTES = 64 * 1024 ** 2;
/** Left free on the disk for other programs. */
const RESERVED_BYTES = 1024 ** 3;

type Limit = { readonly maxBytes: number; readonly watchesRatio: boolean; readonly failure: FileFailure };

function findLimit({ path, sizeBytes, maxUnpackedBytes }: PackedFile): Limit {
  const usualBytes = Math.min(MAX_BYTES, Math.max(MIN_LIMIT_BYTES, MAX_RATIO * sizeBytes));
  const maxBytes = maxUnpackedBytes ?? usualBytes;
  // Infinity: the temporary folder cannot be used, which opening a file in it reports.
  const freeBytes = orElse(Number.POSITIVE_INFINITY, () => {
    const { bavail, bsize } = statfsSync(tmpdir());
    return Math.max(0, bavail * bsize - RESERVED_BYTES);
  });
  if (freeBytes < maxBytes) {
    const failure = { kind: 'no-room', path, folder: tmpdir(), code: 'ENOSPC' } as const;
    return { maxBytes: freeBytes, watchesRatio: true, failure };
  }
  const failure = { kind: 'unpacks-too-large', path, limitBytes: maxBytes } as const;
  return { maxBytes, watchesRatio: maxUnpackedBytes === undefined, failure };
}

/** The content of a packed file while it is written: at most so many bytes, in an unnamed temporary file. */
export type Spool = {
  readonly limit: Limit;
  readonly writtenBytes: () => number;
  readonly write: (...pieces: readonly (string | Uint8Array)[]) => FileFailure | null;
};

/** Has the content of a file written. Rejects when `writeContent` does, as when it is aborted. */
export async function unpackToSpool(
  file: PackedFile,
  writeContent: (spool: Spool) => Promise<FileFailure | null> | FileFailure | null,
): Promise<Result<Decompressed, FileFailure>> {
  const { path } = file;
  const limit = findLimit(file);
  const opened = openSpool(path);
  if (!opened.ok) return opened;
  const fd = opened.value;
  let sizeBytes = 0;
  const write: Spool['write'] = (...pieces) => {
    for (const piece of pieces) {
      const bytes = typeof piece === 'string' ? Buffer.from(piece) : piece;
      sizeBytes += bytes.length;
      if (sizeBytes > limit.maxBytes) return limit.failure;
      const written = tryStoring(path, () => writeAll(fd, bytes));
      if (!written.ok) return written.error;
    }
    return null;
  };
  try {
    const failure = await writeContent({ limit, write, writtenBytes: () => sizeBytes });
    if (failure === null) return ok({ fd, sizeBytes });
    closeSync(fd);
    return err(failure);
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

/** Decompresses a file in one pass and in bounded memory. Rejects when aborted. */
export function decompress(file: CompressedFile): Promise<Result<Decompressed, FileFailure>> {
  const { path, compression, signal } = file;
  return unpackToSpool(file, async ({ limit, write, writtenBytes }) => {
    for await (const part of unpack(readCompressed(file), { compression, signal })) {
      if ('problem' in part) return { kind: 'damaged', path, compression, problem: part.problem };
      // Checked while decompressing, so that only a little of a decompression bomb is written.
      const likelyBytes = Math.max(MIN_LIMIT_BYTES, MAX_RATIO * part.readBytes);
      const total = writtenBytes() + part.bytes.length;
      if (limit.watchesRatio && total > likelyBytes && total <= limit.maxBytes)
        return { kind: 'unpacks-too-large', path, limitBytes: likelyBytes };
      const failure = write(part.bytes);
      if (failure !== null) return failure;
    }
    return null;
  });
}

/** The next decompressed bytes, and how many compressed ones were read so far; or why the rest cannot be decompressed. */
export type Unpacked =
  | { readonly bytes: Uint8Array; readonly readBytes: number }
  | { readonly problem: CompressionProblem };

/** Decompresses all gzip members or zstd frames, in bounded memory. Rejects when aborted, and with errors of `pieces`. */
export async function* unpack(
  pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  { compression, signal }: { compression: Exclude<Compression, 'none' | 'eval'>; signal?: AbortSignal | undefined },
): AsyncGenerator<Unpacked> {
  const input = createInput(pieces);
  const first = await input.peek(MAGIC_BYTES);
  let readBytes = 0;
  // Node decompresses all gzip members in one go, but only one zstd frame at a time.
  for (;;) {
    const head = await input.peek(SKIPPABLE_HEAD_BYTES);
    if (head.length === 0) return;
    if (isSkippable(head)) {
      const frame = skippableBytes(head);
      if (frame === null || !(await input.skip(frame))) {
        yield { problem: 'cut-off' };
        return;
      }
      readBytes += frame;
      continue;
    }
    if (detectCompression(head) !== compression) {
      const isTruncated = head.length < MAGIC_BYTES && readBytes > 0 && head.every((byte, at) => byte === first[at]);
      yield { problem: isTruncated ? 'cut-off' : 'trailing' };
      return;
    }
    const options = { chunkSize: PIECE_BYTES };
    const engine = compression === 'gzip' ? createGunzip(options) : createZstdDecompress(options);
    if (signal !== undefined) addAbortSignal(signal, engine);
    const feeding = feed(engine, input);
    try {
      for await (const bytes of engine) yield { bytes, readBytes: readBytes + engine.bytesWritten };
    } catch (error) {
      const problem = problemOf(error);
      if (problem === null) throw error;
      yield { problem };
      return;
    } finally {
      engine.destroy();
      await feeding;
    }
    if (engine.bytesWritten === 0) {
      yield { problem: 'broken' };
      return;
    }
    input.keep(engine.bytesWritten);
    readBytes += engine.bytesWritten;
  }
}

/** Writes the input to a decompressor until either ends. */
async function feed(engine: Gunzip | ZstdDecompress, input: Input): Promise<void> {
  const closed = new Promise<void>((resolve) => engine.once('close', resolve));
  try {
    while (!engine.destroyed) {
      const piece = await input.next(engine.bytesWritten);
      if (engine.destroyed) return;
      if (piece === null) {
        engine.end();
        return;
      }
      // At the end of a frame, Node leaves the rest of the piece and never calls back.
      const written = new Promise<void>((resolve) => engine.write(piece, () => resolve()));
      await Promise.race([written, closed]);
    }
  } catch (error) {
    engine.destroy(error instanceof Error ? error : new Error(String(error)));
  }
}

type Input = ReturnType<typeof createInput>;

/** Compressed bytes that are read once, except those that a decompressor was given and did not use. */
function createInput(pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>) {
  const iterator = Symbol.asyncIterator in pieces ? pieces[Symbol.asyncIterator]() : pieces[Symbol.iterator]();
  const waiting: Uint8Array[] = [];
  const given: { readonly end: number; readonly piece: Uint8Array }[] = [];
  const take = async (): Promise<Uint8Array | null> => {
    const known = waiting.shift();
    if (known !== undefined) return known;
    const next = await iterator.next();
    return next.done === true ? null : next.value;
  };
  return {
    /** The next bytes without reading them; fewer at the end. */
    peek: async (length: number): Promise<Uint8Array> => {
      const found: Uint8Array[] = [];
      for (let size = 0; size < length;) {
        const piece = await take();
        if (piece === null) break;
        found.push(piece);
        size += piece.length;
      }
      waiting.unshift(...found);
      return Buffer.concat(found).subarray(0, length);
    },
    /** False: the input ended before. */
    skip: async (length: number): Promise<boolean> => {
      for (let left = length; left > 0;) {
        const piece = await take();
        if (piece === null) return false;
        if (piece.length > left) waiting.unshift(piece.subarray(left));
        left -= piece.length;
      }
      return true;
    },
    /** The next piece, null at the end. `usedBytes`: how many of those given since `keep` need not be given again. */
    next: async (usedBytes: number): Promise<Uint8Array | null> => {
      while (given[0] !== undefined && given[0].end <= usedBytes) given.shift();
      const piece = await take();
      if (piece !== null) given.push({ end: (given.at(-1)?.end ?? usedBytes) + piece.length, piece });
      return piece;
    },
    /** Takes back what was given behind so many bytes. */
    keep: (usedBytes: number): void => {
      const unused = given.splice(0).filter(({ end }) => end > usedBytes);
      waiting.unshift(...unused.map(({ end, piece }) => piece.subarray(Math.max(0, piece.length - (end - usedBytes)))));
    },
  };
}

const SKIPPABLE_HEAD_BYTES = 8;

/** The size of a skippable frame; null: its header is incomplete. */
function skippableBytes(head: Uint8Array): number | null {
  if (head.length < SKIPPABLE_HEAD_BYTES) return null;
  return SKIPPABLE_HEAD_BYTES + new DataView(head.buffer, head.byteOffset, head.length).getUint32(4, true);
}

const PIECE_BYTES = 256 * 1024;

function* readCompressed({ read, sizeBytes }: CompressedFile): Generator<Uint8Array> {
  for (let at = 0; at < sizeBytes; at += PIECE_BYTES) yield read(at, Math.min(PIECE_BYTES, sizeBytes - at));
}

/** What is wrong with compressed data, from an error of zlib or zstd; null: it is another error. */
function problemOf(error: unknown): CompressionProblem | null {
  const isTheirs = error instanceof Error && 'code' in error && errorCode(error) === null;
  if (!isTheirs || typeof error.code !== 'string') return null;
  if (error.code === 'Z_BUF_ERROR') return 'cut-off';
  // The header of the first member was checked before, so this one is a later one.
  if (error.code === 'Z_DATA_ERROR') return error.message === 'incorrect header check' ? 'trailing' : 'broken';
  if (error.code === 'ZSTD_error_frameParameter_windowTooLarge') return 'too-wide';
  return error.code.startsWith('ZSTD_error_') ? 'broken' : null;
}

/**
 * Opens an unnamed file in the temporary folder for writing and reading. It leaves nothing of a private conversation
 * behind, however the process ends. `path` is the file that messages name.
 */
function openSpool(path: string): Result<number, FileFailure> {
  return tryStoring(path, () => {
    const folder = mkdtempSync(join(tmpdir(), 'compact-unpacked-'));
    try {
      const file = join(folder, 'content');
      const fd = openSync(file, 'wx+', 0o600);
      try {
        unlinkSync(file);
      } catch (error) {
        closeSync(fd);
        throw error;
      }
      return fd;
    } finally {
      rmdirSync(folder);
    }
  });
}

/** Why the decompressed content cannot be stored; rethrows errors that do not come from the system. */
function tryStoring<T>(path: string, work: () => T): Result<T, FileFailure> {
  try {
    return ok(work());
  } catch (error) {
    const code = errorCode(error);
    if (code === null) throw error;
    return err({ kind: 'no-room', path, folder: tmpdir(), code });
  }
}
