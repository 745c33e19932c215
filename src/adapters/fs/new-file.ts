import { randomBytes } from 'node:crypto';
import { closeSync, constants, fchmodSync, fchownSync, fstatSync, openSync } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { err, ok } from '../../core/result.ts';
import type { Result } from '../../core/result.ts';
import type { FileFailure, PendingFile } from '../../ports/files.ts';
import { errorCode, toFileFailure } from './failure.ts';
import { describeNonFile } from './kind-of-file.ts';
import { followLinks } from './link-target.ts';
import { createPendingFile, removeTemporary } from './pending-file.ts';

/** A conversation is private unless its source was not. */
const PRIVATE_MODE = 0o600;
const PERMISSION_BITS = 0o777;

export type NewFile = {
  /** Where it will stand. */
  readonly path: string;
  /** Gets the mode and the owner of the file at this path. */
  readonly like: string | undefined;
  /** Has a file removed when the process ends; gives a function that forgets it. */
  readonly removeAtExit: (path: string) => () => void;
};

/** Begins a file that stands under another name until it is whole. */
export async function beginFile({ path, like, removeAtExit }: NewFile): Promise<Result<PendingFile, FileFailure>> {
  let failing = path;
  try {
    const is = await describeObstacle(path);
    if (is !== null) return err({ kind: 'not-a-file', path, is });
    const owner = like === undefined ? null : await ownerOf(like);
    failing = dirname(path); // from here on what is missing, or may not be written, is the folder
    const target = await followLinks(path);
    const temporary = join(dirname(target), `.compact-${process.pid}-${randomBytes(6).toString('hex')}.tmp`);
    const fd = openSync(temporary, 'wx', PRIVATE_MODE);
    try {
      if (owner !== null) giveTo(fd, owner);
    } catch (error) {
      closeSync(fd);
      removeTemporary(temporary);
      throw error;
    }
    return ok(createPendingFile({ path, target, temporary, fd, forget: removeAtExit(temporary) }));
  } catch (error) {
    return err(toFileFailure(error, { path: failing, what: 'write' }));
  }
}

/** What stands at a path that is no file; null: a file that may be replaced, or nothing. */
async function describeObstacle(path: string): Promise<string | null> {
  try {
    const is = describeNonFile(await stat(path));
    // A rename asks only the folder for permission; whoever made the file read-only meant the file.
    if (is === null) await access(path, constants.W_OK);
    return is;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null;
    throw error;
  }
}

type Owner = { readonly mode: number; readonly uid: number; readonly gid: number };

async function ownerOf(path: string): Promise<Owner | null> {
  try {
    const { mode, uid, gid } = await stat(path);
    return { mode: mode & PERMISSION_BITS, uid, gid };
  } catch (error) {
    // Without a model the file stays private.
    if (errorCode(error) !== null) return null;
    throw error;
  }
}

function giveTo(fd: number, { mode, uid, gid }: Owner): void {
  const own = fstatSync(fd);
  if (own.uid !== uid || own.gid !== gid) {
    try {
      fchownSync(fd, uid, gid);
    } catch (error) {
      // Only root may give files away; the mode is kept all the same.
      if (errorCode(error) === null) throw error;
    }
  }
  fchmodSync(fd, mode);
}
