import { closeSync, fchmodSync, fchownSync, fstatSync, fsyncSync, futimesSync, openSync, unlinkSync } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { err, ok, type Result } from '../../core/result.ts';
import type { Compression, FileFailure, PendingFile, RemoveAtExit } from '../../ports/files.ts';
import { describeNew, type Swap } from './swap.ts';
import { errorCode, toFileFailure, writeAll } from './system.ts';

/** A conversation is private unless its source was not. */
const PRIVATE_MODE = 0o600;
const PERMISSION_BITS = 0o777;

type NewFile = {
  /** As shown in messages. */
  readonly path: string;
  /** The final place: `path` with its links followed. */
  readonly target: string;
  /** The name until then, in the same folder. */
  readonly temporary: string;
  /** The file whose mode and owner are copied. */
  readonly like: string | undefined;
  readonly compression: Compression;
  readonly removeAtExit: RemoveAtExit;
  readonly swap: Swap;
};

/**
 * Creates a file that has a temporary name until it is complete. A file that replaces `like` keeps its owner, or is
 * denied.
 */
export async function beginFile({
  path,
  target,
  temporary,
  like,
  compression,
  removeAtExit,
  swap,
}: NewFile): Promise<Result<PendingFile, FileFailure>> {
  try {
    const model = like === undefined ? null : await statModel(like);
    const isInPlace = model !== null && isSameFile(model, await statModel(target));
    // Opened for appending, because the producer may write to the file as soon as it has its name.
    const fd = openSync(temporary, 'ax', PRIVATE_MODE);
    const abandon = (): void => {
      closeSync(fd);
      removeTemporary(temporary);
    };
    try {
      const isOwnerKept = model === null || copyOwner(fd, model);
      if (isInPlace && !isOwnerKept) {
        abandon();
        return err({ kind: 'denied', path, what: 'write', reason: 'owner' });
      }
    } catch (error) {
      abandon();
      throw error;
    }
    const place = { path, target, temporary, fd, remove: removeAtExit(temporary), swap };
    if (compression === 'none') return ok(createPendingFile(place));
    const file = createPendingFile(place);
    if (compression === 'eval') return ok((await import('./eval-file.ts')).createEvalFile(file));
    const { createCompressedFile } = await import('./compressed-file.ts');
    return ok(createCompressedFile(file, { path, compression }));
  } catch (error) {
    // The folder is what is missing or not writable.
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

async function statModel(path: string): Promise<Model | null> {
  try {
    const { mode, uid, gid, ino: inode, dev: device } = await stat(path, { bigint: true });
    return { mode: Number(mode) & PERMISSION_BITS, uid: Number(uid), gid: Number(gid), inode, device };
  } catch (error) {
    // Without a file to copy from, the mode stays private.
    if (errorCode(error) !== null) return null;
    throw error;
  }
}

function isSameFile(a: Model, b: Model | null): boolean {
  return a.inode === b?.inode && a.device === b.device;
}

/** False: the owner could not be changed. */
function copyOwner(fd: number, { mode, uid, gid }: Model): boolean {
  const own = fstatSync(fd);
  const isOthers = own.uid !== uid || own.gid !== gid;
  // Only root may change the owner. Group members may set the group, so that the others in it keep their access.
  if (isOthers && !tryChangeOwner(fd, uid, gid)) tryChangeOwner(fd, own.uid, gid);
  fchmodSync(fd, mode);
  return fstatSync(fd).uid === uid;
}

function tryChangeOwner(fd: number, uid: number, gid: number): boolean {
  try {
    fchownSync(fd, uid, gid);
    return true;
  } catch (error) {
    // The mode is set all the same.
    if (errorCode(error) === null) throw error;
    return false;
  }
}

type PendingPlace = {
  /** As shown in messages. */
  readonly path: string;
  /** The final place: `path` with its links followed. */
  readonly target: string;
  /** The name for now, in the same folder. */
  readonly temporary: string;
  /** `temporary`, open for writing. */
  readonly fd: number;
  /** Removes `temporary` if it exists. */
  readonly remove: () => void;
  readonly swap: Swap;
};

/** Lines are small, and writing them one by one would cost a system call each. */
const BUFFER_BYTES = 256 * 1024;

/** Returned by file systems that cannot sync a folder; the rename is done all the same. */
const CANNOT_SYNC_FOLDER = new Set(['EINVAL', 'ENOTSUP', 'EOPNOTSUPP', 'EISDIR', 'EPERM', 'EACCES', 'EBADF']);

function createPendingFile({ path, target, temporary, fd, remove, swap }: PendingPlace): PendingFile {
  const buffer = Buffer.allocUnsafe(BUFFER_BYTES);
  const state = { buffered: 0, isOpen: true, hasName: false };

  const attempt = <T>(action: () => T): Result<T, FileFailure> => {
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
    takePlace: async (expected, { isDocument = true, mtimeNs, onMoved } = {}) => {
      const described = attempt(() => {
        drain();
        if (mtimeNs !== undefined) futimesSync(fd, new Date(), toSeconds(mtimeNs));
        return describeNew(temporary);
      });
      if (!described.ok) return described;
      const placed = swap.takePlace(temporary, expected, { isDocument, ours: described.value, onMoved });
      if (!placed.ok || placed.value === 'taken') return placed;
      state.hasName = true;
      remove(); // nothing is left to remove when the process ends
      return placed;
    },
    syncFolder: () => attemptLater(() => syncFolder(dirname(target))),
    close: () => {
      if (!state.isOpen) return;
      state.isOpen = false;
      try {
        closeSync(fd);
      } catch {
        // Everything that matters was synced before, and an abandoned file may lack its last bytes.
      }
      if (!state.hasName) remove();
      // A failure here is left for the next run.
      swap.heal();
    },
  };
}

/** Half a microsecond more, because a number of seconds is not exact, and programs cut times to milliseconds. */
function toSeconds(mtimeNs: bigint): number {
  return Number(mtimeNs + 500n) / 1e9;
}

/** Removes a temporary file if it exists. */
export function removeTemporary(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    // It or its folder is gone, or it cannot be removed; the reason for abandoning it matters more.
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
