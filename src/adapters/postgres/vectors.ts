import type { ArchivedBatch, Scored } from '../../ports/archive-lookup.ts';
import type { MissingScope, MissingVector, VectorModel, VectorStore } from '../../ports/vector-store.ts';
import { BATCH_COLUMNS, IS_LIVE, IS_LIVE_IN, takeDistinct, toArchivedBatch } from '../archive/read/lookup.ts';
import { hashColumn, readBytes, readInteger, readText } from '../archive/rows.ts';
import { cosine, isSameModel, vectorBytes } from '../archive/vectors/nearest.ts';
import { POSTGRES } from './dialect.ts';
import { BATCH_PASSES, filterValues, LINE_PASSES } from './lookup-sql.ts';
import { addNearColumn, findCandidates } from './pgvector.ts';
import type { Query, Sql, Values } from '../archive/sql/query.ts';

const FIND_MODEL = 'SELECT provider, model, dimensions FROM vector_model';
const INSERT_MODEL =
  'INSERT INTO vector_model (id, provider, model, dimensions) VALUES (1, :provider, :model, :dimensions)';
export const LOCK_VECTORS = "SELECT pg_advisory_xact_lock(hashtextextended('compact vectors', 0))";
const FORGET = ['DELETE FROM message_vectors', 'DELETE FROM batch_vectors', 'DELETE FROM vector_model'];
// Another run may have stored it meanwhile.
const INSERT_MESSAGE = 'INSERT INTO message_vectors (line_id, vector) VALUES (:id, :vector) ON CONFLICT DO NOTHING';
const INSERT_BATCH = 'INSERT INTO batch_vectors (batch_id, vector) VALUES (:id, :vector) ON CONFLICT DO NOTHING';

// For one source, only its own rows are read, through the indexes that lead to them.
const MESSAGES = `
FROM compactions AS c JOIN blocks AS k ON k.compaction_id = c.id AND k.month = c.month JOIN lines AS l ON l.block_id = k.id AND l.month = k.month
WHERE l.role IS NOT NULL AND c.status = 'applied' AND (:source::bytea IS NULL OR c.source_sha256 = :source)
AND (:isRemade::bool OR NOT EXISTS (SELECT 1 FROM message_vectors AS v WHERE v.line_id = l.id))`;
/** A batch that was replaced in its own cycle was never shown, and is never found. */
const BATCHES = `
FROM compactions AS c JOIN cycles AS y ON y.compaction_id = c.id JOIN batches AS b ON b.cycle_id = y.id
WHERE c.status = 'applied' AND (:source::bytea IS NULL OR c.source_sha256 = :source)
AND EXISTS (SELECT 1 FROM live_batches AS f WHERE f.batch_id = b.id)
AND (:isRemade::bool OR NOT EXISTS (SELECT 1 FROM batch_vectors AS v WHERE v.batch_id = b.id))`;
const LIST_MESSAGES = `SELECT l.id, l.line, c.format ${MESSAGES} AND l.id > :after ORDER BY l.id LIMIT :limit`;
const LIST_BATCHES = `SELECT b.id, b.content ${BATCHES} AND b.id > :after ORDER BY b.id LIMIT :limit`;
const COUNT_MISSING = `SELECT (SELECT count(*) ${MESSAGES}) + (SELECT count(*) ${BATCHES}) AS count`;

const PAGE = 5000;
const LIST_VECTORS = `
SELECT line_id AS id, vector FROM message_vectors WHERE line_id > :after AND vector IS NOT NULL ORDER BY line_id LIMIT ${PAGE}`;
const LIST_PASSING = `SELECT l.id FROM lines AS l ${POSTGRES.lineJoins} WHERE l.id = ANY(:ids::bigint[]) AND ${LINE_PASSES}`;
const LOAD_VECTORS = `
SELECT line_id AS id, vector FROM message_vectors WHERE line_id = ANY(:ids::bigint[]) AND vector IS NOT NULL`;
const LIST_BATCH_VECTORS = 'SELECT batch_id AS id, vector FROM batch_vectors WHERE vector IS NOT NULL';
const loadBatch = (isLive: string): string => `
SELECT ${BATCH_COLUMNS}, 1 AS is_live FROM batches AS b ${POSTGRES.batchJoins} WHERE b.id = :id AND c.status = 'applied' AND ${isLive} AND ${BATCH_PASSES}`;

/** Exact: without pgvector, every vector is compared here, a page at a time. */
export function createVectorStore(sql: Pick<Sql, 'query' | 'transaction'>): VectorStore {
  const { query } = sql;
  const countOf = async (scope: MissingScope): Promise<number> =>
    readInteger((await query(COUNT_MISSING, scopeValues(scope)))[0] ?? {}, 'count');
  const rank = (vector: Float32Array, rows: Awaited<ReturnType<Query>>): readonly (readonly [number, number])[] =>
    rows
      .map((row) => [readInteger(row, 'id'), cosine(vector, readBytes(row, 'vector'))] as const)
      .toSorted((a, b) => b[1] - a[1] || a[0] - b[0]);
  return {
    findModel: () => findModel(query),
    count: async () => {
      const total = await countOf({ sourceSha256: null, isRemade: true });
      return { done: total - (await countOf({ sourceSha256: null, isRemade: false })), total };
    },
    countMissing: countOf,
    listMissing: async (scope, { after, limit }) => {
      const values = scopeValues(scope);
      const messages = (await query(LIST_MESSAGES, { ...values, limit, after: after.lineId })).map(
        (row): MissingVector => ({
          kind: 'message',
          lineId: readInteger(row, 'id'),
          line: readInteger(row, 'line'),
          format: readText(row, 'format'),
        }),
      );
      const left = limit - messages.length;
      const batches = left < 1 ? [] : await query(LIST_BATCHES, { ...values, limit: left, after: after.batchId });
      return [
        ...messages,
        ...batches.map((row): MissingVector => ({
          kind: 'batch',
          batchId: readInteger(row, 'id'),
          content: readText(row, 'content'),
        })),
      ];
    },
    keep: (model, drafts, { mayReplace }) =>
      sql.transaction('write', async (within) => {
        await within(LOCK_VECTORS);
        const known = await findModel(within);
        const isOther = known !== null && !isSameModel(known, model);
        if (isOther && !mayReplace) return 'other-model';
        if (isOther) for (const statement of FORGET) await within(statement);
        if (isOther || known === null) await within(INSERT_MODEL, { ...model });
        await addNearColumn(within);
        for (const { kind, id, vector } of drafts) {
          const bytes = vector === null ? null : vectorBytes(vector);
          await within(kind === 'batch' ? INSERT_BATCH : INSERT_MESSAGE, { id, vector: bytes });
        }
        return isOther ? 'replaced' : 'kept';
      }),
    nearestMessages: async (vector, { filter, limit }) => {
      const listPassing = async (ids: readonly number[]): Promise<ReadonlySet<number>> => {
        const rows = await query(LIST_PASSING, { ...filterValues(filter), ids });
        return new Set(rows.map((row) => readInteger(row, 'id')));
      };
      const candidates = await findCandidates(query, vector, { filter, limit, listPassing });
      if (candidates !== null) {
        const found = rank(vector, await query(LOAD_VECTORS, { ids: candidates }));
        return found.slice(0, limit).map(([id]) => id);
      }
      let best: readonly (readonly [number, number])[] = [];
      for (let after = 0; ;) {
        const rows = await query(LIST_VECTORS, { after });
        const ids = rows.map((row) => readInteger(row, 'id'));
        const wanted = await listPassing(ids);
        const found = rank(
          vector,
          rows.filter((row) => wanted.has(readInteger(row, 'id'))),
        );
        best = [...best, ...found].toSorted((a, b) => b[1] - a[1] || a[0] - b[0]).slice(0, limit);
        if (rows.length < PAGE) return best.map(([id]) => id);
        after = ids.at(-1) ?? 0;
      }
    },
    similarities: async (vector, ids) => new Map(rank(vector, await query(LOAD_VECTORS, { ids }))),
    nearestBatches: async (vector, { filter, limit }) => {
      if (filter.role !== null) return [];
      const load = loadBatch(filter.conversationId === null ? IS_LIVE : IS_LIVE_IN);
      const found: Scored<ArchivedBatch>[] = [];
      const distinct = (): readonly Scored<ArchivedBatch>[] =>
        takeDistinct(found, { hashOf: ({ contentSha256 }) => contentSha256, limit });
      for (const [id, score] of rank(vector, await query(LIST_BATCH_VECTORS))) {
        if (distinct().length >= limit) break;
        const [row] = await query(load, { ...filterValues(filter), id });
        if (row !== undefined) found.push({ ...toArchivedBatch(row), score });
      }
      return distinct();
    },
  };
}

function scopeValues({ sourceSha256, isRemade }: MissingScope): Values {
  return { source: sourceSha256 === null ? null : hashColumn(sourceSha256), isRemade };
}

async function findModel(query: Query): Promise<VectorModel | null> {
  const [row] = await query(FIND_MODEL);
  if (row === undefined) return null;
  return {
    provider: readText(row, 'provider'),
    model: readText(row, 'model'),
    dimensions: readInteger(row, 'dimensions'),
  };
}
