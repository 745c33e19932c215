import type { Dialect } from '../sql/query.ts';
import { thisMachine } from '../../runtime/node.ts';

const FIND_LINES = `
SELECT id, block_id, "offset", size_bytes, sha256 FROM captured_lines
WHERE sha256 IN (SELECT substr(:hashes::bytea, n * 32 + 1, 32) FROM generate_series(0, :count::int - 1) AS n) AND erasure_id IS NULL ORDER BY id DESC`;

/** With the month, Postgres looks into one partition. */
export const POSTGRES: Dialect = {
  name: 'postgres',
  isAmong: (column, name) => `${column} = ANY(:${name}::bigint[])`,
  isAmongTexts: (text, name) => `${text} = ANY(:${name}::text[])`,
  hex: (column) => `encode(${column}, 'hex')`,
  lineJoins: `
JOIN blocks AS k ON k.id = l.block_id AND k.month = l.month JOIN compactions AS c ON c.id = k.compaction_id
LEFT JOIN batches AS o ON o.id = l.batch_id LEFT JOIN cycles AS y ON y.id = coalesce(l.cycle_id, o.cycle_id)`,
  batchJoins: 'JOIN cycles AS y ON y.id = b.cycle_id JOIN compactions AS c ON c.id = y.compaction_id',
  onBlock: 'l.block_id = k.id AND l.month = k.month AND l.id BETWEEN k.first_line_id AND k.last_line_id',
  onPack: 'p.id = k.pack_id AND p.month = k.month',
  onCompaction: 'k.compaction_id = c.id AND k.month = c.month',
  blockOfLine: 'JOIN blocks ON blocks.id = lines.block_id AND blocks.month = lines.month',
  words: { messages: { table: 'message_words', id: 'line_id' }, batches: { table: 'batch_words', id: 'batch_id' } },
  wordBytes: `
SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint AS size FROM pg_class AS c
WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r' AND c.relname ~ '^(message|batch)_words'`,
  isMessageIndexed: 'EXISTS (SELECT 1 FROM message_words AS w WHERE w.line_id = l.id AND w.month = l.month)',
  isBatchIndexed: 'EXISTS (SELECT 1 FROM batch_words AS w WHERE w.batch_id = b.id)',
  storingLocks: ['LOCK TABLE compactions IN ROW EXCLUSIVE MODE'],
  lockPacks: 'AND p.month = :month::date ORDER BY p.id FOR UPDATE OF p SKIP LOCKED',
  partitionOfPack: 'SELECT month::text AS month FROM packs WHERE id = :id',
  capturing: {
    // Their ids are consecutive in a file.
    begin: ["SELECT pg_advisory_xact_lock(hashtextextended('compact captures', 0))"],
    lastIds: 'SELECT last_line_id AS line, last_block_id AS block FROM captured_ids',
    keepIds: 'UPDATE captured_ids SET last_line_id = :line, last_block_id = :block',
    findLines: (query, hashes) => query(FIND_LINES, { hashes: Buffer.concat(hashes), count: hashes.length }),
  },
  thisMachine,
  usedBytes: `
SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint AS size FROM pg_class AS c
WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r'`,
};
