import { rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { err, ok } from '../../core/result.ts';
import type { FileStore } from '../../ports/files.ts';
import { compressionOf } from './compression.ts';
import { openSourceFile, stampOf } from './source-file.ts';
import { describeNonFile, toFileFailure } from './system.ts';

export type FileStoreOptions = {
  /** Has a file removed when the process ends; gives a function that removes it now, if it is there. */
  readonly removeAtExit?: (path: string) => () => void;
  /** How large the content of a compressed file may be; by default it depends on the file's size. */
  readonly maxUnpackedBytes?: number | undefined;
};

/** Files of the local disk. A new file replaces what a path leads to, through links; a read-only file is not replaced. */
export function createFileStore({ removeAtExit = removeNow, maxUnpackedBytes }: FileStoreOptions = {}): FileStore {
  return {
    absolute: (path) => resolve(path),
    compressionOf,
    open: (path, signal) => openSourceFile(path, { signal, maxUnpackedBytes }),
    stamp: async (path) => {
      const { stat } = await import('node:fs/promises');
      try {
        const stats = await stat(path, { bigint: true });
        const is = describeNonFile(stats);
        return is === null ? ok(stampOf(stats)) : err({ kind: 'not-a-file', path, is });
      } catch (error) {
        return err(toFileFailure(error, { path, what: 'read' }));
      }
    },
    lock: async (path) => {
      // Loaded here, because most commands only read.
      const { lockFile } = await import('./file-lock.ts');
      return lockFile({ path, removeAtExit });
    },
    clearLeftovers: async (path) => {
      const { clearLeftovers } = await import('./file-lock.ts');
      return clearLeftovers({ path, removeAtExit });
    },
    findWriter: async (stamp) => {
      const { findWriter } = await import('./find-writer.ts');
      return findWriter(stamp);
    },
  };
}

function removeNow(path: string): () => void {
  return () => rmSync(path, { force: true });
}
