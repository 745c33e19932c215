import { closeSync, fchmodSync, fchownSync, fstatSync, openSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { err, ok } from '../../core/result.ts';
import type { Result } from '../../core/result.ts';
import type { FileFailure, PendingFile } from '../../ports/files.ts';
import { errorCode, toFileFailure } from './failure.ts';
import { createPendingFile, removeTemporary } from './pending-file.ts';

/** A conversation is private unless its source was not. */
const PRIVATE_MODE = 0o600;
const PERMISSION_BITS = 0o777;

export type NewFile = {
  /** As messages call it. */
  readonly path: string;
  /** Where it will stand: `path` with its links followed. */
  readonly target: string;
  /** Its name until then, in the same folder. */
  readonly temporary: string;
  /** Gets the mode and the owner of the file at this path. */
  readonly like: string | undefined;
  /** Has a file removed when the process ends; gives a function that removes it now, if it is there. */
  readonly removeAtExit: (path: string) => () => void;
};

/** Begins a file that stands under another name until it is whole. */
export async function beginFile({
  path,
  target,
  temporary,
  like,
  removeAtExit,
}: NewFile): Promise<Result<PendingFile, FileFailure>> {
  try {
    const owner = like === undefined ? null : await ownerOf(like);
    // What is written goes to its end, also when it has its name and its producer writes to it again.
    const fd = openSync(temporary, 'ax', PRIVATE_MODE);
    try {
      if (owner !== null) giveTo(fd, owner);
    } catch (error) {
      closeSync(fd);
      removeTemporary(temporary);
      throw error;
    }
    return ok(createPendingFile({ path, target, temporary, fd, remove: removeAtExit(temporary) }));
  } catch (error) {
    // What is missing, or may not be written, is the folder.
    return err(toFileFailure(error, { path: dirname(path), what: 'write' }));
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
  const isOthers = own.uid !== uid || own.gid !== gid;
  // Only root may give files away; to a group, its members may, and the others of it are to keep their file.
  if (isOthers && !tryGive(fd, uid, gid)) tryGive(fd, own.uid, gid);
  fchmodSync(fd, mode);
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
