import { hash } from 'node:crypto';
import { constants, fstatSync, linkSync, statSync, unlinkSync } from 'node:fs';
import { err, ok, type Result } from '../../core/result.ts';
import type { FileFailure, FileLock, FileStamp, MovedFile } from '../../ports/files.ts';
import {
  carriedFileFailure,
  errorCode,
  isSameFile,
  NO_FOLLOW,
  statName,
  toFileFailure,
  withOpenFile,
  tryTo,
  moveFile,
} from '../../system/files.ts';
import {
  appendLate,
  isWhole,
  readFrom,
  foreignLeftover,
  type HiddenNames,
  type LateFile,
  type NewFile,
  type OldFile,
  withLeftover,
} from './leftovers.ts';
import { findWriter } from './open-elsewhere.ts';

/**
 * Puts a new file in the place of one that other programs may write at any moment. Node cannot exchange two names, and a rename over a file
 * that another program has just put there would lose it without a trace. So the old file is moved aside, and the new one is linked to the free
 * name, which fails if another file appeared: nothing is ever covered. The price is a moment without a file, some 20 microseconds. A program
 * that appends in that moment makes a file of its own: it is kept, and joined to the old one. Whoever takes the lock next heals a kill there.
 */
export type Swap = {
  /** As `PendingFile.takePlace`. */
  readonly takePlace: (
    temporary: string,
    expected: FileStamp | null,
    facts: { readonly isDocument: boolean; readonly ours: NewFile; readonly onMoved?: (() => void) | undefined },
  ) => Result<MovedFile | null | 'taken', FileFailure>;
  /** As `FileLock.moveAway`. */
  readonly moveAway: FileLock['moveAway'];
  /** Takes over what ended runs left. */
  readonly adopt: () => void;
  /** Finishes swaps that were not finished: those of ended runs, and this one's after an error. */
  readonly heal: () => Result<void, FileFailure>;
  /** Something remains, so the next run that takes the lock must look for it. */
  readonly isOutstanding: () => boolean;
};

/** A program that puts a new file in place each time would otherwise keep us here. */
const MAX_TRIES = 100;

/** No new file takes its place. */
const NOTHING: NewFile = { inode: 0n, sizeBytes: 0, mtimeNs: 0n, mark: '0000000000000000' };

/** `brought`: how many bytes are at the end of the target already; null: a killed run may have brought some. */
type StandingLate = { readonly late: LateFile; brought: number | null };

type SwapOptions = {
  readonly names: HiddenNames;
  /** Called before a file is moved aside, and when it has its name again or is no longer needed. */
  readonly onBegun: () => void;
  readonly onEnded: () => void;
  /** How often a file is put back while others come to its name. */
  readonly maxTries?: number;
};

export function createSwap(
  path: string,
  target: string,
  { names, onBegun, onEnded, maxTries = MAX_TRIES }: SwapOptions,
): Swap {
  const standing: { olds: OldFile[]; lates: StandingLate[] } = { olds: [], lates: [] };
  const forget = (old: OldFile): void => {
    standing.olds = standing.olds.filter((one) => one !== old);
  };
  const discard = (old: OldFile): void => {
    removeName(old.path);
    forget(old);
    onEnded();
  };

  /** Puts the old file back. Other files that stand at its name until then are joined to its end, in the order in which they came. */
  const putBack = (old: OldFile): void => {
    // Another machine without a lock in common finished this swap, and may have put a file of its own there since.
    if (statName(old.path) === undefined) {
      forget(old);
      onEnded();
      return;
    }
    const since = old.sizeBytes;
    let isSettled = false;
    for (const one of standing.lates) bring(old.path, one, since);
    for (let tries = 0; tries < maxTries && !isSettled; tries += 1) {
      const there = statName(target);
      isSettled = there !== undefined && there.ino === statName(old.path)?.ino;
      if (isSettled) break;
      const late = there === undefined ? null : setAside(old, there.ino);
      // A document is whole: what another program wrote at this name since is what it wants there.
      if (late !== null && old.isDocument && !isExactly(late.path, old.ours) && isWhole(late.path)) {
        if (giveName(late.path, target) === 'taken') removeName(late.path);
        isSettled = true;
        break;
      }
      if (late !== null) {
        const one: StandingLate = { late, brought: 0 };
        standing.lates.push(one);
        bring(old.path, one, since);
      }
      isSettled = giveName(old.path, target) === 'given';
    }
    // It may be the only copy.
    if (!isSettled) throw foreignLeftover(old.path, 'its name is taken again and again');
    discard(old);
    finishLates();
  };

  /** Null: nothing stands at the target any more. */
  const setAside = (old: OldFile, inode: bigint): LateFile | null => {
    const turn = standing.lates.length;
    const nameFor = (at: string, seen: bigint): LateFile =>
      names.late({ fromBytes: isNewFile(at, old.ours) ? old.ours.sizeBytes : 0, inode: seen }, turn);
    const guess = nameFor(target, inode);
    if (!moveName(target, guess.path)) return null;
    // Another file may have come to the name in between. Under the hidden name nobody replaces it.
    const known = nameFor(guess.path, statName(guess.path)?.ino ?? inode);
    if (known.path !== guess.path) moveFile(guess.path, known.path);
    return known;
  };

  /** Appends what came to a late file to another one. False: there is no such file, so the late one stays. */
  const bring = (to: string, one: StandingLate, since: number): boolean => {
    const brought = appendLate(to, one, since);
    if (brought === null) return false;
    one.brought = brought;
    return true;
  };

  /** A program may still have one of them open: then it stays for the next run. If none has, what is there now is all. */
  const finishLates = (): void => {
    standing.lates = standing.lates.filter((one) => {
      const isTarget = statName(one.late.path)?.ino === statName(target)?.ino;
      if (!isTarget && (mayBeOpenElsewhere(one.late.path) || !bring(target, one, 0))) return true;
      removeName(one.late.path);
      return false;
    });
  };

  /** Without any other file, the newest that was set aside is what belongs at the name. */
  const restoreLate = (): void => {
    if (standing.olds.length > 0 || statName(target) !== undefined) return;
    const newest = standing.lates.findLast(({ late }) => late.fromBytes === 0 && statName(late.path) !== undefined);
    if (newest !== undefined && giveName(newest.late.path, target) === 'given')
      standing.lates = standing.lates.filter((one) => one !== newest);
  };

  const healOld = (old: OldFile): void => {
    const there = statName(target);
    withLeftover(old.path, there, () => undefined);
    const seen = statSync(old.path, { bigint: true });
    const isBack = isSameFile(there, seen);
    const hasNew = there !== undefined && isNewFile(target, old.ours);
    const isSameSize = Number(seen.size) === old.sizeBytes;
    const isCopied = seen.ino !== old.inode; // a copied folder has other inodes, and may have other times
    const isUnchanged = isSameSize && (isCopied || seen.mtimeNs === old.mtimeNs);
    if (isBack) return discard(old);
    // What a program writes to it later is brought back by the next run.
    if (mayBeOpenElsewhere(old.path)) return;
    // Once our file had the name, its user may have moved or removed it.
    if (isUnchanged && (old.isNamed || hasNew)) return discard(old);
    if (isCopied && there !== undefined) throw foreignLeftover(old.path, 'it is not the file that was replaced');
    // A file with another name is not lost, and may be somebody's private file: nothing is copied from it.
    const isJustMissing = there === undefined && isUnchanged && standing.lates.length === 0;
    if (seen.nlink > 1n && !isJustMissing)
      throw foreignLeftover(old.path, 'it is a hard link to a file that has other names');
    const newest = standing.lates.findLast(({ late }) => late.fromBytes === 0 && isWhole(late.path));
    if (old.isDocument && newest !== undefined && there === undefined) {
      giveName(newest.late.path, target);
      standing.lates = standing.lates.filter((one) => one !== newest);
      return discard(old);
    }
    if (!old.isNamed || there === undefined || hasNew) return putBack(old);
    // Another program replaced our file, too: what came to the old one follows.
    const fromBytes = Number(seen.size) >= old.sizeBytes ? old.sizeBytes : 0;
    if (!old.isDocument) appendLate(target, { late: { ...old, fromBytes }, brought: null }, 0);
    discard(old);
  };

  const attempt = <T>(work: () => T): Result<T, FileFailure> => {
    const kept = standing.olds[0]?.path ?? standing.lates[0]?.late.path ?? null;
    try {
      return ok(work());
    } catch (error) {
      const leftover = carriedFileFailure(error);
      if (leftover !== null) return err(leftover);
      const because = toFileFailure(error, { path, what: 'write' });
      return err(kept === null ? because : { kind: 'unfinished', path, keptAs: kept, because });
    }
  };

  /** Null: something else stands there, or it changed; it is where it was. */
  const moveAside = (expected: FileStamp, facts: Pick<OldFile, 'isDocument' | 'ours'>): OldFile | null => {
    const { sizeBytes, mtimeNs, inode } = expected;
    const old = names.old({ ...facts, isNamed: false, sizeBytes, mtimeNs, inode });
    onBegun();
    if (!moveName(target, old.path)) {
      onEnded();
      return null;
    }
    standing.olds.push(old);
    const seen = statName(old.path);
    const isIt = seen?.ino === inode && seen.dev === expected.device;
    if (isIt && Number(seen.size) === sizeBytes && seen.mtimeNs === mtimeNs) return old;
    putBack(old);
    return null;
  };

  const asMoved = (old: OldFile): MovedFile => ({
    path: old.path,
    putBack: () => attempt(() => putBack(old)),
    drop: () => {
      // If it remains, the next run that takes the lock finishes this.
      if (!tryTo(() => removeName(old.path))) return false;
      forget(old);
      onEnded();
      return true;
    },
  });

  return {
    takePlace: (temporary, expected, { onMoved, ...facts }) =>
      attempt(() => {
        const moved = expected === null ? null : moveAside(expected, facts);
        if (expected !== null && moved === null) return 'taken';
        if (moved !== null) onMoved?.();
        if (giveName(temporary, target) === 'taken') {
          if (moved !== null) putBack(moved);
          return 'taken';
        }
        if (moved === null) return null;
        const old = names.old({ ...moved, isNamed: true });
        moveFile(moved.path, old.path);
        standing.olds = standing.olds.map((one) => (one === moved ? old : one));
        return asMoved(old);
      }),
    moveAway: (expected, { isDocument }) =>
      attempt(() => {
        const old = moveAside(expected, { isDocument, ours: NOTHING });
        return old === null ? null : asMoved(old);
      }),
    adopt: () => {
      const { olds, lates } = names.findLeftovers();
      standing.olds.push(...olds);
      standing.lates.push(...lates.map((late) => ({ late, brought: null })));
    },
    heal: () =>
      attempt(() => {
        for (const old of standing.olds) healOld(old);
        restoreLate();
        finishLates();
      }),
    isOutstanding: () => standing.olds.length + standing.lates.length > 0,
  };
}

/** Under a hidden name nobody opens a file any more, so if no program has it open now, nothing comes to it. A search without an end proves nothing. */
function mayBeOpenElsewhere(path: string): boolean {
  const seen = statName(path);
  return seen !== undefined && findWriter({ inode: seen.ino, device: seen.dev }) !== null;
}

/** False: there is no such file. */
function moveName(from: string, to: string): boolean {
  return tryTo(() => moveFile(from, to), ['ENOENT']);
}

/**
 * Moves a file to a name that must be free. Where a file can have no second name, it is renamed if the name is free, and a file that appears
 * there in between would be lost.
 */
function giveName(from: string, to: string): 'given' | 'taken' {
  try {
    linkSync(from, to);
  } catch (error) {
    const code = errorCode(error);
    if (code === null) throw error;
    if (code === 'EEXIST' || statName(to) !== undefined) return 'taken';
    moveFile(from, to);
    return 'given';
  }
  removeName(from);
  return 'given';
}

export function removeName(path: string): void {
  tryTo(() => unlinkSync(path), ['ENOENT']);
}

const MARK_BYTES = 4096;

/** The facts by which a new file is recognized: a program that writes it anew changes its first or its last bytes. */
export function describeNew(path: string): NewFile {
  return withOpenFile(path, constants.O_RDONLY | NO_FOLLOW, (fd) => {
    const { ino: inode, size, mtimeNs } = fstatSync(fd, { bigint: true });
    return { inode, sizeBytes: Number(size), mtimeNs, mark: markOf(fd, Number(size)) };
  });
}

function markOf(fd: number, sizeBytes: number): string {
  const head = readFrom(fd, 0, Math.min(sizeBytes, MARK_BYTES));
  const start = Math.max(0, sizeBytes - MARK_BYTES);
  return hash('sha256', Buffer.concat([head, readFrom(fd, start, sizeBytes - start)])).slice(0, 16);
}

/** Whether the file at a name begins with what we put there. */
function isNewFile(path: string, ours: NewFile): boolean {
  const seen = statName(path);
  if (seen?.ino !== ours.inode || Number(seen.size) < ours.sizeBytes || !seen.isFile()) return false;
  return withOpenFile(path, constants.O_RDONLY | NO_FOLLOW, (fd) => markOf(fd, ours.sizeBytes) === ours.mark);
}

/** Whether nobody wrote to our new file since it got its name. */
function isExactly(path: string, { inode, sizeBytes, mtimeNs }: NewFile): boolean {
  const seen = statName(path);
  return seen?.ino === inode && Number(seen.size) === sizeBytes && seen.mtimeNs === mtimeNs;
}
