import { accessSync, constants, lstatSync, mkdtempSync, realpathSync, rmdirSync, type Stats, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { getuid } from 'node:process';
import { err, findRemedy, ok, type Result, systemCode } from '../../../core/result.ts';
import type { ArchiveFailure } from '../../../ports/archive.ts';
import { isFullDisk, makeFolder, orElse, tryTo } from '../../../system/files.ts';

/** A file that SQLite may open. */
export type ArchiveFile = {
  /** Absolute. */
  readonly path: string;
  /** Whether SQLite can write to it and beside it. */
  readonly isWritable: boolean;
};

/**
 * Finds or creates the file of an archive. `make` creates a missing one, after its folders (0700), and returns the
 * reason if it cannot; null: nothing is created. An empty file is not ours and is refused. An existing file is not
 * opened here, because closing it would drop the locks that SQLite holds on it for other connections of this process.
 */
export function prepareFile(
  path: string,
  make: ((file: string) => string | null) | null,
): Result<ArchiveFile, ArchiveFailure> {
  const cannotOpen = (reason: string): Result<never, ArchiveFailure> => err({ kind: 'cannot-open', path, reason });
  const file = resolve(path);
  // better-sqlite3 trims the name, and would open another file.
  if (file !== file.trim()) return cannotOpen('its name ends in white space');
  try {
    const stats = statSync(file, { throwIfNoEntry: false });
    if (stats === undefined) {
      if (make === null) return cannotOpen('it does not exist');
      makeFolder(dirname(file));
      const problem = make(file);
      return problem === null ? ok({ path: file, isWritable: true }) : cannotOpen(problem);
    }
    if (!stats.isFile()) return cannotOpen(stats.isDirectory() ? 'it is a folder' : 'it is not a regular file');
    if (stats.size === 0) return err({ kind: 'not-ours', path, reason: 'it is empty' });
    accessSync(file, constants.R_OK);
    const isWritable = mayWrite(file) && mayWrite(dirname(realpathSync(file)));
    if (make !== null && !isWritable)
      return cannotOpen('it or its folder is read-only, so nothing can be stored in it');
    return ok({ path: file, isWritable });
  } catch (error) {
    const code = systemCode(error);
    if (code === null) throw error;
    return err(toPlaceFailure(code, path));
  }
}

/** Permissions and space may change later, so a run that stores nothing ignores these. */
const PERMISSION_CODES: ReadonlySet<string> = new Set(['EACCES', 'EPERM', 'EROFS']);

/**
 * Why no archive could be created at this path; null: it could, or one exists. Creates and removes an empty folder in
 * the nearest existing folder, since only that detects a file system such as /proc. `isLenient` ignores missing
 * permissions and full disks.
 */
export function findPlaceProblem(path: string, { isLenient }: { readonly isLenient: boolean }): ArchiveFailure | null {
  if (archiveExists(path)) return null;
  try {
    let nearest = dirname(resolve(path));
    while (statSync(nearest, { throwIfNoEntry: false }) === undefined) nearest = dirname(nearest);
    rmdirSync(mkdtempSync(join(nearest, '.compact-')));
    return null;
  } catch (error) {
    const code = systemCode(error);
    if (code === null) throw error;
    if (isLenient && (PERMISSION_CODES.has(code) || isFullDisk(code))) return null;
    return toPlaceFailure(code, path);
  }
}

/** Whether there is anything to open. A path that cannot be looked at counts, so that opening it reports why. */
export function archiveExists(path: string): boolean {
  return orElse(true, () => statSync(resolve(path), { throwIfNoEntry: false }) !== undefined);
}

/** Checks permissions and read-only file systems. */
export function mayWrite(path: string): boolean {
  return tryTo(() => accessSync(path, constants.W_OK));
}

function toPlaceFailure(code: string, path: string): ArchiveFailure {
  if (isFullDisk(code)) return { kind: 'no-space', path };
  return { kind: 'cannot-open', path, ...(findRemedy(code) ?? { reason: describe(code) }) };
}

function describe(code: string): string {
  if (code === 'EACCES' || code === 'EPERM') return `permission denied (${code})`;
  if (code === 'EROFS') return `the file system is read-only (${code})`;
  if (code === 'ENOENT') return 'a folder of its path does not exist and cannot be created';
  if (code === 'ENOTDIR' || code === 'EEXIST') return 'a part of its path is a file, not a folder';
  return `the system says ${code}`;
}

/** The files that SQLite reads and writes beside a database. */
const LOG_ENDINGS = ['-journal', '-wal', '-shm'];
const WRITABLE_BY_OTHERS = 0o022;

/**
 * Why a log beside an archive must not be used; null: SQLite or this program made them all. A planted log could
 * overwrite one of the user's files (a hard link), block this process (a named pipe), or replace pages of the archive.
 */
export function findForeignLog(path: string): string | null {
  const file = realpathSync(path);
  const archive = statSync(file);
  for (const ending of LOG_ENDINGS) {
    const stats = lstatSync(file + ending, { throwIfNoEntry: false });
    const problem = stats === undefined ? null : describeProblem(stats, archive);
    if (problem !== null)
      return `${basename(file)}${ending} beside it ${problem}; if you did not put it there, remove it`;
  }
  return null;
}

function describeProblem(log: Stats, archive: Stats): string | null {
  if (log.isSymbolicLink()) return 'is a symbolic link';
  if (!log.isFile()) return 'is not a regular file';
  if (log.nlink > 1) return 'is a file that has another name too';
  // Someone who may write to the archive needs no log to change it.
  const isShared = (archive.mode & WRITABLE_BY_OTHERS) !== 0;
  const isOwn = log.uid === getuid?.() || log.uid === archive.uid || log.uid === 0;
  return isShared || isOwn ? null : `belongs to another user (uid ${log.uid})`;
}
