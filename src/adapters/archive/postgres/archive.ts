import type { Archive } from '../../../ports/archive.ts';
import { createArchive } from '../archive.ts';
import { archiveError } from '../failure.ts';
import { readText } from '../rows.ts';
import { countRows, type Query, readNumber, readUsedBytes } from '../sql/query.ts';
import { guardMethods, type Place } from './failure.ts';
import { createPartitions, PARTITIONED, partitionName } from './schema.ts';
import { POSTGRES_VECTORS, LOCK_VECTORS } from './pgvector.ts';
import { POSTGRES_SEARCH } from './search.ts';
import { type PostgresSql, POSTGRES } from './sql.ts';
import type { EngineCheck } from '../check/check.ts';
import { finding, nowhere } from '../check/finding.ts';
import type { StoreEngine } from '../store/engine.ts';
import { thisMachine } from '../../runtime/node.ts';
import { batchVector } from './words.ts';
import type { Erasure } from '../../../ports/retention.ts';
import { linesIn, type RetentionEngine, toErasure } from '../erase/erase.ts';

type Opened = { readonly place: Place; readonly isReadOnly: boolean };

/** The archive in a prepared schema of a database. */
export function createPostgresArchive(sql: PostgresSql, { place, isReadOnly }: Opened): Archive {
  const facts = { path: place.path, isReadOnly, isReadableWhileStoring: true, close: sql.close };
  return createArchive(sql, facts, {
    store: createPostgresStore(createPartitions(sql)),
    loadOthers: async () => ({
      check: POSTGRES_CHECK,
      retention: createPostgresRetention(sql, place.path),
      search: POSTGRES_SEARCH,
      vectors: POSTGRES_VECTORS,
      fileBytes: () => readUsedBytes(sql),
      backup: async () => {
        const reason = "'archive backup' copies archives that are files";
        const [row = {}] = await sql.query('SELECT current_schema() AS schema');
        const advice = `Use 'pg_dump -d ${place.database} -n ${readText(row, 'schema')} -f FILE', or the backups of your provider.`;
        throw archiveError({ kind: 'unsupported', path: place.path, reason, advice });
      },
    }),
    guard: (port) => guardMethods(port, place),
  });
}

const STRAYS = `
message_words AS t
WHERE NOT EXISTS (SELECT 1 FROM lines WHERE id = t.line_id AND month = t.month AND role IS NOT NULL)
  AND NOT EXISTS (SELECT 1 FROM captured_messages WHERE captured_id = -t.line_id AND line_id IS NULL)`;

/** Pages and indexes are the server's to check. */
const POSTGRES_CHECK: EngineCheck = {
  structure: async function* structure() {},
  derived: async function* derived({ query }) {
    const count = await countRows(query, STRAYS);
    const what = `${count} of its rows ${count === 1 ? 'refers' : 'refer'} to missing messages`;
    if (count > 0) yield finding('search', nowhere('the search index of messages'), what);
    yield null;
  },
  lastIds: ['SELECT coalesce(max(id), 0) AS id FROM compactions'],
  fileBytes: POSTGRES.usedBytes,
};

const THIS_MONTH = "SELECT to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-01') AS month";
/** The tables with partitions have a sequence of their own. */
const SEQUENCES: Readonly<Record<string, string>> = { blocks: "'block_ids'", lines: "'line_ids'" };
const RESERVE = (table: string): string => `
SELECT nextval(${SEQUENCES[table] ?? `pg_get_serial_sequence('${table}', 'id')`}) AS id FROM generate_series(1, :count::int)`;
const INDEX_BATCH = 'INSERT INTO batch_words (batch_id, word_count, words) VALUES (:id, :wordCount, :vector::tsvector)';

const FIND_PREPARED = "SELECT month::text AS month FROM compactions WHERE id = :id AND status = 'prepared' FOR UPDATE";
const LINES = `
SELECT l.id FROM blocks AS k JOIN lines AS l ON ${POSTGRES.onBlock}
WHERE k.compaction_id = :id AND k.month = :month::date`;
/** Rows of the small tables go with their compaction. */
const DELETE_PREPARED = [
  `DELETE FROM unindexed_lines WHERE first_id IN (${LINES})`,
  `DELETE FROM message_vectors WHERE line_id IN (${LINES})`,
  `DELETE FROM lines WHERE month = :month::date AND id IN (${LINES})`,
  'DELETE FROM packs WHERE month = :month::date AND id IN (SELECT pack_id FROM blocks WHERE compaction_id = :id AND month = :month::date)',
  'DELETE FROM blocks WHERE month = :month::date AND compaction_id = :id',
  'DELETE FROM compactions WHERE id = :id AND month = :month::date',
];

export function createPostgresStore(preparePartitions: (month: string) => Promise<void>): StoreEngine {
  return {
    dialect: POSTGRES,
    prepare: async (query) => ({ month: readText((await query(THIS_MONTH))[0] ?? {}, 'month') }),
    prepareAhead: ({ month }) => preparePartitions(String(month)),
    reserve: async (query, table, count) =>
      count === 0 ? [] : (await query.numbers(RESERVE(table), { count })).toSorted((a, b) => a - b),
    indexBatch: async (query, id, content) => void (await query(INDEX_BATCH, { id, ...batchVector(content) })),
    headColumns: { machine: thisMachine() },
    lockLabels: "SELECT pg_advisory_xact_lock(hashtextextended('labels of ' || :conversationId::text, 0))",
    findPrepared: FIND_PREPARED,
    deletePrepared: DELETE_PREPARED,
  };
}

/**
 * Months whose partitions have blocks of erased compactions only. A run that began in the last days of a month may
 * still store something there. Only the owner can drop them.
 */
const LIST_WHOLE_MONTHS = `
SELECT to_char(month, 'YYYY-MM-DD') AS month FROM (SELECT DISTINCT month FROM compactions WHERE id IN (SELECT id FROM erased_compactions)) AS m
WHERE pg_has_role((SELECT relowner FROM pg_class WHERE oid = 'lines'::regclass), 'USAGE') AND month < date_trunc('month', now() AT TIME ZONE 'UTC' - interval '2 days')
  AND NOT EXISTS (SELECT 1 FROM blocks AS k WHERE k.month = m.month AND k.compaction_id NOT IN (SELECT id FROM erased_compactions)) ORDER BY 1`;

/** Drops the partitions of months of which nothing is left, and deletes the rest row by row. */
async function deleteBlocks(query: Query): Promise<void> {
  for (const row of await query(LIST_WHOLE_MONTHS))
    for (const table of PARTITIONED)
      await query(`DROP TABLE IF EXISTS ${partitionName(table, readText(row, 'month'))}`);
  await query(`DELETE FROM message_words WHERE line_id IN (${linesIn(POSTGRES)})`);
  await query(`DELETE FROM lines WHERE id IN (${linesIn(POSTGRES)})`);
  await query('DELETE FROM blocks WHERE compaction_id IN (SELECT id FROM erased_compactions)');
}

const RESERVE_ID = "SELECT nextval(pg_get_serial_sequence('erasures', 'id')) AS id";
const FIND_ERASURE = 'SELECT receipt, at_ms, report FROM erasures WHERE id = :id';
/** Whoever stores anything ends first, and whoever wants to store anything waits. */
const LOCK_ALL = [
  ...POSTGRES.capturing.begin,
  LOCK_VECTORS,
  'LOCK TABLE compactions, holds, choices, summaries IN SHARE ROW EXCLUSIVE MODE',
];
const NOTE_PLACES = `
UPDATE erasures SET tables = :tables::text[], months = ARRAY(
  SELECT k.month FROM blocks AS k WHERE k.id IN (SELECT id FROM erased_blocks)
  UNION SELECT c.month FROM compactions AS c WHERE c.id IN (SELECT id FROM erased_compactions)) WHERE id = :id`;

/** `purge` rewrites the tables, because their files still have the bytes of what was erased. */
function createPostgresRetention(sql: PostgresSql, path: string): RetentionEngine {
  return {
    idType: 'bigint',
    ids: '(SELECT CAST(value AS bigint) AS id FROM json_array_elements_text(CAST(:ids AS json)))',
    deleteBlocks,
    erase: async (work) => {
      const id = await readNumber(sql.query, RESERVE_ID);
      return sql.transaction('write', async (query) => {
        for (const lock of LOCK_ALL) await query(lock);
        // If the connection was lost during the commit, the erasure may be stored all the same.
        const [done] = await query(FIND_ERASURE, { id });
        if (done !== undefined) return toErasure(done);
        const erased = await work(query, id);
        await query(NOTE_PLACES, { id, tables: tablesOf(erased) });
        return erased;
      });
    },
    purge: () => purge(sql, path),
  };
}

const LIST_UNPURGED = 'SELECT id FROM erasures WHERE is_purged = 0 ORDER BY id';
const LIST_TABLES = 'SELECT DISTINCT name FROM erasures, unnest(tables) AS name WHERE id = ANY(:ids::bigint[])';

/** The tables without partitions that an erasure changed. */
function tablesOf({ capturedFiles, capturedLines, paidSummaries, vectors }: Erasure): readonly string[] {
  const captured = ['captured_lines', 'captured_blocks', 'captured_messages', 'message_words_captured'];
  const changed = ['batch_words', 'speakers', 'choices', 'cycles', 'settings'];
  if (paidSummaries > 0) changed.push('summaries');
  if (vectors > 0) changed.push('message_vectors', 'batch_vectors');
  return capturedFiles + capturedLines > 0 ? [...changed, ...captured] : changed;
}

const LIST_MONTHS = `
SELECT DISTINCT to_char(month, 'YYYY-MM-DD') AS month FROM erasures, unnest(months) AS month WHERE id = ANY(:ids::bigint[]) ORDER BY 1`;
const FIND_OWNER =
  "SELECT pg_has_role(relowner, 'USAGE')::int AS is_ours FROM pg_class WHERE oid = to_regclass(:table)";
/** A rewritten table is frozen up to the oldest transaction that might still see erased rows, which were copied for it. */
const IS_GONE = `
SELECT (age(c.relfrozenxid) < (SELECT min(age(e.transaction::xid)) FROM erasures AS e WHERE e.id = ANY(:ids::bigint[])))::int AS is_gone
FROM pg_class AS c WHERE c.oid = to_regclass(:table)`;
const MARK_PURGED = 'UPDATE erasures SET is_purged = 1 WHERE id = ANY(:ids::bigint[])';

/** Rewrites the tables that had the bytes; their old files are gone then. False: a transaction may still see what was erased. */
async function purge(sql: PostgresSql, path: string): Promise<boolean> {
  const ids = await sql.query.numbers(LIST_UNPURGED);
  if (ids.length === 0) return true;
  const tables = (await sql.query(LIST_TABLES, { ids })).map((row) => readText(row, 'name'));
  const months = await sql.query(LIST_MONTHS, { ids });
  const parts = months.flatMap((row) => PARTITIONED.map((table) => partitionName(table, readText(row, 'month'))));
  for (const table of [...tables, ...parts]) {
    const [found] = await sql.query(FIND_OWNER, { table });
    if (found === undefined) continue; // dropped
    if (found['is_ours'] !== 1) {
      const reason = 'only the owner of its tables may rewrite them';
      const advice = 'Connect as the owner of the archive.';
      throw archiveError({ kind: 'cannot-open', path, reason, advice });
    }
    await sql.maintain(`VACUUM (FULL) ${table}`);
    const [row = {}] = await sql.query(IS_GONE, { table, ids });
    if (row['is_gone'] !== 1) return false;
  }
  await sql.query(MARK_PURGED, { ids });
  return true;
}
