import type Database from 'better-sqlite3';
import type { ArchivedBatch, Scored } from '../../../ports/archive-lookup.ts';
import type { SearchFilter } from '../../../ports/message-index.ts';
import type { VectorStore } from '../../../ports/vector-store.ts';
import { BATCH_PASSES, filterValues, LINE_PASSES } from '../filter.ts';
import { findLineRange } from '../line-range.ts';
import { BATCH_COLUMNS, BATCH_JOINS, IS_LIVE, IS_LIVE_IN, LINE_JOINS, toArchivedBatch } from '../lookup-rows.ts';
import { readBytes, readInteger } from '../rows.ts';
import { createStatements } from '../statements.ts';
import { cosine, signBits, vectorBytes } from './vector-bytes.ts';

/** The signs alone tell roughly which are near: of so many, for each that is asked for, the numbers themselves are looked at. */
const LOOKED_AT = 4;
/** The extension gives no more. */
const MAX_LOOKED_AT = 4096;
const FIND_NEAREST = 'SELECT line_id FROM message_vector_search WHERE signs MATCH vec_bit(:signs) AND k = :count';
const FIND_NEAREST_OF = `${FIND_NEAREST} AND line_id IN (
  SELECT l.id FROM lines AS l ${LINE_JOINS} WHERE l.id BETWEEN :first AND :last AND ${LINE_PASSES})`;
const LOAD_VECTORS = `
SELECT v.line_id, v.vector FROM json_each(:ids) AS m CROSS JOIN message_vectors AS v ON v.line_id = m.value WHERE v.vector IS NOT NULL`;
const RANK_BATCHES = `
SELECT batch_id, 1 - vec_distance_cosine(vec_int8(vector), vec_int8(:vector)) AS likeness FROM batch_vectors
WHERE vector IS NOT NULL ORDER BY likeness DESC, batch_id`;
const loadBatch = (isLive: string): string => `
SELECT ${BATCH_COLUMNS}, 1 AS is_live FROM batches AS b ${BATCH_JOINS} WHERE b.id = :id AND c.status = 'applied' AND ${isLive} AND ${BATCH_PASSES}`;

type Nearest = Pick<VectorStore, 'nearestMessages' | 'similarities' | 'nearestBatches'>;

/** Needs the extension, and that there are vectors. */
export function createNearest(db: Database.Database): Nearest {
  const prepare = createStatements(db);
  const similarities: Nearest['similarities'] = (vector, lineIds) =>
    new Map(
      prepare(LOAD_VECTORS)
        .all({ ids: JSON.stringify(lineIds) })
        .map((row) => [readInteger(row, 'line_id'), cosine(vector, readBytes(row, 'vector'))] as const),
    );
  return {
    similarities,
    nearestMessages: (vector, { filter, limit }) => {
      const asked = { signs: signBits(vector), count: Math.min(MAX_LOOKED_AT, LOOKED_AT * limit) };
      const rows = isAny(filter)
        ? prepare(FIND_NEAREST).all(asked)
        : prepare(FIND_NEAREST_OF).all({ ...filterValues(filter), ...findLineRange(prepare, filter), ...asked });
      const roughly = rows.map((row) => readInteger(row, 'line_id'));
      return [...similarities(vector, roughly)]
        .toSorted((a, b) => b[1] - a[1] || a[0] - b[0])
        .slice(0, limit)
        .map(([lineId]) => lineId);
    },
    nearestBatches: (vector, { filter, limit }) => {
      if (filter.role !== null) return [];
      const load = prepare(loadBatch(filter.conversationId === null ? IS_LIVE : IS_LIVE_IN));
      const found = new Map<string, Scored<ArchivedBatch>>();
      for (const { batch_id: id, likeness } of prepare(RANK_BATCHES).all({ vector: vectorBytes(vector) })) {
        const row = load.get({ ...filterValues(filter), id });
        if (row === undefined || typeof likeness !== 'number') continue;
        const batch = toArchivedBatch(row);
        const key = `${batch.contentSha256} ${batch.conversationId}`;
        if (!found.has(key)) found.set(key, { ...batch, score: likeness });
        if (found.size >= limit) break;
      }
      return [...found.values()];
    },
  };
}

function isAny(filter: SearchFilter): boolean {
  return Object.values(filter).every((wanted) => wanted === null);
}
