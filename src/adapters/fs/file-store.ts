import { type BigIntStats, closeSync, existsSync, rmSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { err, ok, type Result } from '../../core/result.ts';
import type {
  Compression,
  FileFailure,
  FileStamp,
  FileStore,
  OpenOptions,
  RemoveAtExit,
  SourceFile,
  Unpacked,
} from '../../ports/files.ts';
import { compressionOf, detectCompression, HEAD_BYTES } from './compression.ts';
import { describeNonFile, followLinks, orElse, toFileFailure } from '../../system/files.ts';
import { createLineSource, type LineSource, openOutsideFile, readLines } from '../../system/outside-file.ts';

type FileStoreOptions = {
  readonly removeAtExit?: RemoveAtExit;
  /** Limit for the decompressed size of a file; by default derived from its size on disk. */
  readonly maxUnpackedBytes?: number | undefined;
};

/**
 * Files on the local disk. A new file replaces what a path leads to, through links; a read-only file is never replaced.
 */
export function createFileStore({ removeAtExit = removeNow, maxUnpackedBytes }: FileStoreOptions = {}): FileStore {
  return {
    absolute: (path) => resolve(path),
    realPath: (path) => orElse(resolve(path), () => followLinks(resolve(path))),
    compressionOf,
    unpack: (first, content) => {
      const compression = detectCompression(first);
      return compression === 'none' ? null : unpackLater(content, compression);
    },
    open: (path, options) => openSourceFile(path, { ...options, maxUnpackedBytes }),
    stamp: async (path) => {
      try {
        const stats = statSync(path, { bigint: true }); // a hundred times as fast as a thread that does it
        const is = describeNonFile(stats);
        return is === null ? ok(stampOf(stats)) : err({ kind: 'not-a-file', path, is });
      } catch (error) {
        return err(toFileFailure(error, { path, what: 'read' }));
      }
    },
    unpackRecord: async (bytes) => {
      if (bytes[0] !== 0x7b || bytes[2] !== 0x70) return null; // {"p
      return (await import('./eval-log.ts')).unpackRecord(bytes);
    },
    lock: async (path, options) => {
      // Loaded here, because most commands only read.
      const { lockFile } = await import('./file-lock.ts');
      return lockFile({ path, ...options, removeAtExit });
    },
    clearLeftovers: async (path) => (await import('./file-lock.ts')).clearLeftovers({ path, removeAtExit }),
    showsWriters: () => existsSync(OPEN_FILES),
    findWriter: async (stamp) => (await import('./open-elsewhere.ts')).findWriter(stamp),
    findSessionUser: async (path, signs) =>
      signs.length === 0 ? null : (await import('./open-elsewhere.ts')).findSessionUser(path, signs),
  };
}

/** Linux lists a process's open files here. */
const OPEN_FILES = '/proc/self/fd';

async function* unpackLater(
  content: AsyncIterable<Uint8Array>,
  compression: Exclude<Compression, 'none'>,
): AsyncGenerator<Unpacked> {
  // A zip file cannot be read from its beginning alone.
  if (compression === 'eval') {
    yield { problem: 'broken' };
    return;
  }
  const { unpack } = await import('./decompress.ts'); // most files are not compressed
  yield* unpack(content, { compression });
}

function removeNow(path: string): ReturnType<RemoveAtExit> {
  return (how) => {
    if (how !== 'keep') rmSync(path, { force: true });
  };
}

type SourceOptions = OpenOptions & { readonly maxUnpackedBytes?: number | undefined };

const UTF8_BOM = [0xef, 0xbb, 0xbf];

/**
 * Opens a file as it is now: what is appended later is not read. `lines` may start at the offset of any line, and
 * numbers lines from there. A range past the end returns the bytes that exist. A compressed file is decompressed first,
 * which `signal` can abort.
 */
export async function openSourceFile(
  path: string,
  { signal, maxBytes, maxUnpackedBytes, refusesLinks = false }: SourceOptions = {},
): Promise<Result<SourceFile, FileFailure>> {
  const opened = openOutsideFile(path, { followsLinks: !refusesLinks });
  if (!opened.ok) return opened;
  const { fd, stats } = opened.value;
  const stamp = stampOf(stats);
  const { read } = createReader(fd, path, stamp.sizeBytes);
  try {
    const compression = detectCompression(read(0, HEAD_BYTES));
    const isCut = compression === 'none' && maxBytes !== undefined && maxBytes < stamp.sizeBytes;
    // A stamp without a time equals none, so the rest of the file is noticed as appended.
    const seen = isCut ? { ...stamp, sizeBytes: maxBytes, mtimeNs: 0n } : stamp;
    const disk: OnDisk = { fd, path, stamp: seen, compression, read };
    if (compression === 'none') return ok(createSourceFile(disk, { fd, sizeBytes: seen.sizeBytes }));
    const packed = { path, sizeBytes: stamp.sizeBytes, read, signal, maxUnpackedBytes };
    // Loaded here, because most transcripts are not compressed.
    const content =
      compression === 'eval'
        ? await (await import('./eval-log.ts')).unpackEvalLog(packed)
        : await (await import('./decompress.ts')).decompress({ ...packed, compression });
    if (content.ok) return ok(createSourceFile(disk, content.value));
    closeSync(fd);
    return content;
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

type OnDisk = Pick<SourceFile, 'path' | 'stamp' | 'compression' | 'read'> & { readonly fd: number };

/** `content` may be read through another descriptor than the file itself. */
function createSourceFile(disk: OnDisk, content: { readonly fd: number; readonly sizeBytes: number }): SourceFile {
  const { fd, path, stamp, compression } = disk;
  const { sizeBytes } = content;
  const file = createReader(content.fd, path, sizeBytes);
  const head = file.read(0, UTF8_BOM.length);
  const bomLength = UTF8_BOM.every((byte, at) => head[at] === byte) ? UTF8_BOM.length : 0;
  const open = new Set([fd, content.fd]);
  return {
    path,
    stamp,
    compression,
    sizeBytes,
    bomLength,
    lines: (from = bomLength) => readLines(file, { from, to: sizeBytes }),
    read: file.read,
    *onDisk() {
      for (let at = 0; at < stamp.sizeBytes; at += TAIL_BYTES)
        yield disk.read(at, Math.min(TAIL_BYTES, stamp.sizeBytes - at));
    },
    close: () => {
      for (const one of open) {
        open.delete(one); // first: afterwards, even if it fails, the number may belong to another file
        closeSync(one);
      }
    },
  };
}

const PERMISSION_BITS = 0o777n;

export function stampOf(stats: BigIntStats): FileStamp {
  return {
    sizeBytes: Number(stats.size),
    mtimeNs: stats.mtimeNs,
    changedNs: stats.ctimeNs,
    inode: stats.ino,
    device: stats.dev,
    linkCount: Number(stats.nlink),
    mode: Number(stats.mode & PERMISSION_BITS),
  };
}

const TAIL_BYTES = 256 * 1024;

function createReader(fd: number, path: string, sizeBytes: number): LineSource & Pick<SourceFile, 'read'> {
  const source = createLineSource(fd, path, sizeBytes);
  return { ...source, read: createRangeReader(source.fill, sizeBytes) };
}

/** Read ahead this much: a system call takes as long as copying it. */
const WINDOW_BYTES = 64 * 1024;

/**
 * Reads ranges of a file of this size into new buffers. Consecutive ranges, such as the lines of a conversation, share
 * one read.
 */
export function createRangeReader(fill: LineSource['fill'], sizeBytes: number): SourceFile['read'] {
  const window = { bytes: Buffer.alloc(0), start: 0, end: 0 };
  let expected = -1; // end of the previous range
  const readAhead = (start: number): void => {
    if (window.bytes.length === 0) window.bytes = Buffer.allocUnsafeSlow(WINDOW_BYTES);
    window.start = start;
    window.end = start; // empty, in case the read throws
    window.end = start + fill(window.bytes, start);
  };
  return (start, length) => {
    const wanted = Math.min(length, Math.max(0, sizeBytes - start));
    const isNext = start === expected;
    expected = start + wanted;
    const isHeld = (): boolean => start >= window.start && start + wanted <= window.end;
    if (isNext && !isHeld() && wanted < WINDOW_BYTES) readAhead(start);
    const bytes = Buffer.allocUnsafe(wanted);
    if (!isHeld()) return bytes.subarray(0, fill(bytes, start));
    window.bytes.copy(bytes, 0, start - window.start, start - window.start + wanted);
    return bytes;
  };
}
