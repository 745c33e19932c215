import { closeSync, fstatSync, fsyncSync, renameSync, unlinkSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { err, ok, type Result } from '../../core/result.ts';
import type { FileFailure, PendingFile } from '../../ports/files.ts';
import { errorCode, toFileFailure } from './failure.ts';
import { writeAll } from './late-bytes.ts';
import type { OldNames } from './old-name.ts';

export type PendingPlace = {
  /** As messages call it. */
  readonly path: string;
  /** Where it will stand: `path` with its links followed. */
  readonly target: string;
  /** Its name for now, in the same folder. */
  readonly temporary: string;
  /** `temporary`, open for writing. */
  readonly fd: number;
  /** Removes `temporary` if it is there. */
  readonly remove: () => void;
  readonly oldNames: OldNames;
};

/** Lines are small: written one by one they would cost a system call each. */
const BUFFER_BYTES = 256 * 1024;

/** What some file systems answer where a folder cannot be synced; the rename stands all the same. */
const CANNOT_SYNC_FOLDER = new Set(['EINVAL', 'ENOTSUP', 'EOPNOTSUPP', 'EISDIR', 'EPERM', 'EACCES', 'EBADF']);

export function createPendingFile({ path, target, temporary, fd, remove, oldNames }: PendingPlace): PendingFile {
  const buffer = Buffer.allocUnsafe(BUFFER_BYTES);
  const state = { buffered: 0, isOpen: true, hasName: false };

  const attempt = (action: () => void): Result<void, FileFailure> => {
    try {
      return ok(action());
    } catch (error) {
      return err(toFileFailure(error, { path, what: 'write' }));
    }
  };
  const attemptLater = async (action: () => Promise<void>): Promise<Result<void, FileFailure>> => {
    try {
      return ok(await action());
    } catch (error) {
      return err(toFileFailure(error, { path, what: 'write' }));
    }
  };
  const drain = (): void => {
    writeAll(fd, buffer.subarray(0, state.buffered));
    state.buffered = 0;
  };
  return {
    write: (bytes) =>
      attempt(() => {
        if (state.buffered + bytes.length > buffer.length) drain();
        if (bytes.length > buffer.length) return writeAll(fd, bytes);
        buffer.set(bytes, state.buffered);
        state.buffered += bytes.length;
      }),
    catchUp: () => null,
    drain: () => attempt(drain),
    sync: () =>
      attempt(() => {
        drain();
        fsyncSync(fd);
      }),
    keepOld: (stamp, fromBytes) => {
      const drained = attempt(drain);
      return drained.ok ? oldNames.keep(stamp, { fromBytes, atBytes: fstatSync(fd).size }) : drained;
    },
    rename: () =>
      attemptLater(async () => {
        drain();
        // Nothing else happens between this and what is done about the old name.
        renameSync(temporary, target);
        state.hasName = true;
        remove(); // nothing is there any more: it need not be removed when the process ends
      }),
    dropOld: () => oldNames.drop(),
    syncFolder: () => attemptLater(() => syncFolder(dirname(target))),
    close: () => {
      if (!state.isOpen) return;
      state.isOpen = false;
      try {
        closeSync(fd);
      } catch {
        // All that matters was synced before; and a file that is given up may lack its last bytes.
      }
      if (!state.hasName) remove();
      // What fails here stays for the next run.
      oldNames.finish();
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
