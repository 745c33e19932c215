import { existsSync, fsyncSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'better-sqlite3';
import type { Archive } from '../../../ports/archive.ts';
import { isFullDisk, syncFolder, tryTo, withOpenFile } from '../../../system/files.ts';
import { systemCode } from '../../../core/result.ts';
import { archiveError, toArchiveFailure } from '../failure.ts';
import { linkUnlessExists } from './create.ts';
import { readSchemaVersion } from './schema.ts';
import { unfinishedName } from './unfinished.ts';

/** So many pages at once, between which signals are handled. */
const PAGES = 1000;

/**
 * Copies an archive while others write to it: as it is at the beginning. The copy gets its name when it is complete, was read back, and is on
 * disk; it is one file without a log.
 */
export function createBackup(db: Database.Database): Archive['backup'] {
  return async (target, onProgress) => {
    if (existsSync(target)) refuse(target, EXISTS);
    const unfinished = unfinishedName(target, { ofAll: true });
    if (!tryTo(() => withOpenFile(unfinished, 'wx', () => undefined, 0o600)))
      refuse(target, { reason: 'no file can be created there', advice: 'Check the folder and its permissions.' });
    try {
      await copy(db, unfinished, onProgress);
      verify(unfinished, readSchemaVersion(db));
      withOpenFile(unfinished, 'r+', fsyncSync);
      if (!linkUnlessExists(unfinished, { target })) refuse(target, EXISTS);
      syncFolder(dirname(target));
    } catch (error) {
      // The archive itself may have room.
      const isFull = isFullDisk(systemCode(error)) || toArchiveFailure(error, unfinished)?.kind === 'no-space';
      throw isFull ? archiveError({ kind: 'unsupported', path: target, ...NO_SPACE }) : error;
    } finally {
      for (const ending of ['', '-wal', '-shm', '-journal']) rmSync(unfinished + ending, { force: true });
    }
  };
}

/** In a transaction, because a backup begins anew whenever another program has written something. */
async function copy(db: Database.Database, unfinished: string, onProgress: Parameters<Archive['backup']>[1]) {
  db.exec('BEGIN');
  try {
    db.prepare('SELECT count(*) FROM sqlite_schema').get(); // from here on, the transaction sees one state
    await db.backup(unfinished, {
      progress: ({ totalPages, remainingPages }) => {
        onProgress(totalPages - remainingPages, totalPages);
        return PAGES;
      },
    });
  } finally {
    db.exec('ROLLBACK');
  }
}

function verify(path: string, version: number): void {
  const backup = new Database(path, { fileMustExist: true });
  try {
    backup.pragma('journal_mode = DELETE');
    const found = backup.pragma('integrity_check(1)', { simple: true });
    if (found !== 'ok' || readSchemaVersion(backup) !== version) {
      const reason = `the copy of the archive does not read as it should (${String(found)}), so it was removed`;
      throw archiveError({ kind: 'damaged', path, reason });
    }
  } finally {
    backup.close();
  }
}

const NO_SPACE = { reason: 'no space is left for the copy', advice: 'Make room, or name a file elsewhere.' };
const EXISTS = { reason: 'there is a file of that name', advice: 'Name a new one.' };

function refuse(path: string, why: { readonly reason: string; readonly advice: string }): never {
  throw archiveError({ kind: 'unsupported', path, ...why });
}
