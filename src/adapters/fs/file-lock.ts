import { createHash } from 'node:crypto';
import { closeSync, constants, fchmodSync, openSync, readdirSync, statSync } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { err, ok } from '../../core/result.ts';
import type { Result } from '../../core/result.ts';
import type { FileFailure, FileLock } from '../../ports/files.ts';
import { errorCode, toFileFailure } from './failure.ts';
import { describeNonFile } from './kind-of-file.ts';
import { followLinks } from './link-target.ts';
import { beginFile } from './new-file.ts';
import { removeTemporary } from './pending-file.ts';

export type LockOptions = {
  readonly path: string;
  /** Has a file removed when the process ends; gives a function that removes it now. */
  readonly removeAtExit: (path: string) => () => void;
};

/** Whoever may write to the folder may take the lock, whoever left it behind. */
const ANYBODY = 0o666;
const MAX_TRIES = 20;

/**
 * Takes the right to write a path. Node has no locks of the system's, and SQLite does: the lock is SQLite's on an empty file beside the
 * target, so that it ends with the process whatever ends that. The file itself goes when the lock is given back.
 */
export async function lockFile({ path, removeAtExit }: LockOptions): Promise<Result<FileLock, FileFailure>> {
  let failing = path;
  try {
    const is = await describeObstacle(path);
    if (is !== null) return err({ kind: 'not-a-file', path, is });
    failing = dirname(path); // from here on what is missing, or may not be written, is the folder
    const target = await followLinks(path);
    const names = nameBeside(target);
    const lock = await takeLock(names.lock);
    if (lock === 'held') return err({ kind: 'held', path });
    // Whoever leaves a temporary file leaves its lock as well; a folder of many files is not searched for each of them.
    if (lock.isInherited) for (const leftover of names.leftovers()) removeTemporary(leftover);
    const remove = removeAtExit(names.lock);
    return ok({
      begin: (like) => beginFile({ path, target, temporary: names.temporary(), like, removeAtExit }),
      release: () => {
        // Removed while it is held, and once: who finds it free after that finds that it is another file by then, and tries again.
        remove();
        lock.end();
      },
    });
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

/** Names that tell whose they are; two targets of one folder have different ones. */
function nameBeside(target: string): {
  readonly lock: string;
  readonly temporary: () => string;
  readonly leftovers: () => readonly string[];
} {
  const folder = dirname(target);
  const key = createHash('sha256').update(basename(target)).digest('hex').slice(0, 12);
  const prefix = `.compact-${key}`;
  const isOurs = (name: string): boolean => name.startsWith(`${prefix}-`) && name.endsWith('.tmp');
  return {
    lock: join(folder, `${prefix}.lock`),
    temporary: () => join(folder, `${prefix}-${crypto.randomUUID().slice(0, 8)}.tmp`),
    leftovers: () =>
      readdirSync(folder)
        .filter(isOurs)
        .map((name) => join(folder, name)),
  };
}

/** Removes what a run that was killed left beside a path; nothing where another one is at work. */
export async function clearLeftovers(options: LockOptions): Promise<void> {
  if (!(await hasLockFile(options.path))) return;
  const locked = await lockFile(options);
  if (locked.ok) locked.value.release();
}

async function hasLockFile(path: string): Promise<boolean> {
  try {
    return inodeOf(nameBeside(await followLinks(path)).lock) !== null;
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

async function takeLock(file: string): Promise<TakenLock | 'held'> {
  const { default: Database } = await import('better-sqlite3');
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const isInherited = !makeEmpty(file);
    const before = inodeOf(file);
    if (before === null) continue;
    const database = new Database(file, { timeout: 0 });
    try {
      database.pragma('journal_mode = MEMORY'); // no journal beside it
      database.exec('BEGIN EXCLUSIVE');
      if (inodeOf(file) === before) return { isInherited, end: () => database.close() };
    } catch (error) {
      database.close();
      if (!(error instanceof Database.SqliteError)) throw error;
      if (error.code.startsWith('SQLITE_BUSY')) return 'held';
      // Its holder removed it meanwhile; else this file system has no locks, and then there is none to take.
      if (inodeOf(file) === before) return { isInherited, end: () => undefined };
      continue;
    }
    database.close();
  }
  return 'held';
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

function inodeOf(file: string): bigint | null {
  return statSync(file, { bigint: true, throwIfNoEntry: false })?.ino ?? null;
}
