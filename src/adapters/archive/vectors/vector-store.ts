import type {
  ArchivedBatch,
  Scored,
  MissingScope,
  MissingVector,
  VectorModel,
  VectorStore,
} from '../../../ports/archive-lookup.ts';
import { BATCH_COLUMNS, createDistinct, IS_LIVE, IS_LIVE_IN, toArchivedBatch } from '../read/lookup.ts';
import { hashColumn, readBytes, readInteger, readText, type Row } from '../rows.ts';
import { BATCH_PASSES, filterValues, LINE_PASSES, type VectorEngine } from '../search/engine.ts';
import { type Dialect, hasHash, type Query, type Sql, type Values } from '../sql/query.ts';
import { readContent, type Reading, withTexts } from '../texts.ts';
import { cosine, isSameModel, vectorBytes } from './nearest.ts';

const FIND_MODEL = 'SELECT provider, model, dimensions FROM vector_model';
const FORGET = ['DELETE FROM message_vectors', 'DELETE FROM batch_vectors', 'DELETE FROM vector_model'];
// Another run may have stored it meanwhile.
const INSERT = {
  message:
    'INSERT INTO message_vectors (line_id, vector) VALUES (:id, :vector) ON CONFLICT DO NOTHING RETURNING line_id',
  batch: 'INSERT INTO batch_vectors (batch_id, vector) VALUES (:id, :vector) ON CONFLICT DO NOTHING RETURNING batch_id',
} as const;
const PAGE = 5000;
const LIST_VECTORS = `
SELECT line_id AS id, vector FROM message_vectors WHERE line_id > :after AND vector IS NOT NULL ORDER BY line_id LIMIT ${PAGE}`;
const LIST_BATCH_VECTORS = 'SELECT batch_id AS id, vector FROM batch_vectors WHERE vector IS NOT NULL';

// For one source, only its own rows are read, through the indexes that lead to them.
const ofSource = ({ sourceSha256 }: MissingScope): string =>
  sourceSha256 === null ? "c.status = 'applied'" : `c.status = 'applied' AND ${hasHash('c.source_sha256', 'source')}`;
const messagesOf = (scope: MissingScope, { onBlock, onCompaction }: Dialect): string => `
FROM compactions AS c JOIN blocks AS k ON ${onCompaction} JOIN lines AS l ON ${onBlock}
WHERE l.role IS NOT NULL AND ${ofSource(scope)} ${scope.isRemade ? '' : 'AND NOT EXISTS (SELECT 1 FROM message_vectors AS v WHERE v.line_id = l.id)'}`;
/** A batch that was replaced in its own cycle was never shown, and is never found. */
const batchesOf = (scope: MissingScope): string => `
FROM compactions AS c JOIN cycles AS y ON y.compaction_id = c.id JOIN batches AS b ON b.cycle_id = y.id
WHERE ${ofSource(scope)} AND EXISTS (SELECT 1 FROM live_batches AS f WHERE f.batch_id = b.id)
${scope.isRemade ? '' : 'AND NOT EXISTS (SELECT 1 FROM batch_vectors AS v WHERE v.batch_id = b.id)'}`;

/** Vectors of messages and summaries. */
export function createVectorStore(sql: Sql & Reading, engine: VectorEngine): VectorStore {
  const { query, dialect } = sql;
  const listPassing = `SELECT l.id FROM lines AS l ${dialect.lineJoins} WHERE ${dialect.isAmong('l.id', 'ids')} AND ${LINE_PASSES}`;
  const loadVectors = `
SELECT line_id AS id, vector FROM message_vectors WHERE ${dialect.isAmong('line_id', 'ids')} AND vector IS NOT NULL`;
  const loadBatch = (isLive: string): string => `
SELECT ${BATCH_COLUMNS}, 1 AS is_live FROM batches AS b ${dialect.batchJoins} WHERE b.id = :id AND c.status = 'applied' AND ${isLive} AND ${BATCH_PASSES}`;
  const countOf = async (scope: MissingScope): Promise<number> => {
    const [row = {}] = await query(
      `SELECT (SELECT count(*) ${messagesOf(scope, dialect)}) + (SELECT count(*) ${batchesOf(scope)}) AS count`,
      scopeValues(scope),
    );
    return readInteger(row, 'count');
  };
  return {
    findModel: () => findModel(query),
    count: async () => {
      const total = await countOf({ sourceSha256: null, isRemade: true });
      return { done: total - (await countOf({ sourceSha256: null, isRemade: false })), total };
    },
    countMissing: countOf,
    listMissing: async (scope, { after, limit }) => {
      const values = scopeValues(scope);
      const messages = (
        await query(
          `SELECT l.id, l.line, c.format ${messagesOf(scope, dialect)} AND l.id > :after ORDER BY l.id LIMIT :limit`,
          { ...values, limit, after: after.lineId },
        )
      ).map((row): MissingVector => ({
        kind: 'message',
        lineId: readInteger(row, 'id'),
        line: readInteger(row, 'line'),
        format: readText(row, 'format'),
      }));
      const left = limit - messages.length;
      if (left < 1) return messages;
      const batches = await query(
        `SELECT b.id, y.compaction_id, b.text_offset, b.text_size ${batchesOf(scope)} AND b.id > :after ORDER BY b.id LIMIT :limit`,
        { ...values, limit: left, after: after.batchId },
      );
      return [
        ...messages,
        ...(await withTexts(sql, batches)).map((row): MissingVector => ({
          kind: 'batch',
          batchId: readInteger(row, 'id'),
          content: readContent(row),
        })),
      ];
    },
    keep: (model, drafts, { mayReplace }) =>
      sql.transaction('write', async (within) => {
        await engine.prepare(within);
        await engine.lock(within);
        const known = await findModel(within);
        const isOther = known !== null && !isSameModel(known, model);
        if (isOther && !mayReplace) return 'other-model';
        if (isOther) for (const statement of FORGET) await within(statement);
        if (isOther) await engine.forget(within);
        await beginVectors(within, engine, { model, isFirst: isOther || known === null });
        for (const { kind, id, vector } of drafts)
          await keepVector(within, engine, { kind, id, vector: vector === null ? null : vectorBytes(vector) });
        return isOther ? 'replaced' : 'kept';
      }),
    nearestMessages: async (vector, { filter, limit }) => {
      await engine.prepare(query);
      const passing = async (ids: readonly number[]): Promise<ReadonlySet<number>> => {
        const rows = await query(listPassing, { ...filterValues(filter), ids });
        return new Set(rows.map((row) => readInteger(row, 'id')));
      };
      const candidates = await engine.findCandidates(query, vector, { filter, limit, listPassing: passing });
      if (candidates !== null) {
        const found = rank(vector, await query(loadVectors, { ids: candidates }));
        return found.slice(0, limit).map(([id]) => id);
      }
      let best: readonly (readonly [number, number])[] = [];
      for (let after = 0; ;) {
        const rows = await query(LIST_VECTORS, { after });
        const ids = rows.map((row) => readInteger(row, 'id'));
        const wanted = await passing(ids);
        const found = rank(
          vector,
          rows.filter((row) => wanted.has(readInteger(row, 'id'))),
        );
        best = [...best, ...found].toSorted((a, b) => b[1] - a[1] || a[0] - b[0]).slice(0, limit);
        if (rows.length < PAGE) return best.map(([id]) => id);
        after = ids.at(-1) ?? 0;
      }
    },
    similarities: async (vector, ids) => new Map(rank(vector, await query(loadVectors, { ids }))),
    nearestBatches: async (vector, { filter, limit }) => {
      if (filter.role !== null) return [];
      const load = loadBatch(filter.conversationId === null ? IS_LIVE : IS_LIVE_IN);
      const distinct = createDistinct<Scored<ArchivedBatch>>(({ contentSha256 }) => contentSha256, limit);
      for (const [id, score] of rank(vector, await query(LIST_BATCH_VECTORS))) {
        if (distinct.isFull()) break;
        const [row] = await withTexts(sql, await query(load, { ...filterValues(filter), id }));
        if (row !== undefined) distinct.add({ ...toArchivedBatch(row), score });
      }
      return distinct.list();
    },
  };
}

/** Ids with the cosines of their vectors, best first. */
function rank(vector: Float32Array, rows: readonly Row[]): readonly (readonly [number, number])[] {
  return rows
    .map((row) => [readInteger(row, 'id'), cosine(vector, readBytes(row, 'vector'))] as const)
    .toSorted((a, b) => b[1] - a[1] || a[0] - b[0]);
}

function scopeValues({ sourceSha256 }: MissingScope): Values {
  return sourceSha256 === null ? {} : { source: hashColumn(sourceSha256) };
}

export async function findModel(query: Query): Promise<VectorModel | null> {
  const [row] = await query(FIND_MODEL);
  if (row === undefined) return null;
  return {
    provider: readText(row, 'provider'),
    model: readText(row, 'model'),
    dimensions: readInteger(row, 'dimensions'),
  };
}

/** Makes room for vectors of a model. `isFirst`: the archive has none. */
export async function beginVectors(
  query: Query,
  engine: VectorEngine,
  { model, isFirst }: { readonly model: VectorModel; readonly isFirst: boolean },
): Promise<void> {
  const { provider, dimensions } = model;
  if (isFirst) await query.insert('vector_model', [{ id: 1, provider, model: model.model, dimensions }]);
  await engine.begin(query, model, isFirst);
}

/** Stores a vector, as `vectorBytes` gives it, unless there is one; says whether it is new. */
export async function keepVector(
  query: Query,
  engine: VectorEngine,
  { kind, id, vector }: { readonly kind: keyof typeof INSERT; readonly id: number; readonly vector: Uint8Array | null },
): Promise<boolean> {
  if ((await query(INSERT[kind], { id, vector })).length === 0) return false;
  if (kind === 'message' && vector !== null) await engine.index(query, id, vector);
  return true;
}
