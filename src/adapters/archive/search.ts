import type Database from 'better-sqlite3';
import type { ArchivedBatch, ArchiveLookup, BatchQuery, Scored } from '../../ports/archive-lookup.ts';
import { guard } from './failure.ts';
import { BATCH_PASSES, filterValues } from './filter.ts';
import { BATCH_COLUMNS, BATCH_JOINS, IS_LIVE, IS_LIVE_IN, toArchivedBatch } from './lookup-rows.ts';
import { readInteger, type Row } from './rows.ts';
import { matchAny } from './sought.ts';
import { createStatements } from './statements.ts';

/** FTS5 ranks by bm25, where less is better. In the order of ids it need not rank at all, and stops as soon as there are enough. */
const ORDERS = {
  best: { score: '-s.rank', by: 's.rank' },
  newest: { score: 'NULL', by: 's.rowid DESC' },
} as const satisfies { readonly [order in BatchQuery['order']]: unknown };

function selectBatches(order: BatchQuery['order'], isLive: 0 | 1, condition: string): string {
  const { score, by } = ORDERS[order];
  return `
SELECT ${BATCH_COLUMNS}, ${isLive} AS is_live, ${score} AS score FROM batch_search AS s CROSS JOIN batches AS b ON b.id = s.rowid ${BATCH_JOINS}
WHERE batch_search MATCH :match AND ${condition} AND ${BATCH_PASSES} ORDER BY ${by}`;
}

const IS_REPLACED = `
c.status = 'applied' AND (:conversation IS NULL OR y.conversation_id = :conversation)
AND EXISTS (SELECT 1 FROM batch_sources AS r WHERE r.source_id = b.id) AND NOT ${IS_LIVE}`;

/** Whether batch :id has a term that none of the batches has which were made from it since. */
const SAYS_ALONE = `
WITH RECURSIVE later (id) AS (
  SELECT batch_id FROM batch_sources WHERE source_id = :id UNION SELECT s.batch_id FROM later JOIN batch_sources AS s ON s.source_id = later.id
)
SELECT 1 WHERE EXISTS (SELECT 1 FROM batch_search WHERE batch_search MATCH :term AND rowid = :id) AND NOT EXISTS (
  SELECT 1 FROM batch_search WHERE batch_search MATCH :term AND rowid IN (
    SELECT b.id FROM later JOIN batches AS b ON b.id = later.id ${BATCH_JOINS} WHERE c.status = 'applied'))`;

export function createBatchSearch(db: Database.Database, path: string): ArchiveLookup['searchBatches'] {
  const prepare = createStatements(db);

  function* replacedRows(values: object, { terms, order }: BatchQuery): Generator<Row> {
    const saysAlone = prepare(SAYS_ALONE);
    for (const row of prepare(selectBatches(order, 0, IS_REPLACED)).iterate(values)) {
      const id = readInteger(row, 'id');
      if (terms.some((term) => saysAlone.get({ id, term: matchAny([term]) }) !== undefined)) yield row;
    }
  }

  return (query) => {
    const { terms, filter, order, limit } = query;
    if (terms.length === 0 || limit < 1) return [];
    const values = { match: matchAny(terms), ...filterValues(filter) };
    const live = selectBatches(order, 1, filter.conversationId === null ? IS_LIVE : IS_LIVE_IN);
    const search = (): readonly Scored<ArchivedBatch>[] => {
      const found = takeDistinct(prepare(live).iterate(values), limit);
      const replaced = takeDistinct(replacedRows(values, query), limit);
      if (replaced.length === 0) return found;
      const best = order === 'newest' ? byNewest : byScore;
      return [...found, ...replaced].sort(best).slice(0, limit);
    };
    return guard(path, () => db.transaction(search)());
  };
}

function byNewest(a: Scored<ArchivedBatch>, b: Scored<ArchivedBatch>): number {
  return b.id - a.id;
}

function byScore(a: Scored<ArchivedBatch>, b: Scored<ArchivedBatch>): number {
  return (b.score ?? 0) - (a.score ?? 0);
}

/** The first rows of an order that differ in what they say or in whose conversation. */
function takeDistinct(rows: Iterable<Row>, limit: number): readonly Scored<ArchivedBatch>[] {
  const found = new Map<string, Scored<ArchivedBatch>>();
  for (const row of rows) {
    const batch = toArchivedBatch(row);
    const key = `${batch.contentSha256} ${batch.conversationId}`;
    if (!found.has(key)) found.set(key, { ...batch, score: readScore(row) });
    if (found.size >= limit) break;
  }
  return [...found.values()];
}

function readScore(row: Row): number | null {
  const score = row['score'];
  if (score === null) return null;
  return typeof score === 'number' ? score : readInteger(row, 'score');
}
