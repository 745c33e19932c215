import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  linkSync,
  openSync,
  readSync,
  statSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { err, ok, type Result } from '../../core/result.ts';
import type { FileFailure, FileStamp, KeptBackup } from '../../ports/files.ts';
import { detectCompression, MAGIC_BYTES } from './compression.ts';
import {
  type BackupLink,
  carriedLeftover,
  foreignLeftover,
  type HiddenNames,
  lookAtName,
  openLeftover,
} from './leftovers.ts';
import { errorCode, toFileFailure } from './system.ts';

/** Second names of a target's file, from before it is replaced until nothing more can come from it. */
export type BackupLinks = {
  readonly keep: (stamp: FileStamp, sizes: Omit<BackupLink, 'path' | 'inode'>) => Result<KeptBackup, FileFailure>;
  /** After all of it was brought over. */
  readonly drop: () => void;
  /** Has names that another run left finished too. */
  readonly adopt: (backups: readonly BackupLink[]) => void;
  /** Brings over what was not, and removes the names. */
  readonly finish: () => Result<void, FileFailure>;
  /** One stands: whoever takes the lock next is to look for it. */
  readonly isOutstanding: () => boolean;
};

/** Where there are no hard links, or not for this file. */
const NO_LINKS = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK', 'EXDEV', 'EINVAL']);

export function createBackupLinks(path: string, target: string, names: Pick<HiddenNames, 'old'>): BackupLinks {
  const standing = new Map<string, BackupLink>();
  const adopt = (backups: readonly BackupLink[]): void => {
    for (const old of backups) standing.set(old.path, old);
  };
  const drop = (): void => {
    for (const name of standing.keys()) if (tryUnlink(name)) standing.delete(name);
  };
  return {
    keep: (stamp, sizes) => {
      const old = names.old({ ...sizes, inode: stamp.inode });
      try {
        const hasLink = tryLink(target, old.path, () => adopt([old]));
        const seen = lookAtName(hasLink ? old.path : target);
        if (seen?.ino === stamp.inode && seen.dev === stamp.device)
          return ok(hasLink ? { kind: 'kept', name: old.path } : { kind: 'no-links' });
        drop();
        return ok({ kind: 'another-file' });
      } catch (error) {
        return err(toFileFailure(error, { path, what: 'write' }));
      }
    },
    drop,
    adopt,
    finish: () => {
      for (const old of standing.values()) {
        try {
          if (appendMissedWrites(target, old)) standing.delete(old.path);
        } catch (error) {
          const leftover = carriedLeftover(error);
          if (leftover !== null) return err(leftover);
          const because = toFileFailure(error, { path, what: 'write' });
          return err({ kind: 'unfinished', path, keptAs: old.path, because });
        }
      }
      return ok(undefined);
    },
    isOutstanding: () => standing.size > 0,
  };
}

/** False: this file cannot have a second name. `onLinked` is called before anything else can fail. */
function tryLink(target: string, name: string, onLinked: () => void): boolean {
  try {
    linkSync(target, name);
    onLinked();
    return true;
  } catch (error) {
    const code = errorCode(error) ?? '';
    // One that nobody knew of: whoever takes the lock next is to look at it.
    if (code === 'EEXIST') onLinked();
    if (!NO_LINKS.has(code)) throw error;
    return false;
  }
}

/** False: it stands there still, and the next run finds that there is nothing to do for it. */
function tryUnlink(name: string): boolean {
  try {
    unlinkSync(name);
    return true;
  } catch (error) {
    const code = errorCode(error);
    if (code === null) throw error;
    return code === 'ENOENT';
  }
}

const LF = 0x0a;
/** As much as others can have written to the target in the moment between its rename and the tail's writing. */
const MEANWHILE_BYTES = 1024 * 1024;

/**
 * Brings what came to a file at the moment when it was replaced to the end of what replaced it, and removes its old name. False: the
 * target is gone, and it stands nowhere else, so the old name stays. Throws what the system says, or that the old name is not the file that was
 * replaced, and then the old name stays too.
 */
export function appendMissedWrites(target: string, { path, fromBytes, atBytes, inode }: BackupLink): boolean {
  const now = statSync(target, { bigint: true, throwIfNoEntry: false });
  const old = openLeftover(path, now);
  try {
    const { ino, dev, size, nlink } = fstatSync(old, { bigint: true });
    const hasLate = size > fromBytes;
    // A folder that was copied has other inodes: where nothing would be taken from the file, its name just goes.
    if (hasLate && ino !== inode) throw foreignLeftover(path, 'it is not the file that was replaced');
    if (now === undefined && hasLate && nlink === 1n) return false;
    // Where it is the target itself the rename never came: all that was written stands in it.
    if (now !== undefined && hasLate && (ino !== now.ino || dev !== now.dev)) {
      // What stands under another name too is not lost, and may be somebody's private file.
      if (nlink > 1n) throw foreignLeftover(path, 'it is a hard link to a file that has other names');
      // What is packed has no lines: a part of it stands behind the others as it is.
      const beginsLine = !isCompressed(old) && (fromBytes === 0 || byteAt(old, fromBytes - 1) === LF);
      appendMissing(target, { late: readFrom(old, fromBytes), beginsLine, atBytes });
    }
  } finally {
    closeSync(old);
  }
  unlinkSync(path);
  return true;
}

type Late = { readonly late: Buffer; readonly beginsLine: boolean; readonly atBytes: number };

function appendMissing(target: string, { late, beginsLine, atBytes }: Late): void {
  const fd = openSync(target, constants.O_RDWR | constants.O_APPEND | (constants.O_NOFOLLOW ?? 0));
  try {
    const since = readFrom(fd, atBytes, late.length + MEANWHILE_BYTES);
    const missing = missingFrom(late, since);
    const { size } = fstatSync(fd);
    const isLine = missing.length === late.length ? beginsLine : late[late.length - missing.length - 1] === LF;
    const needsLineEnd = isLine && size > 0 && byteAt(fd, size - 1) !== LF;
    const begun = since.equals(late.subarray(0, since.length)) ? since.length : 0;
    const wholeBytes = begun === 0 ? size : atBytes + late.subarray(0, begun).lastIndexOf(LF) + 1;
    const bytes = needsLineEnd ? Buffer.concat([Buffer.of(LF), missing]) : missing;
    if (missing.length > 0) appendOrUndo(fd, { bytes, size, wholeBytes });
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/**
 * What of the late bytes does not stand among those that came to the target since: a run may have been killed while it wrote them, or after.
 * Where that cannot be told whole lines come twice rather than not at all.
 */
export function missingFrom(late: Buffer, since: Buffer): Buffer {
  for (let at = since.indexOf(late); at !== -1; at = since.indexOf(late, at + 1))
    if (at === 0 || since[at - 1] === LF) return late.subarray(late.length);
  let common = 0;
  while (common < since.length && since[common] === late[common]) common += 1;
  return late.subarray(common === since.length ? common : late.subarray(0, common).lastIndexOf(LF) + 1);
}

function readFrom(fd: number, from: number, maxBytes = Infinity): Buffer {
  const bytes = Buffer.alloc(Math.max(0, Math.min(fstatSync(fd).size - from, maxBytes)));
  let got = 0;
  while (got < bytes.length) {
    const count = readSync(fd, bytes, got, bytes.length - got, from + got);
    if (count === 0) break;
    got += count;
  }
  return bytes.subarray(0, got);
}

function isCompressed(fd: number): boolean {
  const head = Buffer.alloc(MAGIC_BYTES);
  return detectCompression(head.subarray(0, readSync(fd, head, 0, MAGIC_BYTES, 0))) !== 'none';
}

function byteAt(fd: number, position: number): number | undefined {
  const byte = Buffer.alloc(1);
  return readSync(fd, byte, 0, 1, position) === 1 ? byte[0] : undefined;
}

type Append = { readonly bytes: Buffer; readonly size: number; readonly wholeBytes: number };

/** Where it fails, half a line would be in the way of what its producer writes next: it is taken back, unless something came after it. */
function appendOrUndo(fd: number, { bytes, size, wholeBytes }: Append): void {
  const state = { done: 0 };
  try {
    while (state.done < bytes.length) state.done += writeSync(fd, bytes, state.done, bytes.length - state.done);
  } catch (error) {
    if (fstatSync(fd).size === size + state.done) ftruncateSync(fd, wholeBytes);
    throw error;
  }
}
