import { closeSync, mkdtempSync, openSync, rmdirSync, statfsSync, unlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { addAbortSignal, Readable } from 'node:stream';
import { createGunzip, createZstdDecompress, type Gunzip, type ZstdDecompress } from 'node:zlib';
import { err, ok, type Result } from '../../core/result.ts';
import type { CompressionProblem, FileFailure } from '../../ports/files.ts';
import { detectCompression, isSkippable, MAGIC_BYTES } from './compression.ts';
import { errorCode, writeAll } from './system.ts';

export type CompressedFile = {
  /** As shown in messages. */
  readonly path: string;
  readonly compression: 'gzip' | 'zstd';
  /** Size on disk. */
  readonly sizeBytes: number;
  /** Reads bytes as stored on disk, fewer at the end of the file. Throws system errors. */
  readonly read: (start: number, length: number) => Uint8Array;
  readonly signal: AbortSignal | undefined;
  /** Limit for the decompressed size; undefined: derived from the size on disk. */
  readonly maxUnpackedBytes: number | undefined;
};

/** The content of a compressed file, in an unnamed temporary file. The caller closes `fd`. */
export type Decompressed = { readonly fd: number; readonly sizeBytes: number };

const MAX_BYTES = 2 * 1024 ** 3;
/** Transcripts are text, which grows 3 to 20 times. */
const MAX_RATIO = 100;
/** A small file may always grow to this size, whatever the ratio, because that does no harm. */
const MIN_LIMIT_BYTES = 64 * 1024 ** 2;
/** Left free on the disk for other programs. */
const RESERVED_BYTES = 1024 ** 3;

export type Limit = { readonly maxBytes: number; readonly watchesRatio: boolean; readonly failure: FileFailure };

export function findLimit({ path, sizeBytes, maxUnpackedBytes }: Omit<CompressedFile, 'compression'>): Limit {
  const usualBytes = Math.min(MAX_BYTES, Math.max(MIN_LIMIT_BYTES, MAX_RATIO * sizeBytes));
  const maxBytes = maxUnpackedBytes ?? usualBytes;
  const freeBytes = findFreeBytes();
  if (freeBytes < maxBytes)
    return {
      maxBytes: freeBytes,
      watchesRatio: true,
      failure: { kind: 'no-room', path, folder: tmpdir(), code: 'ENOSPC' },
    };
  const failure = { kind: 'unpacks-too-large', path, limitBytes: maxBytes } as const;
  return { maxBytes, watchesRatio: maxUnpackedBytes === undefined, failure };
}

function findFreeBytes(): number {
  try {
    const { bavail, bsize } = statfsSync(tmpdir());
    return Math.max(0, bavail * bsize - RESERVED_BYTES);
  } catch (error) {
    if (errorCode(error) === null) throw error;
    return Number.POSITIVE_INFINITY; // openSpool reports a temporary folder that cannot be used
  }
}

/** Decompresses all gzip members or zstd frames of a file in one pass and in bounded memory. Rejects when aborted. */
export async function decompress(file: CompressedFile): Promise<Result<Decompressed, FileFailure>> {
  const limit = findLimit(file);
  const spool = openSpool(file.path);
  if (!spool.ok) return spool;
  const fd = spool.value;
  try {
    const unpacked = await decompressParts(file, { fd, limit });
    if (!unpacked.ok) closeSync(fd);
    return unpacked;
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

async function decompressParts(
  file: CompressedFile,
  { fd, limit }: { readonly fd: number; readonly limit: Limit },
): Promise<Result<Decompressed, FileFailure>> {
  const damaged = (problem: CompressionProblem): Result<never, FileFailure> =>
    err({ kind: 'damaged', path: file.path, compression: file.compression, problem });
  let written = 0;
  // Node decompresses all gzip members in one go, but only one zstd frame at a time.
  for (let at = 0; at < file.sizeBytes;) {
    const head = file.read(at, SKIPPABLE_HEAD_BYTES);
    if (isSkippable(head)) {
      const frame = skippableBytes(head);
      if (frame === null || at + frame > file.sizeBytes) return damaged('cut-off');
      at += frame;
      continue;
    }
    if (detectCompression(head) !== file.compression) {
      const isStump = head.length < MAGIC_BYTES && at > 0 && isCutOffStart(file, at);
      return damaged(isStump ? 'cut-off' : 'trailing');
    }
    const part = await decompressPart(file, { at, fd, limit, before: written });
    if (!part.ok) return part.error.kind === 'problem' ? damaged(part.error.problem) : err(part.error.failure);
    if (part.value.read === 0) return damaged('broken');
    at += part.value.read;
    written += part.value.written;
  }
  return ok({ fd, sizeBytes: written });
}

/** Whether the remaining bytes are the start of another member or frame that was cut off. */
function isCutOffStart({ read }: CompressedFile, at: number): boolean {
  const rest = read(at, MAGIC_BYTES);
  const first = read(0, MAGIC_BYTES);
  return rest.every((byte, index) => byte === first[index]);
}

const SKIPPABLE_HEAD_BYTES = 8;

/** The size of a skippable frame; null: its header is incomplete. */
function skippableBytes(head: Uint8Array): number | null {
  if (head.length < SKIPPABLE_HEAD_BYTES) return null;
  return SKIPPABLE_HEAD_BYTES + new DataView(head.buffer, head.byteOffset, head.length).getUint32(4, true);
}

type Part = { readonly read: number; readonly written: number };
type PartFailure =
  | { readonly kind: 'problem'; readonly problem: CompressionProblem }
  | { readonly kind: 'file'; readonly failure: FileFailure };

const PIECE_BYTES = 256 * 1024;

async function decompressPart(
  file: CompressedFile,
  {
    at,
    fd,
    limit,
    before,
  }: { readonly at: number; readonly fd: number; readonly limit: Limit; readonly before: number },
): Promise<Result<Part, PartFailure>> {
  const engine = createEngine(file.compression);
  if (file.signal !== undefined) addAbortSignal(file.signal, engine);
  const source = Readable.from(readCompressed(file, at), { objectMode: false, highWaterMark: PIECE_BYTES });
  source.on('error', (error) => engine.destroy(error));
  source.pipe(engine);
  let written = 0;
  try {
    for await (const piece of engine) {
      const total = before + written + piece.length;
      if (total > limit.maxBytes) return err({ kind: 'file', failure: limit.failure });
      // Checked while decompressing, so that only a little of a decompression bomb is written.
      const likelyBytes = Math.max(MIN_LIMIT_BYTES, MAX_RATIO * (at + engine.bytesWritten));
      if (limit.watchesRatio && total > likelyBytes)
        return err({ kind: 'file', failure: { kind: 'unpacks-too-large', path: file.path, limitBytes: likelyBytes } });
      const failure = tryWrite(fd, piece, file.path);
      if (failure !== null) return err({ kind: 'file', failure });
      written += piece.length;
    }
    return ok({ read: engine.bytesWritten, written });
  } catch (error) {
    const problem = problemOf(error);
    if (problem === null) throw error;
    return err({ kind: 'problem', problem });
  } finally {
    source.destroy();
    engine.destroy();
  }
}

function createEngine(compression: CompressedFile['compression']): Gunzip | ZstdDecompress {
  return compression === 'gzip'
    ? createGunzip({ chunkSize: PIECE_BYTES })
    : createZstdDecompress({ chunkSize: PIECE_BYTES });
}

function* readCompressed({ read, sizeBytes }: CompressedFile, from: number): Generator<Uint8Array> {
  for (let at = from; at < sizeBytes; at += PIECE_BYTES) yield read(at, Math.min(PIECE_BYTES, sizeBytes - at));
}

export function tryWrite(fd: number, piece: Uint8Array, path: string): FileFailure | null {
  try {
    writeAll(fd, piece);
    return null;
  } catch (error) {
    return toNoRoomFailure(error, path);
  }
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
export function openSpool(path: string): Result<number, FileFailure> {
  try {
    const folder = mkdtempSync(join(tmpdir(), 'compact-unpacked-'));
    const file = join(folder, 'content');
    try {
      const fd = openSync(file, 'wx+', 0o600);
      try {
        unlinkSync(file);
      } catch (error) {
        closeSync(fd);
        throw error;
      }
      return ok(fd);
    } finally {
      rmdirSync(folder);
    }
  } catch (error) {
    return err(toNoRoomFailure(error, path));
  }
}

/** Why the decompressed content cannot be stored; rethrows errors that do not come from the system. */
function toNoRoomFailure(error: unknown, path: string): FileFailure {
  const code = errorCode(error);
  if (code === null) throw error;
  return { kind: 'no-room', path, folder: tmpdir(), code };
}
