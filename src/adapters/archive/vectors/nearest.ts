import type Database from 'better-sqlite3';
import type { ArchivedBatch, Scored, SearchFilter } from '../../../ports/archive-lookup.ts';
import type { VectorModel } from '../../../ports/vector-store.ts';
import { BATCH_PASSES, filterValues, findLineRange, LINE_PASSES } from '../fts-query.ts';
import { BATCH_COLUMNS, IS_LIVE, IS_LIVE_IN, takeDistinct, toArchivedBatch } from '../read/lookup.ts';
import { SQLITE } from '../sqlite/dialect.ts';
import { createStatements, readBytes, readInteger } from '../rows.ts';
import type { SyncArchive } from '../sync-archive.ts';

/** Signs only tell candidates which vectors are near, so this many per result are compared exactly. */
const CANDIDATES_PER_RESULT = 4;
/** The limit of the extension. */
const MAX_CANDIDATES = 4096;
const FIND_NEAREST = 'SELECT line_id FROM message_vector_search WHERE signs MATCH vec_bit(:signs) AND k = :count';
const FIND_NEAREST_OF = `${FIND_NEAREST} AND line_id IN (
  SELECT l.id FROM lines AS l ${SQLITE.lineJoins} WHERE l.id BETWEEN :first AND :last AND ${LINE_PASSES})`;
const LOAD_VECTORS = `
SELECT v.line_id, v.vector FROM json_each(:ids) AS m CROSS JOIN message_vectors AS v ON v.line_id = m.value WHERE v.vector IS NOT NULL`;
const RANK_BATCHES = `
SELECT batch_id, 1 - vec_distance_cosine(vec_int8(vector), vec_int8(:vector)) AS likeness FROM batch_vectors
WHERE vector IS NOT NULL ORDER BY likeness DESC, batch_id`;
const loadBatch = (isLive: string): string => `
SELECT ${BATCH_COLUMNS}, 1 AS is_live FROM batches AS b ${SQLITE.batchJoins} WHERE b.id = :id AND c.status = 'applied' AND ${isLive} AND ${BATCH_PASSES}`;

type Nearest = Pick<SyncArchive['vectors'], 'nearestMessages' | 'similarities' | 'nearestBatches'>;

/** Needs the extension, and stored vectors. */
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
      const asked = { signs: signBits(vector), count: Math.min(MAX_CANDIDATES, CANDIDATES_PER_RESULT * limit) };
      const rows = isUnfiltered(filter)
        ? prepare(FIND_NEAREST).all(asked)
        : prepare(FIND_NEAREST_OF).all({ ...filterValues(filter), ...findLineRange(prepare, filter), ...asked });
      const candidates = rows.map((row) => readInteger(row, 'line_id'));
      return [...similarities(vector, candidates)]
        .toSorted((a, b) => b[1] - a[1] || a[0] - b[0])
        .slice(0, limit)
        .map(([lineId]) => lineId);
    },
    nearestBatches: (vector, { filter, limit }) => {
      if (filter.role !== null) return [];
      const load = prepare(loadBatch(filter.conversationId === null ? IS_LIVE : IS_LIVE_IN));
      const values = filterValues(filter);
      function* likeliest(): Generator<Scored<ArchivedBatch>> {
        for (const { batch_id: id, likeness } of prepare(RANK_BATCHES).all({ vector: vectorBytes(vector) })) {
          const row = load.get({ ...values, id });
          if (row !== undefined && typeof likeness === 'number') yield { ...toArchivedBatch(row), score: likeness };
        }
      }
      return takeDistinct(likeliest(), { hashOf: ({ contentSha256 }) => contentSha256, limit });
    },
  };
}

function isUnfiltered(filter: SearchFilter): boolean {
  return Object.values(filter).every((wanted) => wanted === null);
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
