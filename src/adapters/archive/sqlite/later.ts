import { statSync, existsSync, fsyncSync, rmSync, accessSync, constants, realpathSync, statfsSync } from 'node:fs';
import type { LaterEngine } from '../loaded-later.ts';
import { type Query, readUsedBytes, type Sql } from '../sql/query.ts';
import { SQLITE_CHECK } from './check.ts';
import { SQLITE_SEARCH } from './search.ts';
import { SQLITE_VECTORS, rebuildVectorIndex } from './vectors.ts';
import { dirname } from 'node:path';
import Database from 'better-sqlite3';
import type { Archive } from '../../../ports/archive.ts';
import { isFullDisk, orElse, syncFolder, tryTo, withOpenFile } from '../../../system/files.ts';
import { systemCode } from '../../../core/result.ts';
import { archiveError, toArchiveFailure } from '../failure.ts';
import { linkUnlessExists } from './create.ts';
import { readSchemaVersion, removeCopies } from './schema.ts';
import { unfinishedName } from './unfinished.ts';
import { env } from 'node:process';
import { linesIn, type RetentionEngine } from '../erase/erase.ts';
import { SQLITE } from './dialect.ts';
import type { TakeTurn } from './turns.ts';
import { loadVectors } from './sql.ts';

export function createSqliteLater(sql: Sql, place: Place): LaterEngine {
  return {
    check: SQLITE_CHECK,
    backup: createBackup(place.db),
    retention: createSqliteRetention(sql, place),
    search: SQLITE_SEARCH,
    vectors: SQLITE_VECTORS,
    // With the log, which exists only while a program has the archive open.
    fileBytes: () => {
      const parts = ['', '-wal'].map((ending) => statSync(place.db.name + ending, { throwIfNoEntry: false }));
      return parts.reduce((sum, part) => sum + (part?.size ?? 0), 0);
    },
  };
}

/** So many pages at once, between which signals are handled. */
const PAGES = 1000;

/**
 * Copies an archive while others write to it: as it is at the beginning. The copy gets its name when it is complete, was read back, and is on
 * disk; it is one file without a log.
 */
function createBackup(db: Database.Database): Archive['backup'] {
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

/** A deleted row leaves its words in an index until the index is merged. */
const MERGE_INDEXES = [
  "INSERT INTO message_search (message_search) VALUES ('optimize')",
  "INSERT INTO batch_search (batch_search) VALUES ('optimize')",
];
const HAS_VECTORS = 'SELECT 1 FROM vector_model';

type Place = { readonly db: Database.Database; readonly path: string; readonly takeTurn: TakeTurn };

/** `purge` rewrites the file, because its freed pages and its log still have the bytes of what was erased. */
function createSqliteRetention(sql: Sql, { db, path, takeTurn }: Place): RetentionEngine {
  return {
    idType: 'INTEGER',
    ids: '(SELECT value AS id FROM json_each(:ids))',
    deleteBlocks: async (query) => {
      await query(`DELETE FROM message_search WHERE rowid IN (${linesIn(SQLITE)})`);
      await query(`DELETE FROM lines WHERE id IN (${linesIn(SQLITE)})`);
      await query('DELETE FROM blocks WHERE compaction_id IN (SELECT id FROM erased_compactions)');
    },
    erase: (work) =>
      sql.transaction('write', async (query) => {
        if ((await query(HAS_VECTORS)).length > 0 && !loadVectors(query)) {
          const reason = 'it has vectors, and they can be removed only with sqlite-vec, which is not installed';
          throw archiveError({ kind: 'cannot-open', path, reason });
        }
        const erased = await work(query, null);
        for (const statement of MERGE_INDEXES) await query(statement);
        if (erased.vectors > 0) await rebuildVectorIndex(query);
        await checkRoom(query, path);
        return erased;
      }),
    purge: async () => {
      const release = await takeTurn();
      try {
        return await purge(db, sql.query, path);
      } finally {
        release();
      }
    },
  };
}

const HAS_UNPURGED = 'SELECT 1 FROM erasures WHERE is_purged <> 1';
const HAS_OLD_PAGES = 'SELECT 1 FROM erasures WHERE is_purged = 0';
const LAST_ERASURE = 'SELECT max(id) FROM erasures';
const MARK_REWRITTEN = 'UPDATE erasures SET is_purged = 2 WHERE is_purged = 0 AND id <= ?';
const MARK_PURGED = 'UPDATE erasures SET is_purged = 1 WHERE is_purged = 2 AND id <= ?';
/** Waiting longer would keep the command that finishes the work of a killed one. */
const PURGE_TIMEOUT_MS = 2000;

function isPurged(db: Database.Database): boolean {
  return db.prepare(HAS_UNPURGED).get() === undefined;
}

/** Rewrites the file without the bytes that erasures have freed, and empties the log. False: another program is using the archive. Throws if a disk is too full. */
async function purge(db: Database.Database, query: Query, path: string): Promise<boolean> {
  if (isPurged(db)) return true;
  removeCopies(db.name);
  const lastId = db.prepare<[], number>(LAST_ERASURE).pluck().get(); // another program may erase more meanwhile
  const timeoutMs = db.pragma('busy_timeout', { simple: true });
  db.pragma(`busy_timeout = ${PURGE_TIMEOUT_MS}`);
  try {
    if (db.prepare(HAS_OLD_PAGES).get() !== undefined) {
      await checkRoom(query, path);
      db.exec('VACUUM');
      db.prepare(MARK_REWRITTEN).run(lastId);
    }
    // Merges the write-ahead log into the file and empties it, unless a reader needs the old pages.
    const [merged] = db.pragma('wal_checkpoint(TRUNCATE)') as readonly { readonly busy: number }[];
    if (merged?.busy !== 0) return false;
    db.prepare(MARK_PURGED).run(lastId);
    return isPurged(db);
  } catch (error) {
    if (error instanceof Database.SqliteError && /^SQLITE_(BUSY|LOCKED)/.test(error.code)) return false;
    throw error;
  } finally {
    db.pragma(`busy_timeout = ${String(timeoutMs)}`);
  }
}

/** A folder on a disk, and the bytes that are free there. */
type Disk = { readonly folder: string; readonly device: number; readonly freeBytes: number };

/**
 * Throws an `ArchiveError` ('no-space') if the file cannot be rewritten: SQLite copies what is left of it to the folder for temporary files,
 * and from there into its log, beside the file, before it overwrites the file.
 */
export async function checkRoom(query: Query, path: string, findDisk: (folder: string) => Disk = readDisk) {
  const bytes = await readUsedBytes({ query, dialect: SQLITE });
  const disks = [findDisk(findTempFolder()), findDisk(dirname(realpathSync(path)))];
  for (const { folder, device, freeBytes } of disks) {
    const neededBytes = bytes * disks.filter((disk) => disk.device === device).length;
    if (freeBytes < neededBytes)
      throw archiveError({ kind: 'no-space', path, needs: { folder, neededBytes, freeBytes } });
  }
}

function readDisk(folder: string): Disk {
  const { bavail, bsize } = statfsSync(folder);
  return { folder, device: statSync(folder).dev, freeBytes: bavail * bsize };
}

/** In the order of SQLite (https://sqlite.org/tempfiles.html). */
function findTempFolder(): string {
  const folders = [env['SQLITE_TMPDIR'], env['TMPDIR'], '/var/tmp', '/usr/tmp', '/tmp'];
  const isUsable = (folder: string): boolean =>
    orElse(false, () => {
      accessSync(folder, constants.W_OK | constants.X_OK);
      return statSync(folder).isDirectory();
    });
  return folders.find((folder) => folder !== undefined && isUsable(folder)) ?? '.';
}
