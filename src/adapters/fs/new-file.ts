import { closeSync, fchmodSync, fchownSync, fstatSync, fsyncSync, openSync, renameSync, unlinkSync } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { err, ok, type Result } from '../../core/result.ts';
import type { Compression, FileFailure, PendingFile } from '../../ports/files.ts';
import type { BackupLinks } from './missed-writes.ts';
import { errorCode, toFileFailure, writeAll } from './system.ts';

/** A conversation is private unless its source was not. */
const PRIVATE_MODE = 0o600;
const PERMISSION_BITS = 0o777;

type NewFile = {
  /** As messages call it. */
  readonly path: string;
  /** Where it will stand: `path` with its links followed. */
  readonly target: string;
  /** Its name until then, in the same folder. */
  readonly temporary: string;
  /** Gets the mode and the owner of the file at this path. */
  readonly like: string | undefined;
  readonly compression: Compression;
  /** Has a file removed when the process ends; gives a function that removes it now, if it is there. */
  readonly removeAtExit: (path: string) => () => void;
  readonly backupLinks: BackupLinks;
};

/** Begins a file that stands under another name until it is whole. One that replaces its model keeps the owner, or is denied. */
export async function beginFile({
  path,
  target,
  temporary,
  like,
  compression,
  removeAtExit,
  backupLinks,
}: NewFile): Promise<Result<PendingFile, FileFailure>> {
  try {
    const model = like === undefined ? null : await lookAt(like);
    const isInPlace = model !== null && isSameFile(model, await lookAt(target));
    // What is written goes to its end, also when it has its name and its producer writes to it again.
    const fd = openSync(temporary, 'ax', PRIVATE_MODE);
    const giveUp = (): void => {
      closeSync(fd);
      removeTemporary(temporary);
    };
    try {
      const isGiven = model === null || giveTo(fd, model);
      if (isInPlace && !isGiven) {
        giveUp();
        return err({ kind: 'denied', path, what: 'write', reason: 'owner' });
      }
    } catch (error) {
      giveUp();
      throw error;
    }
    const place = { path, target, temporary, fd, remove: removeAtExit(temporary), backupLinks };
    if (compression === 'none') return ok(createPendingFile(place));
    const { createCompressedFile } = await import('./compressed-file.ts');
    return ok(createCompressedFile(createPendingFile(place), { path, compression }));
  } catch (error) {
    // What is missing, or may not be written, is the folder.
    return err(toFileFailure(error, { path: dirname(path), what: 'write' }));
  }
}

type Model = {
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  readonly inode: bigint;
  readonly device: bigint;
};

async function lookAt(path: string): Promise<Model | null> {
  try {
    const { mode, uid, gid, ino: inode, dev: device } = await stat(path, { bigint: true });
    return { mode: Number(mode) & PERMISSION_BITS, uid: Number(uid), gid: Number(gid), inode, device };
  } catch (error) {
    // Without a model the file stays private.
    if (errorCode(error) !== null) return null;
    throw error;
  }
}

function isSameFile(a: Model, b: Model | null): boolean {
  return a.inode === b?.inode && a.device === b.device;
}

/** False: it keeps the owner that it has. */
function giveTo(fd: number, { mode, uid, gid }: Model): boolean {
  const own = fstatSync(fd);
  const isOthers = own.uid !== uid || own.gid !== gid;
  // Only root may give files away; to a group, its members may, and the others of it are to keep their file.
  if (isOthers && !tryGive(fd, uid, gid)) tryGive(fd, own.uid, gid);
  fchmodSync(fd, mode);
  return fstatSync(fd).uid === uid;
}

function tryGive(fd: number, uid: number, gid: number): boolean {
  try {
    fchownSync(fd, uid, gid);
    return true;
  } catch (error) {
    // The mode is kept all the same.
    if (errorCode(error) === null) throw error;
    return false;
  }
}

type PendingPlace = {
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
  readonly backupLinks: BackupLinks;
};

/** Lines are small: written one by one they would cost a system call each. */
const BUFFER_BYTES = 256 * 1024;

/** What some file systems answer where a folder cannot be synced; the rename stands all the same. */
const CANNOT_SYNC_FOLDER = new Set(['EINVAL', 'ENOTSUP', 'EOPNOTSUPP', 'EISDIR', 'EPERM', 'EACCES', 'EBADF']);

function createPendingFile({ path, target, temporary, fd, remove, backupLinks }: PendingPlace): PendingFile {
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
    keepBackup: (stamp, fromBytes) => {
      const drained = attempt(drain);
      return drained.ok ? backupLinks.keep(stamp, { fromBytes, atBytes: fstatSync(fd).size }) : drained;
    },
    rename: () =>
      attemptLater(async () => {
        drain();
        // Nothing else happens between this and what is done about the old name.
        renameSync(temporary, target);
        state.hasName = true;
        remove(); // nothing is there any more: it need not be removed when the process ends
      }),
    dropBackup: () => backupLinks.drop(),
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
      backupLinks.finish();
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
