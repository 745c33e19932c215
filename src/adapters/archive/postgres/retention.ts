import type { Erasure } from '../../../ports/retention.ts';
import { linesIn, type RetentionEngine, toErasure } from '../erase/erase.ts';
import { archiveError } from '../failure.ts';
import { readInteger, readText } from '../rows.ts';
import type { Query } from '../sql/query.ts';
import { POSTGRES } from './dialect.ts';
import { PARTITIONED, partitionName } from './months.ts';
import type { PostgresSql } from './sql.ts';
import { LOCK_VECTORS } from './pgvector.ts';

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
export function createPostgresRetention(sql: PostgresSql, path: string): RetentionEngine {
  return {
    idType: 'bigint',
    ids: '(SELECT CAST(value AS bigint) AS id FROM json_array_elements_text(CAST(:ids AS json)))',
    deleteBlocks,
    erase: async (work) => {
      const [reserved = {}] = await sql.query(RESERVE_ID);
      const id = readInteger(reserved, 'id');
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
  return [
    'batch_words',
    'speakers',
    'choices',
    'cycles',
    'settings',
    ...(paidSummaries > 0 ? ['summaries'] : []),
    ...(vectors > 0 ? ['message_vectors', 'batch_vectors'] : []),
    ...(capturedFiles + capturedLines > 0
      ? ['captured_lines', 'captured_blocks', 'captured_messages', 'message_words_captured']
      : []),
  ];
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
  const ids = (await sql.query(LIST_UNPURGED)).map((row) => readInteger(row, 'id'));
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
