import { type BigIntStats, lstatSync, realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import type { Database } from 'better-sqlite3';
import type { ProducerIndexes } from '../../ports/files.ts';
import { orElse, statName } from '../../system/files.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** The indexes of all producers that are known to keep one, by format. */
export function createProducerIndexes(environment: Environment = process.env): ProducerIndexes {
  return {
    reset: async ({ path, format }) =>
      format === 'codex' ? resetCodexIndex(path, environment['CODEX_SQLITE_HOME']) : null,
  };
}

/** Beside the sessions, or in `$CODEX_SQLITE_HOME`. */
const INDEX_NAME = 'thread_history_1.sqlite';
/** The files that SQLite opens beside a database. */
const COMPANIONS = ['-wal', '-shm', '-journal'];
/** Enough for a running Codex to finish a write. */
const BUSY_TIMEOUT_MS = 2000;

/**
 * Makes Codex index a rollout again. Codex 0.169 stores byte offsets of numbered rollouts in a database, and after a
 * rollout is replaced it keeps showing the old turns and none of the new ones. Returns a sentence for the user if the
 * index had to be left as it is.
 */
async function resetCodexIndex(rollout: string, sqliteHome: string | undefined): Promise<string | null> {
  const thread = THREAD_ID.exec(basename(rollout))?.[1];
  if (thread === undefined) return null;
  const homes = [...(sqliteHome === undefined || sqliteHome === '' ? [] : [resolve(sqliteHome)]), ...homesOf(rollout)];
  const files = new Set(homes.map((home) => join(home, INDEX_NAME)));
  const notes: string[] = [];
  for (const file of files) {
    const reason = await resetThread(file, thread);
    if (reason === null) continue;
    notes.push(
      `Codex's index ${file} was left as it is (${reason}), so Codex may show turns that were compacted, and none of the new ones. If so, close Codex and delete that index: Codex rebuilds it for each session that it resumes.`,
    );
  }
  return notes.length === 0 ? null : notes.join(' ');
}

const THREAD_ID = /^rollout-.*-([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.jsonl(?:\.zst)?$/;

/**
 * `$CODEX_HOME`, derived from where rollouts are stored: in `sessions/YYYY/MM/DD` or `archived_sessions`, perhaps
 * through a link.
 */
function homesOf(rollout: string): readonly string[] {
  const path = resolve(rollout);
  // Gone already: the name as given.
  const paths = new Set([path, orElse(path, () => realpathSync(path))]);
  return [...paths].flatMap((one) => {
    const folders = one.split(/[\\/]/).slice(0, -1);
    if (folders.at(-1) === 'archived_sessions') return [dirname(dirname(one))];
    const isDated = folders.at(-4) === 'sessions' && folders.slice(-3).every((name) => /^\d+$/.test(name));
    return isDated ? [join(dirname(one), '../../../..')] : [];
  });
}

/** Why nothing was done; null: the index has no rows of this thread (any more). */
async function resetThread(file: string, thread: string): Promise<string | null> {
  try {
    if (statName(file) === undefined) return null;
    const threat = findThreat(file);
    if (threat !== null) return threat;
    const { default: Sqlite } = await import('better-sqlite3');
    const db = new Sqlite(file, { fileMustExist: true, timeout: BUSY_TIMEOUT_MS });
    try {
      // Another program's file: its schema must not call functions, and damage must be an error.
      db.pragma('trusted_schema = OFF');
      db.pragma('cell_size_check = ON');
      return db.transaction(() => deleteThread(db, thread)).immediate();
    } finally {
      db.close();
    }
  } catch (error) {
    // Trouble with another program's file must not stop the compaction.
    return reasonOf(error);
  }
}

/**
 * The tables and columns of Codex up to 0.169 (its migrations 1 to 8). Every row belongs to a thread, except those of
 * the migrations.
 */
const KNOWN_COLUMNS: Readonly<Record<string, readonly string[]>> = {
  _sqlx_migrations: ['version', 'description', 'installed_on', 'success', 'checksum', 'execution_time'],
  thread_turns:
    'thread_id turn_id rollout_ordinal status error_json started_at completed_at duration_ms first_user_item_id final_agent_item_id rollout_byte_offset rollout_end_ordinal rollout_end_byte_offset root_turn_id'.split(
      ' ',
    ),
  thread_items:
    'thread_id turn_id item_id rollout_ordinal created_at_ms item_json item_type updated_at_ordinal started_at_ms completed_at_ms'.split(
      ' ',
    ),
  thread_realtime_items: ['thread_id', 'item_id', 'rollout_ordinal', 'created_at_ms', 'item_type', 'item_json'],
  thread_history_projection_state: ['thread_id', 'next_rollout_byte_offset', 'next_rollout_ordinal'],
};
/** How far Codex has read a rollout; without its row it starts at the beginning. */
const PROGRESS_TABLE = 'thread_history_projection_state';
const CLEANUP_TRIGGER =
  'CREATE TRIGGER thread_realtime_items_projection_cleanup AFTER DELETE ON thread_history_projection_state BEGIN DELETE FROM thread_realtime_items WHERE thread_id = OLD.thread_id; END';

type SchemaRow = { readonly type: string; readonly name: string; readonly sql: string | null };

/** Must run in a transaction. */
function deleteThread(db: Database, thread: string): string | null {
  const schema = db.prepare<[], SchemaRow>('SELECT type, name, sql FROM sqlite_schema').all();
  const tables = schema.flatMap(({ type, name }) => (type === 'table' ? [name] : []));
  const isKnown = schema.every((row) => isKnownRow(db, row)) && tables.includes(PROGRESS_TABLE);
  if (!isKnown) return 'this version of compact does not know its schema';
  for (const table of tables.filter((name) => KNOWN_COLUMNS[name]?.includes('thread_id') === true))
    db.prepare(`DELETE FROM ${table} WHERE thread_id = ?`).run(thread);
  return null;
}

function isKnownRow(db: Database, { type, name, sql }: SchemaRow): boolean {
  if (type === 'index') return true; // it holds nothing that its table does not
  if (type === 'trigger') return sql?.replaceAll(/\s+/g, ' ') === CLEANUP_TRIGGER;
  const known = type === 'table' && Object.hasOwn(KNOWN_COLUMNS, name) ? KNOWN_COLUMNS[name] : undefined;
  if (known === undefined || sql?.startsWith('CREATE TABLE ') !== true) return false;
  const columns = db.prepare<[string], { readonly name: string }>('SELECT name FROM pragma_table_xinfo(?)').all(name);
  return columns.every((column) => known.includes(column.name));
}

/**
 * Why SQLite must not open a file: it, or the place of one of SQLite's logs, may lead to a file that is not Codex's.
 * Null: it is safe.
 */
function findThreat(file: string): string | null {
  const folder = lstatSync(realpathSync(dirname(file)), { bigint: true });
  if (!isOurs(folder)) return 'its folder belongs to another user';
  if ((folder.mode & OTHERS_WRITE) !== 0n) return 'anyone can write to its folder';
  for (const path of [file, ...COMPANIONS.map((suffix) => `${file}${suffix}`)]) {
    const stats = statName(path);
    if (stats === undefined) continue;
    if (!stats.isFile()) return `${path} is not a regular file`;
    if (stats.nlink !== 1n) return `${path} has other names`;
    if (!isOurs(stats)) return `${path} belongs to another user`;
  }
  return null;
}

const OTHERS_WRITE = 0o002n;

/** Always true on systems without users. */
function isOurs({ uid }: BigIntStats): boolean {
  const own = process.geteuid?.();
  return own === undefined || uid === BigInt(own);
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'it could not be opened';
  const code = 'code' in error ? String(error.code) : error.message;
  if (code.startsWith('SQLITE_BUSY')) return 'Codex is using it';
  if (code.startsWith('SQLITE_NOTADB')) return 'it is not a database';
  if (code.startsWith('SQLITE_CORRUPT')) return 'it is damaged';
  if (code.startsWith('SQLITE_READONLY')) return 'it is read-only';
  return code;
}
