import { chmodSync, constants, copyFileSync, existsSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { mayWrite, systemCode } from './file.ts';

/** A database that is not written to where it stands. */
export type ReadOnlyDatabase = {
  readonly db: Database.Database;
  /** What is open is a private copy, which may be brought up to date before it is read. */
  readonly isCopy: boolean;
  /** To be called when nothing is written any more: a copy loses its name, so that nothing is left of it however the process ends. */
  readonly seal: () => void;
  readonly close: () => void;
};

export type ReadOnlyOptions = {
  readonly busyTimeoutMs: number;
  /** Whether the database can be read as it is. */
  readonly isReadable: (db: Database.Database) => boolean;
};

/**
 * Opens a database whose file or folder may not be written. With a write-ahead log for its journal SQLite needs files beside it: where they are
 * not there already and cannot be made, or would be left behind, a copy in a temporary folder is opened, and also where it has to be changed to be
 * read. Nobody writes to the original then: whoever had it open would have those files.
 */
export function openReadOnly(path: string, { busyTimeoutMs, isReadable }: ReadOnlyOptions): ReadOnlyDatabase {
  const file = realpathSync(path);
  const isInUse = existsSync(`${file}-shm`);
  const inPlace = isInUse || !mayWrite(dirname(file)) ? openInPlace(file, busyTimeoutMs) : null;
  if (inPlace !== null && (isInUse || isReadable(inPlace.db))) return inPlace;
  inPlace?.close();
  return openCopy(file);
}

/** For reading alone, without a change to the file or to a log beside it. Null: not where it stands. */
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
      db.pragma('journal_mode = DELETE'); // takes the log in: from here on there is one file
      db.pragma('query_only = ON');
      try {
        remove();
      } catch (error) {
        if (systemCode(error) === null) throw error; // Windows keeps what is open: it goes when it is closed
      }
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
