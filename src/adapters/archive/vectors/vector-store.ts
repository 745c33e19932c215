import type {
  ArchivedBatch,
  Scored,
  MissingScope,
  MissingVector,
  VectorModel,
  VectorStore,
} from '../../../ports/archive-lookup.ts';
import { BATCH_COLUMNS, createDistinct, IS_LIVE, IS_LIVE_IN, toArchivedBatch } from '../read/lookup.ts';
import { hashColumn, readBytes, readFields, readInteger, readText, type Row } from '../rows.ts';
import { BATCH_PASSES, filterValues, LINE_PASSES, type VectorEngine } from '../search/engine.ts';
import { type Dialect, hasHash, type Query, readNumber, type Sql, type Values } from '../sql/query.ts';
import { readContent, type Reading, withTexts } from '../texts.ts';

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
  const countOf = (scope: MissingScope): Promise<number> => {
    const sql = `SELECT (SELECT count(*) ${messagesOf(scope, dialect)}) + (SELECT count(*) ${batchesOf(scope)})`;
    return readNumber(query, sql, scopeValues(scope));
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
      const rows = await query(
        `SELECT l.id AS line_id, l.line, c.format ${messagesOf(scope, dialect)} AND l.id > :after ORDER BY l.id LIMIT :limit`,
        { ...values, limit, after: after.lineId },
      );
      const messages = rows.map((row): MissingVector => ({
        kind: 'message',
        ...readFields(row, { lineId: readInteger, line: readInteger, format: readText }),
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
      const passing = async (ids: readonly number[]): Promise<ReadonlySet<number>> =>
        new Set(await query.numbers(listPassing, { ...filterValues(filter), ids }));
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
        const left = rows.filter((row) => wanted.has(readInteger(row, 'id')));
        const found = rank(vector, left);
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
  return row === undefined ? null : readFields(row, { provider: readText, model: readText, dimensions: readInteger });
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

const LARGEST = 127;

/**
 * One signed byte per number, scaled so that the largest is 127. Only the direction matters, and it stays accurate to
 * about a hundredth.
 */
export function vectorBytes(vector: Float32Array): Uint8Array {
  const largest = vector.reduce((most, number) => Math.max(most, Math.abs(number)), 0);
  const scale = largest === 0 ? 0 : LARGEST / largest;
  return new Uint8Array(Int8Array.from(vector, (number) => Math.round(number * scale)).buffer);
}

/** The limit of the extension's index, and enough signs to find candidates near vectors. */
const MAX_SIGNS = 8192;

/** One bit for each of the first numbers: whether it is above 0. Unused bits of the last byte are 0. */
export function signBits(vector: Float32Array): Uint8Array {
  const bits = new Uint8Array(signBitCount(vector.length) / 8);
  vector.subarray(0, MAX_SIGNS).forEach((number, at) => {
    if (number > 0) bits[at >> 3] = (bits[at >> 3] ?? 0) | (1 << (at & 7));
  });
  return bits;
}

/** The signs of a stored vector. */
export function signsOf(stored: Uint8Array): Uint8Array {
  return signBits(Float32Array.from(new Int8Array(stored.buffer, stored.byteOffset, stored.byteLength)));
}

/** A multiple of 8. */
export function signBitCount(dimensions: number): number {
  return Math.ceil(Math.min(dimensions, MAX_SIGNS) / 8) * 8;
}

/** The cosine of the angle between a vector and a stored one; 0 if either is zero. */
export function cosine(vector: Float32Array, stored: Uint8Array): number {
  const numbers = new Int8Array(stored.buffer, stored.byteOffset, stored.byteLength);
  let dot = 0;
  let ownSquares = 0;
  let storedSquares = 0;
  for (let at = 0; at < numbers.length; at += 1) {
    const [own, other] = [vector[at] ?? 0, numbers[at] ?? 0];
    dot += own * other;
    ownSquares += own * own;
    storedSquares += other * other;
  }
  const lengths = Math.sqrt(ownSquares * storedSquares);
  return lengths === 0 ? 0 : dot / lengths;
}

export function isSameModel(a: VectorModel, b: VectorModel): boolean {
  return a.provider === b.provider && a.model === b.model && a.dimensions === b.dimensions;
}
