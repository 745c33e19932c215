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
  foreignLeftover,
  type HiddenNames,
  leftoverFailureOf,
  openLeftover,
  statName,
} from './leftovers.ts';
import { errorCode, toFileFailure } from './system.ts';

/** Hard links to a target's file, from just before it is replaced until nothing can be written to it any more. */
export type BackupLinks = {
  readonly keep: (stamp: FileStamp, sizes: Omit<BackupLink, 'path' | 'inode'>) => Result<KeptBackup, FileFailure>;
  /** Called when everything was carried over. */
  readonly drop: () => void;
  /** Adds links that another run left, to be finished too. */
  readonly adopt: (backups: readonly BackupLink[]) => void;
  /** Appends missed writes to the target, and removes the links. */
  readonly finish: () => Result<void, FileFailure>;
  /** A link remains, so the next run that takes the lock must look for it. */
  readonly isOutstanding: () => boolean;
};

/** The file system, or this file, does not support hard links. */
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
        const seen = statName(hasLink ? old.path : target);
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
          const leftover = leftoverFailureOf(error);
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
    // A link that no run knew of: the next run that takes the lock handles it.
    if (code === 'EEXIST') onLinked();
    if (!NO_LINKS.has(code)) throw error;
    return false;
  }
}

/** False: it remains, and the next run will find nothing to do for it. */
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
/** At most this much can be written to the target between its rename and this check. */
const MAX_RACE_BYTES = 1024 * 1024;

/**
 * Appends what was written to a file while it was being replaced to its replacement, and removes the backup link.
 * False: the target is gone and this is the only copy, so the link stays. Throws system errors, or that the link is not
 * the replaced file; the link stays then too.
 */
export function appendMissedWrites(target: string, { path, fromBytes, atBytes, inode }: BackupLink): boolean {
  const now = statSync(target, { bigint: true, throwIfNoEntry: false });
  const old = openLeftover(path, now);
  try {
    const { ino, dev, size, nlink } = fstatSync(old, { bigint: true });
    const hasMissed = size > fromBytes;
    // A copied folder has other inodes. If there is nothing to append, the link just goes.
    if (hasMissed && ino !== inode) throw foreignLeftover(path, 'it is not the file that was replaced');
    if (now === undefined && hasMissed && nlink === 1n) return false;
    // If both are one file, the rename never happened and nothing is missing.
    if (now !== undefined && hasMissed && (ino !== now.ino || dev !== now.dev)) {
      // A file with another name is not lost, and may be somebody's private file.
      if (nlink > 1n) throw foreignLeftover(path, 'it is a hard link to a file that has other names');
      // Compressed data has no lines: it is appended as it is.
      const beginsLine = !isCompressed(old) && (fromBytes === 0 || byteAt(old, fromBytes - 1) === LF);
      appendMissing(target, { missed: readFrom(old, fromBytes), beginsLine, atBytes });
    }
  } finally {
    closeSync(old);
  }
  unlinkSync(path);
  return true;
}

type MissedWrites = { readonly missed: Buffer; readonly beginsLine: boolean; readonly atBytes: number };

function appendMissing(target: string, { missed, beginsLine, atBytes }: MissedWrites): void {
  const fd = openSync(target, constants.O_RDWR | constants.O_APPEND | (constants.O_NOFOLLOW ?? 0));
  try {
    const since = readFrom(fd, atBytes, missed.length + MAX_RACE_BYTES);
    const missing = missingFrom(missed, since);
    const { size } = fstatSync(fd);
    const isLine = missing.length === missed.length ? beginsLine : missed[missed.length - missing.length - 1] === LF;
    const needsLineEnd = isLine && size > 0 && byteAt(fd, size - 1) !== LF;
    const begun = since.equals(missed.subarray(0, since.length)) ? since.length : 0;
    const wholeBytes = begun === 0 ? size : atBytes + missed.subarray(0, begun).lastIndexOf(LF) + 1;
    const bytes = needsLineEnd ? Buffer.concat([Buffer.of(LF), missing]) : missing;
    if (missing.length > 0) appendOrUndo(fd, { bytes, size, wholeBytes });
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/**
 * The part of the missed bytes that is not yet in the target, since a run may have been killed during or after the
 * append. If this cannot be decided, whole lines are duplicated rather than lost.
 */
export function missingFrom(missed: Buffer, since: Buffer): Buffer {
  for (let at = since.indexOf(missed); at !== -1; at = since.indexOf(missed, at + 1))
    if (at === 0 || since[at - 1] === LF) return missed.subarray(missed.length);
  let common = 0;
  while (common < since.length && since[common] === missed[common]) common += 1;
  return missed.subarray(common === since.length ? common : missed.subarray(0, common).lastIndexOf(LF) + 1);
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

/**
 * If it fails, half a line would corrupt what the producer writes next, so it is truncated again, unless something was
 * written after it.
 */
function appendOrUndo(fd: number, { bytes, size, wholeBytes }: Append): void {
  const state = { done: 0 };
  try {
    while (state.done < bytes.length) state.done += writeSync(fd, bytes, state.done, bytes.length - state.done);
  } catch (error) {
    if (fstatSync(fd).size === size + state.done) ftruncateSync(fd, wholeBytes);
    throw error;
  }
}
