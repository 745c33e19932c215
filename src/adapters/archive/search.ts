import type Database from 'better-sqlite3';
import type { ArchivedBatch, ArchiveLookup, BatchQuery, Scored } from '../../ports/archive-lookup.ts';
import { BATCH_PASSES, filterValues } from './filter.ts';
import { guard } from './failure.ts';
import { BATCH_COLUMNS, BATCH_JOINS, IS_LIVE, IS_LIVE_IN, toArchivedBatch } from './lookup-rows.ts';
import { readInteger } from './rows.ts';
import type { Row } from './rows.ts';
import { matchAny } from './sought.ts';
import { createStatements } from './statements.ts';

/** FTS5 ranks by bm25, where less is better. In the order of ids it need not rank at all, and stops as soon as there are enough. */
const ORDERS = {
  best: { score: '-s.rank', by: 's.rank' },
  newest: { score: 'NULL', by: 's.rowid DESC' },
} as const satisfies { readonly [order in BatchQuery['order']]: unknown };

function selectBatches(order: BatchQuery['order'], isOfOneConversation: boolean): string {
  const { score, by } = ORDERS[order];
  return `
SELECT ${BATCH_COLUMNS}, 1 AS is_live, ${score} AS score FROM batch_search AS s CROSS JOIN batches AS b ON b.id = s.rowid ${BATCH_JOINS}
WHERE batch_search MATCH :match AND ${isOfOneConversation ? IS_LIVE_IN : IS_LIVE} AND ${BATCH_PASSES} ORDER BY ${by}`;
}

export function createBatchSearch(db: Database.Database, path: string): ArchiveLookup['searchBatches'] {
  const prepare = createStatements(db);
  return ({ terms, filter, order, limit }) => {
    if (terms.length === 0 || limit < 1) return [];
    const values = { match: matchAny(terms), ...filterValues(filter) };
    const sql = selectBatches(order, filter.conversationId !== null);
    return guard(path, () => db.transaction(() => takeDistinct(prepare(sql).iterate(values), limit))());
  };
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
