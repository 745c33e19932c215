import { accessSync, type BigIntStats, constants, existsSync, fchmodSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { err, ok, type Result } from '../../core/result.ts';
import type { FileFailure, FileLock, RemoveAtExit } from '../../ports/files.ts';
import {
  describeNonFile,
  followLinks,
  makeFolder,
  orElse,
  readLink,
  statName,
  toFileFailure,
  withOpenFile,
  tryTo,
} from '../../system/files.ts';
import { describeForeign, foreignLeftover, type HiddenNames, hiddenNamesOf } from './leftovers.ts';
import { beginFile, removeTemporary } from './new-file.ts';
import { createSwap, type Swap } from './swap.ts';

export type LockOptions = {
  readonly path: string;
  /** A path that is a symbolic link is refused instead of followed. */
  readonly refusesLinks?: boolean | undefined;
  /** Creates the folder of the path, and those above it, if it is missing. */
  readonly makesFolder?: boolean | undefined;
  readonly removeAtExit: RemoveAtExit;
};

/** Anyone who may write to the folder may take the lock, whoever created the file. */
const ANYBODY = 0o666;
const MAX_TRIES = 20;

/** SQLite's error codes on file systems without locks. */
const NO_LOCKS = new Set(['SQLITE_IOERR_LOCK', 'SQLITE_IOERR_RDLOCK', 'SQLITE_IOERR_CHECKRESERVEDLOCK']);

/**
 * Takes the exclusive right to write a path. Node offers no system locks but SQLite does, so this locks an empty SQLite
 * file beside the target; the lock ends with the process, however that ends. Releasing the lock removes the file,
 * unless leftovers remain for the next run to handle.
 */
export async function lockFile({
  path,
  refusesLinks = false,
  makesFolder = false,
  removeAtExit,
}: LockOptions): Promise<Result<FileLock, FileFailure>> {
  let failing = path;
  try {
    const is = describeObstacle(path);
    if (is !== null) return err({ kind: 'not-a-file', path, is });
    failing = dirname(path); // from here on, a missing or read-only path means the folder
    if (makesFolder) makeFolder(dirname(path));
    const target = refusesLinks ? join(realpathSync.native(dirname(path)), basename(path)) : followLinks(path);
    if (refusesLinks && readLink(target) !== null) return err({ kind: 'not-a-file', path, is: 'a symbolic link' });
    const names = hiddenNamesOf(target);
    const taken = await takeLock(names.lock, statName(target));
    if (!taken.ok) return err(taken.error === 'held' ? { kind: 'held', path } : taken.error);
    const lock = taken.value;
    // A run that ends in the middle of a swap leaves its lock file too, so that the next one looks for what it left.
    const onExit: { removeLock: ReturnType<RemoveAtExit> } = { removeLock: () => undefined };
    const swap = createSwap(path, target, {
      names,
      onBegun: () => onExit.removeLock('keep'),
      onEnded: () => {
        onExit.removeLock = removeAtExit(names.lock);
      },
    });
    // A run that leaves files also leaves its lock file, so the folder is only searched where a lock file was found.
    const foundUnfinished = cleanUp(lock, names, swap);
    if (!foundUnfinished.ok) {
      lock.end();
      return foundUnfinished;
    }
    onExit.removeLock = removeAtExit(names.lock);
    return ok({
      foundUnfinished: foundUnfinished.value,
      begin: (like, compression = 'none') =>
        beginFile({ path, target, temporary: names.temporary(), like, compression, removeAtExit, swap }),
      moveAway: swap.moveAway,
      release: () => {
        // Removed once, while the lock is held: a process that gets the lock afterwards sees a different file and tries
        // again.
        onExit.removeLock(swap.isOutstanding() ? 'keep' : undefined);
        lock.end();
      },
    });
  } catch (error) {
    return err(toFileFailure(error, { path: failing, what: 'write' }));
  }
}

/** Finishes and removes what a killed run left. False: it left nothing. Releases the lock if it throws. */
function cleanUp(lock: TakenLock, names: HiddenNames, swap: Swap): Result<boolean, FileFailure> {
  if (!lock.isInherited) return ok(false);
  try {
    const { temporaries } = names.findLeftovers();
    // First the second name of a file that has just got its own: healing looks at how many it has.
    for (const temporary of temporaries) removeTemporary(temporary);
    swap.adopt();
    const finished = swap.heal();
    return finished.ok ? ok(temporaries.length > 0) : finished;
  } catch (error) {
    lock.end();
    throw error;
  }
}

/** What is at a path that cannot be replaced ("a folder"); null: a writable file, or nothing. */
function describeObstacle(path: string): string | null {
  const stats = orElse(undefined, () => statSync(path), ['ENOENT']);
  const is = stats === undefined ? null : describeNonFile(stats);
  // A rename only needs permission for the folder, but a read-only file should not be replaced.
  if (stats !== undefined && is === null) tryTo(() => accessSync(path, constants.W_OK), ['ENOENT']);
  return is;
}

/**
 * Finishes and removes what a killed run left beside a path; does nothing while another run holds the lock. Fails if
 * writes that the replaced file received are still missing from the path.
 */
export async function clearLeftovers(options: LockOptions): Promise<Result<void, FileFailure>> {
  // What cannot be looked at cannot be removed either.
  const hasLockFile = orElse(false, () => statName(hiddenNamesOf(followLinks(options.path)).lock) !== undefined);
  if (!hasLockFile) return ok(undefined);
  const locked = await lockFile(options);
  if (locked.ok) locked.value.release();
  const isReported = !locked.ok && (locked.error.kind === 'unfinished' || locked.error.kind === 'foreign-leftover');
  return isReported ? locked : ok(undefined);
}

type TakenLock = {
  /** The lock file existed already, so an earlier run did not remove it. */
  readonly isInherited: boolean;
  readonly end: () => void;
};

async function takeLock(
  file: string,
  target: BigIntStats | undefined,
): Promise<Result<TakenLock, 'held' | FileFailure>> {
  const { default: Database } = await import('better-sqlite3');
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const isInherited = !tryTo(() => withOpenFile(file, 'wx', (fd) => fchmodSync(fd, ANYBODY), ANYBODY), ['EEXIST']);
    const stats = statName(file);
    if (stats === undefined) continue;
    checkLockFile(file, stats, target);
    const before = stats.ino;
    let database: InstanceType<typeof Database> | null = null;
    try {
      // SQLite would open a read-only file too, and several processes would get the lock. (Not tested by opening the
      // file, because closing it would drop this process's locks.)
      accessSync(file, constants.W_OK);
      database = new Database(file, { timeout: 0, fileMustExist: true });
      const held = database;
      // Asked through SQLite's own descriptor: the name may lead to another database by now, and its journal mode would
      // be changed.
      if (held.pragma('page_count', { simple: true }) !== 0) throw foreignLeftover(file, 'it is a database');
      held.pragma('journal_mode = MEMORY'); // no journal beside it
      held.exec('BEGIN EXCLUSIVE');
      if (statName(file)?.ino === before) return ok({ isInherited, end: () => held.close() });
      held.close();
    } catch (error) {
      database?.close();
      const code = error instanceof Database.SqliteError ? error.code : null;
      if (code?.startsWith('SQLITE_BUSY') === true) return err('held');
      // The holder removed the file meanwhile.
      if (statName(file)?.ino !== before) continue;
      if (code === null) return err(toFileFailure(error, { path: file, what: 'write' }));
      if (!NO_LOCKS.has(code)) return err({ kind: 'io', path: file, code });
      return ok({ isInherited, end: () => undefined });
    }
  }
  return err('held');
}

/** Our lock file is empty, has one name, and no log that SQLite would replay into it. Throws a `ForeignLeftover`. */
function checkLockFile(file: string, stats: BigIntStats, target: BigIntStats | undefined): void {
  const problem = describeForeign(stats, target);
  if (problem !== null) throw foreignLeftover(file, problem);
  if (stats.size > 0n) throw foreignLeftover(file, 'it is not empty');
  if (stats.nlink > 1n) throw foreignLeftover(file, 'it is a hard link to a file that has other names');
  const log = ['-journal', '-wal', '-shm'].map((ending) => file + ending).find((name) => existsSync(name));
  if (log !== undefined) throw foreignLeftover(log, "SQLite would read it as the lock's log");
}
