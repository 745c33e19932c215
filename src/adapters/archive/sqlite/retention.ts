import { accessSync, constants, realpathSync, statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { env } from 'node:process';
import Database from 'better-sqlite3';
import { linesIn, type RetentionEngine } from '../erase/erase.ts';
import { archiveError } from '../failure.ts';
import { type Query, readUsedBytes, type Sql } from '../sql/query.ts';
import { SQLITE } from './dialect.ts';
import { removeCopies } from './schema.ts';
import type { TakeTurn } from './turns.ts';
import { rebuildVectorIndex } from './vectors.ts';
import { loadVectors } from './sql.ts';

/** A deleted row leaves its words in an index until the index is merged. */
const MERGE_INDEXES = [
  "INSERT INTO message_search (message_search) VALUES ('optimize')",
  "INSERT INTO batch_search (batch_search) VALUES ('optimize')",
];
const HAS_VECTORS = 'SELECT 1 FROM vector_model';

export type Place = { readonly db: Database.Database; readonly path: string; readonly takeTurn: TakeTurn };

/** `purge` rewrites the file, because its freed pages and its log still have the bytes of what was erased. */
export function createSqliteRetention(sql: Sql, { db, path, takeTurn }: Place): RetentionEngine {
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
    if (!truncateLog(db)) return false;
    db.prepare(MARK_PURGED).run(lastId);
    return isPurged(db);
  } catch (error) {
    if (error instanceof Database.SqliteError && /^SQLITE_(BUSY|LOCKED)/.test(error.code)) return false;
    throw error;
  } finally {
    db.pragma(`busy_timeout = ${String(timeoutMs)}`);
  }
}

/** Merges the write-ahead log into the file and empties it. False: a reader needs the old pages. */
function truncateLog(db: Database.Database): boolean {
  const [result] = db.pragma('wal_checkpoint(TRUNCATE)') as readonly { readonly busy: number }[];
  return result?.busy === 0;
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
  return folders.find((folder) => folder !== undefined && isUsable(folder)) ?? '.';
}

function isUsable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK | constants.X_OK);
    return statSync(folder).isDirectory();
  } catch {
    return false; // SQLite takes the next one too
  }
}
