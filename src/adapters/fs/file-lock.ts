import { accessSync, type BigIntStats, closeSync, constants, existsSync, fchmodSync, openSync } from 'node:fs';
import { access, lstat, readlink, realpath, stat } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join } from 'node:path';
import { err, ok, type Result } from '../../core/result.ts';
import type { FileFailure, FileLock } from '../../ports/files.ts';
import {
  carriedLeftover,
  describeForeign,
  foreignLeftover,
  type HiddenNames,
  hiddenNamesOf,
  lookAtName,
} from './leftovers.ts';
import { type BackupLinks, createBackupLinks } from './missed-writes.ts';
import { beginFile, removeTemporary } from './new-file.ts';
import { describeNonFile, errorCode, toFileFailure } from './system.ts';

export type LockOptions = {
  readonly path: string;
  /** Has a file removed when the process ends; gives a function that removes it now. */
  readonly removeAtExit: (path: string) => () => void;
};

/** Whoever may write to the folder may take the lock, whoever left it behind. */
const ANYBODY = 0o666;
const MAX_TRIES = 20;

/** What SQLite says where the file system has no locks. */
const NO_LOCKS = new Set(['SQLITE_IOERR_LOCK', 'SQLITE_IOERR_RDLOCK', 'SQLITE_IOERR_CHECKRESERVEDLOCK']);

/**
 * Takes the right to write a path. Node has no locks of the system's, and SQLite does: the lock is SQLite's on an empty file beside the
 * target, so that it ends with the process whatever ends that. The file itself goes when the lock is given back, unless there is something
 * that the next one must look for.
 */
export async function lockFile({ path, removeAtExit }: LockOptions): Promise<Result<FileLock, FileFailure>> {
  let failing = path;
  try {
    const is = await describeObstacle(path);
    if (is !== null) return err({ kind: 'not-a-file', path, is });
    failing = dirname(path); // from here on what is missing, or may not be written, is the folder
    const target = await followLinks(path);
    const names = hiddenNamesOf(target);
    const taken = await takeLock(names.lock, lookAtName(target));
    if (!taken.ok) return err(taken.error === 'held' ? { kind: 'held', path } : taken.error);
    const lock = taken.value;
    const backupLinks = createBackupLinks(path, target, names);
    // Whoever leaves something leaves its lock as well; a folder of many files is not searched for each of them.
    const tidied = tidyUnder(lock, { names, backupLinks });
    if (!tidied.ok) {
      lock.end();
      return tidied;
    }
    const remove = removeAtExit(names.lock);
    return ok({
      foundUnfinished: tidied.value.foundUnfinished,
      begin: (like, compression = 'none') =>
        beginFile({ path, target, temporary: names.temporary(), like, compression, removeAtExit, backupLinks }),
      release: () => {
        // Removed while it is held, and once: who finds it free after that finds that it is another file by then, and tries again.
        remove();
        if (backupLinks.isOutstanding()) tryMakeEmpty(names.lock);
        lock.end();
      },
    });
  } catch (error) {
    return err(carriedLeftover(error) ?? toFileFailure(error, { path: failing, what: 'write' }));
  }
}

type Tidying = { readonly names: HiddenNames; readonly backupLinks: BackupLinks };

/** Finishes and removes what a run that was killed left. What it throws has given the lock back. */
function tidyUnder(
  lock: TakenLock,
  { names, backupLinks }: Tidying,
): Result<{ readonly foundUnfinished: boolean }, FileFailure> {
  if (!lock.isInherited) return ok({ foundUnfinished: false });
  try {
    const { temporaries, backups } = names.findLeftovers();
    backupLinks.adopt(backups);
    const finished = backupLinks.finish();
    if (!finished.ok) return finished;
    for (const temporary of temporaries) removeTemporary(temporary);
    return ok({ foundUnfinished: temporaries.length > 0 });
  } catch (error) {
    lock.end();
    throw error;
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

/**
 * Finishes and removes what a run that was killed left beside a path; nothing where another one is at work. A failure: what came to the
 * path while it was replaced is not in it yet.
 */
export async function clearLeftovers(options: LockOptions): Promise<Result<void, FileFailure>> {
  if (!(await hasLockFile(options.path))) return ok(undefined);
  const locked = await lockFile(options);
  if (locked.ok) locked.value.release();
  const isTold = !locked.ok && (locked.error.kind === 'unfinished' || locked.error.kind === 'foreign-leftover');
  return isTold ? locked : ok(undefined);
}

async function hasLockFile(path: string): Promise<boolean> {
  try {
    return lookAtName(hiddenNamesOf(await followLinks(path)).lock) !== undefined;
  } catch (error) {
    // Where nothing can be looked at nothing can be removed.
    if (errorCode(error) === null) throw error;
    return false;
  }
}

type TakenLock = {
  /** The lock file stood there already: a run has not removed it. */
  readonly isInherited: boolean;
  readonly end: () => void;
};

async function takeLock(
  file: string,
  target: BigIntStats | undefined,
): Promise<Result<TakenLock, 'held' | FileFailure>> {
  const { default: Database } = await import('better-sqlite3');
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const isInherited = !makeEmpty(file);
    const stats = lookAtName(file);
    if (stats === undefined) continue;
    checkLockFile(file, stats, target);
    const before = stats.ino;
    let database: InstanceType<typeof Database> | null = null;
    try {
      // SQLite opens what may only be read as well, and then several have the lock. (Not tried by opening: closing would end this process's locks.)
      accessSync(file, constants.W_OK);
      database = new Database(file, { timeout: 0, fileMustExist: true });
      const held = database;
      // Asked through the descriptor that SQLite has: the name may lead to another file by now, and its journal would be switched.
      if (held.pragma('page_count', { simple: true }) !== 0) throw foreignLeftover(file, 'it is a database');
      held.pragma('journal_mode = MEMORY'); // no journal beside it
      held.exec('BEGIN EXCLUSIVE');
      if (inodeOf(file) === before) return ok({ isInherited, end: () => held.close() });
      held.close();
    } catch (error) {
      database?.close();
      const code = error instanceof Database.SqliteError ? error.code : null;
      if (code?.startsWith('SQLITE_BUSY') === true) return err('held');
      // Its holder removed it meanwhile.
      if (inodeOf(file) !== before) continue;
      if (code === null) return err(toFileFailure(error, { path: file, what: 'write' }));
      if (!NO_LOCKS.has(code)) return err({ kind: 'io', path: file, code });
      return ok({ isInherited, end: () => undefined });
    }
  }
  return err('held');
}

/** False: it is there already. */
function makeEmpty(file: string): boolean {
  try {
    const descriptor = openSync(file, 'wx', ANYBODY);
    fchmodSync(descriptor, ANYBODY);
    closeSync(descriptor);
    return true;
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
    return false;
  }
}

function tryMakeEmpty(file: string): void {
  try {
    makeEmpty(file);
  } catch (error) {
    // The lock must be given back all the same; what is left is found when a run is killed here.
    if (errorCode(error) === null) throw error;
  }
}

/** A lock file of ours is empty, has one name, and no log that SQLite would take into it. Throws a `ForeignLeftover`. */
function checkLockFile(file: string, stats: BigIntStats, target: BigIntStats | undefined): void {
  const problem = describeForeign(stats, target);
  if (problem !== null) throw foreignLeftover(file, problem);
  if (stats.size > 0n) throw foreignLeftover(file, 'it is not empty');
  if (stats.nlink > 1n) throw foreignLeftover(file, 'it is a hard link to a file that has other names');
  const log = ['-journal', '-wal', '-shm'].map((ending) => file + ending).find((name) => existsSync(name));
  if (log !== undefined) throw foreignLeftover(log, "it would be taken for the lock's log");
}

function inodeOf(file: string): bigint | null {
  return lookAtName(file)?.ino ?? null;
}

/** As many as Linux follows. */
const MAX_LINKS = 40;

/**
 * Where a path leads when links are followed, to a file that need not be there. Where names are not told apart by case or normalization it is
 * the name that the file has, on macOS and Windows; on Linux (folders with casefold), or for no file, it is the name that was given. Rejects
 * with the system's error.
 */
export async function followLinks(path: string): Promise<string> {
  let current = path;
  for (let links = 0; links <= MAX_LINKS; links += 1) {
    // The folder as it really is: `..` in a link's text counts from there.
    const folder = await realpath(dirname(current));
    current = join(folder, basename(current));
    const text = await readLink(current);
    if (text === null) return (await realName(current)) ?? current;
    current = isAbsolute(text) ? text : `${folder}/${text}`;
  }
  throw Object.assign(new Error(`too many links: ${path}`), { code: 'ELOOP', syscall: 'readlink' });
}

async function realName(path: string): Promise<string | null> {
  try {
    return await realpath(path);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null;
    throw error;
  }
}

async function readLink(path: string): Promise<string | null> {
  try {
    return (await lstat(path)).isSymbolicLink() ? await readlink(path) : null;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null;
    throw error;
  }
}
