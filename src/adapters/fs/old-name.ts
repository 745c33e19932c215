import { linkSync, unlinkSync } from 'node:fs';
import { err, ok, type Result } from '../../core/result.ts';
import type { FileFailure, FileStamp, KeptOld } from '../../ports/files.ts';
import { errorCode, toFileFailure } from './failure.ts';
import { bringOver } from './late-bytes.ts';
import { carriedLeftover, lookAtName } from './leftover.ts';
import type { NamesBeside, OldName } from './names-beside.ts';

/** Second names of a target's file, from before it is replaced until nothing more can come from it. */
export type OldNames = {
  readonly keep: (stamp: FileStamp, sizes: Omit<OldName, 'path' | 'inode'>) => Result<KeptOld, FileFailure>;
  /** After all of it was brought over. */
  readonly drop: () => void;
  /** Has names that another run left finished too. */
  readonly adopt: (olds: readonly OldName[]) => void;
  /** Brings over what was not, and removes the names. */
  readonly finish: () => Result<void, FileFailure>;
  /** One stands: whoever takes the lock next is to look for it. */
  readonly isOutstanding: () => boolean;
};

/** Where there are no hard links, or not for this file. */
const NO_LINKS = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK', 'EXDEV', 'EINVAL']);

export function createOldNames(path: string, target: string, names: Pick<NamesBeside, 'old'>): OldNames {
  const standing = new Map<string, OldName>();
  const adopt = (olds: readonly OldName[]): void => {
    for (const old of olds) standing.set(old.path, old);
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
          if (bringOver(target, old)) standing.delete(old.path);
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
