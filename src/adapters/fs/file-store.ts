import { existsSync, rmSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { err, ok } from '../../core/result.ts';
import type { Compression, FileStore, RemoveAtExit, Unpacked } from '../../ports/files.ts';
import { compressionOf, detectCompression } from './compression.ts';
import { openSourceFile, stampOf } from './source-file.ts';
import { describeNonFile, toFileFailure } from '../../system/files.ts';

export type FileStoreOptions = {
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
      const { unpackRecord } = await import('./eval-log.ts');
      return unpackRecord(bytes);
    },
    lock: async (path, options) => {
      // Loaded here, because most commands only read.
      const { lockFile } = await import('./file-lock.ts');
      return lockFile({ path, ...options, removeAtExit });
    },
    clearLeftovers: async (path) => {
      const { clearLeftovers } = await import('./file-lock.ts');
      return clearLeftovers({ path, removeAtExit });
    },
    showsWriters: () => existsSync(OPEN_FILES),
    findWriter: async (stamp) => {
      const { findWriter } = await import('./open-elsewhere.ts');
      return findWriter(stamp);
    },
    findSessionUser: async (path, signs) => {
      if (signs.length === 0) return null;
      const { findSessionUser } = await import('./open-elsewhere.ts');
      return findSessionUser(path, signs);
    },
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
