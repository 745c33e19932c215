import { chmodSync, constants, copyFileSync, existsSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { mayWrite } from './file.ts';
import { tryTo } from '../../../system/files.ts';

/** A database that is not written to in place. */
export type ReadOnlyDatabase = {
  readonly db: Database.Database;
  /** A private copy is open, which may be migrated before it is read. */
  readonly isCopy: boolean;
  /**
   * Call this when nothing more will be written. A copy is then unlinked, so that it leaves nothing behind however the
   * process ends.
   */
  readonly seal: () => void;
  readonly close: () => void;
};

export type ReadOnlyOptions = {
  readonly busyTimeoutMs: number;
  /** Whether the database can be read without a migration. */
  readonly isReadable: (db: Database.Database) => boolean;
};

/**
 * Opens a database whose file or folder is read-only. With a write-ahead log, SQLite needs files beside it. If those do
 * not exist and cannot be created, or would be left behind, or if the database needs a migration, a copy in a temporary
 * folder is opened instead. Nobody is writing to the original then, because a writer would have created those files.
 */
export function openReadOnly(path: string, { busyTimeoutMs, isReadable }: ReadOnlyOptions): ReadOnlyDatabase {
  const file = realpathSync(path);
  const isInUse = existsSync(`${file}-shm`);
  const inPlace = isInUse || !mayWrite(dirname(file)) ? openInPlace(file, busyTimeoutMs) : null;
  if (inPlace !== null && (isInUse || isReadable(inPlace.db))) return inPlace;
  inPlace?.close();
  return openCopy(file);
}

/** Opens a database for reading only, without changing it or a log beside it. Null: that is not possible in place. */
export function openInPlace(file: string, busyTimeoutMs: number): ReadOnlyDatabase | null {
  const db = new Database(file, { readonly: true, fileMustExist: true, timeout: busyTimeoutMs });
  try {
    db.prepare('SELECT 1 FROM sqlite_schema').get();
    return { db, isCopy: false, seal: () => undefined, close: () => db.close() };
  } catch (error) {
    db.close();
    const isAboutPlace = error instanceof Database.SqliteError && /^SQLITE_(READONLY|CANTOPEN)/.test(error.code);
    if (!isAboutPlace) throw error;
    return null;
  }
}

/**
 * Opens a database for reading only, in place as long as SQLite can. If the files that SQLite needs beside it for that
 * were not there before, they are removed at the end, unless another process uses them by then.
 */
export function openUntouched(path: string, options: ReadOnlyOptions): ReadOnlyDatabase {
  const file = realpathSync(path);
  const hadLog = PARTS.some((part) => part !== '' && existsSync(file + part)) || existsSync(`${file}-shm`);
  if (hadLog || !mayWrite(dirname(file))) return openReadOnly(path, options);
  const opened = openInPlace(file, options.busyTimeoutMs);
  if (opened === null || !options.isReadable(opened.db)) {
    opened?.close();
    return openCopy(file);
  }
  const close = (): void => {
    opened.close();
    removeEmptyLog(file);
  };
  return { ...opened, close };
}

/** The last connection that could write removes the log; it is empty, so nothing is written. */
function removeEmptyLog(file: string): void {
  if (!mayWrite(file)) return;
  const last = new Database(file, { fileMustExist: true });
  try {
    last.prepare('SELECT 1 FROM sqlite_schema').get();
  } finally {
    last.close();
  }
}

const PARTS = ['', '-wal', '-journal'];

function openCopy(file: string): ReadOnlyDatabase {
  const folder = mkdtempSync(join(tmpdir(), 'compact-archive-'));
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  try {
    const copy = join(folder, 'archive.db');
    for (const part of PARTS.filter((one) => existsSync(file + one))) {
      copyFileSync(file + part, copy + part, constants.COPYFILE_FICLONE);
      chmodSync(copy + part, 0o600);
    }
    const db = new Database(copy, { fileMustExist: true });
    const seal = (): void => {
      db.pragma('journal_mode = DELETE'); // merges the log, so that there is one file
      db.pragma('query_only = ON');
      // Windows keeps open files; close() removes it.
      tryTo(() => remove());
    };
    const close = (): void => {
      db.close();
      remove();
    };
    return { db, isCopy: true, seal, close };
  } catch (error) {
    remove();
    throw error;
  }
}
