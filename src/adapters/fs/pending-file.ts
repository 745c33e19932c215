import { closeSync, fsyncSync, unlinkSync, writeSync } from 'node:fs';
import { open, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { err, ok } from '../../core/result.ts';
import type { Result } from '../../core/result.ts';
import type { FileFailure, PendingFile } from '../../ports/files.ts';
import { errorCode, toFileFailure } from './failure.ts';

export type PendingPlace = {
  /** As messages call it. */
  readonly path: string;
  /** Where it will stand: `path` with its links followed. */
  readonly target: string;
  /** Its name for now, in the same folder. */
  readonly temporary: string;
  /** `temporary`, open for writing. */
  readonly fd: number;
  /** It need not be removed at the process's end any more. */
  readonly forget: () => void;
};

/** Lines are small: written one by one they would cost a system call each. */
const BUFFER_BYTES = 256 * 1024;

/** What some file systems answer where a folder cannot be synced; the rename stands all the same. */
const CANNOT_SYNC_FOLDER = new Set(['EINVAL', 'ENOTSUP', 'EOPNOTSUPP', 'EISDIR', 'EPERM', 'EACCES', 'EBADF']);

export function createPendingFile({ path, target, temporary, fd, forget }: PendingPlace): PendingFile {
  const buffer = Buffer.allocUnsafe(BUFFER_BYTES);
  let buffered = 0;
  let isOpen = true;
  let isThere = true;

  const attempt = async (action: () => void | Promise<void>): Promise<Result<void, FileFailure>> => {
    try {
      return ok(await action());
    } catch (error) {
      return err(toFileFailure(error, { path, what: 'write' }));
    }
  };
  const drain = (): void => {
    writeAll(fd, buffer.subarray(0, buffered));
    buffered = 0;
  };
  const close = (): void => {
    if (!isOpen) return;
    isOpen = false;
    closeSync(fd);
  };
  return {
    write: (bytes) => {
      try {
        if (buffered + bytes.length > buffer.length) drain();
        if (bytes.length > buffer.length) writeAll(fd, bytes);
        else {
          buffer.set(bytes, buffered);
          buffered += bytes.length;
        }
        return ok(undefined);
      } catch (error) {
        return err(toFileFailure(error, { path, what: 'write' }));
      }
    },
    flush: () =>
      attempt(() => {
        drain();
        fsyncSync(fd);
      }),
    commit: () =>
      attempt(async () => {
        if (buffered > 0) {
          drain();
          fsyncSync(fd);
        }
        close();
        await rename(temporary, target);
        isThere = false;
        forget();
        await syncFolder(dirname(target));
      }),
    discard: () => {
      try {
        close();
      } catch {
        // It is given up: whether its last bytes were written no longer matters.
      }
      if (!isThere) return;
      isThere = false;
      removeTemporary(temporary);
      forget();
    },
  };
}

/** Removes a temporary file if it is there. */
export function removeTemporary(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    // Gone already, or its folder is: nothing is left behind. Where it cannot be removed the reason for giving it up is what counts.
    if (errorCode(error) === null) throw error;
  }
}

/** A write may take fewer bytes than it was given. */
function writeAll(fd: number, bytes: Uint8Array): void {
  let done = 0;
  while (done < bytes.length) done += writeSync(fd, bytes, done, bytes.length - done);
}

async function syncFolder(folder: string): Promise<void> {
  try {
    const handle = await open(folder, 'r');
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (!CANNOT_SYNC_FOLDER.has(errorCode(error) ?? '')) throw error;
  }
}
