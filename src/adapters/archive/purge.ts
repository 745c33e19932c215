import Database from 'better-sqlite3';
import { checkRoom } from './room.ts';

const HAS_UNPURGED = 'SELECT 1 FROM erasures WHERE is_purged <> 1';
const HAS_OLD_PAGES = 'SELECT 1 FROM erasures WHERE is_purged = 0';
const LAST_ERASURE = 'SELECT max(id) FROM erasures';
const MARK_REWRITTEN = 'UPDATE erasures SET is_purged = 2 WHERE is_purged = 0 AND id <= ?';
const MARK_PURGED = 'UPDATE erasures SET is_purged = 1 WHERE is_purged = 2 AND id <= ?';
/** Waiting longer would keep the command that finishes the work of a killed one. */
const PURGE_TIMEOUT_MS = 2000;

export function isPurged(db: Database.Database): boolean {
  return db.prepare(HAS_UNPURGED).get() === undefined;
}

/** Rewrites the file without the bytes that erasures have freed, and empties the log. False: another program is using the archive. Throws if a disk is too full. */
export function purge(db: Database.Database, path: string): boolean {
  if (isPurged(db)) return true;
  const lastId = db.prepare<[], number>(LAST_ERASURE).pluck().get(); // another program may erase more meanwhile
  const timeoutMs = db.pragma('busy_timeout', { simple: true });
  db.pragma(`busy_timeout = ${PURGE_TIMEOUT_MS}`);
  try {
    if (db.prepare(HAS_OLD_PAGES).get() !== undefined) {
      checkRoom(db, path);
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
