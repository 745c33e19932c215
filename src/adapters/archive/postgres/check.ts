import type { ArchiveDamageKind } from '../../../ports/archive-check.ts';
import type { EngineCheck } from '../check/check.ts';
import { finding, placeOf } from '../check/finding.ts';
import { readInteger, readOptionalInteger } from '../rows.ts';
import { POSTGRES } from './dialect.ts';

type Stray = {
  readonly name: string;
  readonly kind: ArchiveDamageKind;
  readonly what: string;
  /** Gives how many rows refer to what is missing, by the compaction that they belong to. */
  readonly sql: string;
};

/** The references that Postgres does not enforce: those from and to partitioned tables. */
const STRAYS: readonly Stray[] = [
  {
    name: 'table blocks',
    kind: 'reference',
    what: 'missing compactions',
    sql: 'SELECT NULL AS owner, count(*) AS count FROM blocks AS t WHERE NOT EXISTS (SELECT 1 FROM compactions WHERE id = t.compaction_id) HAVING count(*) > 0',
  },
  {
    name: 'table lines',
    kind: 'reference',
    what: 'missing blocks',
    sql: 'SELECT NULL AS owner, count(*) AS count FROM lines AS t WHERE NOT EXISTS (SELECT 1 FROM blocks WHERE id = t.block_id AND month = t.month) HAVING count(*) > 0',
  },
  {
    name: 'table lines',
    kind: 'reference',
    what: 'missing batches or cycles',
    sql: `
SELECT k.compaction_id AS owner, count(*) AS count FROM lines AS t LEFT JOIN blocks AS k ON k.id = t.block_id AND k.month = t.month
WHERE (t.batch_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM batches WHERE id = t.batch_id))
  OR (t.cycle_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM cycles WHERE id = t.cycle_id)) GROUP BY 1 ORDER BY 1 LIMIT 20`,
  },
  {
    name: 'table carried_lines',
    kind: 'reference',
    what: 'missing lines',
    sql: `
SELECT y.compaction_id AS owner, count(*) AS count FROM carried_lines AS t LEFT JOIN cycles AS y ON y.id = t.cycle_id
WHERE NOT EXISTS (SELECT 1 FROM lines WHERE id = t.line_id) GROUP BY 1 ORDER BY 1 LIMIT 20`,
  },
  {
    name: 'the search index of messages',
    kind: 'search',
    what: 'missing messages',
    sql: 'SELECT NULL AS owner, count(*) AS count FROM message_words AS t WHERE NOT EXISTS (SELECT 1 FROM lines WHERE id = t.line_id AND month = t.month AND role IS NOT NULL) HAVING count(*) > 0',
  },
  {
    name: 'the search index of messages',
    kind: 'search',
    what: 'other words than the messages have',
    sql: `
SELECT coalesce(a.id, b.id) AS owner, abs(coalesce(a.count, 0) - coalesce(b.count, 0)) AS count
FROM (SELECT k.compaction_id AS id, sum(length(w.words)) AS count FROM message_words AS w
  JOIN lines AS l ON l.id = w.line_id AND l.month = w.month JOIN blocks AS k ON k.id = l.block_id AND k.month = l.month GROUP BY 1) AS a
FULL JOIN (SELECT compaction_id AS id, sum(length(lines)) / 2 AS count FROM word_lines GROUP BY 1) AS b ON b.id = a.id
WHERE coalesce(a.count, 0) <> coalesce(b.count, 0) ORDER BY 1 LIMIT 20`,
  },
  {
    name: 'the vectors',
    kind: 'reference',
    what: 'missing lines',
    sql: 'SELECT NULL AS owner, count(*) AS count FROM message_vectors AS t WHERE NOT EXISTS (SELECT 1 FROM lines WHERE id = t.line_id) HAVING count(*) > 0',
  },
];

const COUNT_WRONG_VECTORS = `
SELECT (SELECT count(*) FROM message_vectors WHERE length(vector) <> (SELECT dimensions FROM vector_model))
  + (SELECT count(*) FROM batch_vectors WHERE length(vector) <> (SELECT dimensions FROM vector_model)) AS count`;

/** Pages and indexes are the server's to check. */
export const POSTGRES_CHECK: EngineCheck = {
  structure: async function* structure({ query }) {
    for (const { name, kind, what, sql } of STRAYS) {
      for (const row of await query(sql)) {
        const id = readOptionalInteger(row, 'owner');
        const place = id === null ? { name, compactionIds: [] } : placeOf(id);
        const count = readInteger(row, 'count');
        yield finding(kind, place, `${count} of its rows ${count === 1 ? 'refers' : 'refer'} to ${what}`);
      }
      yield null;
    }
  },
  derived: async function* derived({ query }) {
    const wrong = readInteger((await query(COUNT_WRONG_VECTORS))[0] ?? {}, 'count');
    const place = { name: 'the vectors', compactionIds: [] };
    if (wrong > 0) yield finding('wrong-count', place, `of another length than their model gives: ${wrong}`);
  },
  lastIds: ['SELECT coalesce(max(id), 0) AS id FROM compactions'],
  fileBytes: POSTGRES.usedBytes,
};
