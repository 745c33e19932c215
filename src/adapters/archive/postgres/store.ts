import { readInteger, readText } from '../rows.ts';
import type { StoreEngine } from '../store/engine.ts';
import { thisMachine } from '../../runtime/node.ts';
import { POSTGRES } from './dialect.ts';
import { batchVector } from './words.ts';

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
      count === 0
        ? []
        : (await query(RESERVE(table), { count })).map((row) => readInteger(row, 'id')).toSorted((a, b) => a - b),
    indexBatch: async (query, id, content) => void (await query(INDEX_BATCH, { id, ...batchVector(content) })),
    headColumns: { machine: thisMachine() },
    // Until the end of the transaction, nobody else takes a label that begins like this.
    lockLabel: 'SELECT pg_advisory_xact_lock(hashtextextended(:label::text, 0))',
    findPrepared: FIND_PREPARED,
    deletePrepared: DELETE_PREPARED,
  };
}
