import { vectorIndexSql } from './identity.ts';
import { readBytes, readInteger } from '../rows.ts';
import { filterValues, findLineRange, LINE_PASSES, type VectorEngine } from '../search/engine.ts';
import { forRows, type Query } from '../sql/query.ts';
import { findModel, signBitCount, signBits, signsOf } from '../vectors/vector-store.ts';
import { SQLITE } from './dialect.ts';
import { loadVectors } from './sql.ts';

/** Signs only tell candidates which vectors are near, so this many per result are compared exactly. */
const CANDIDATES_PER_RESULT = 4;
/** The limit of the extension. */
const MAX_CANDIDATES = 4096;
const FIND_NEAREST = 'SELECT line_id FROM message_vector_search WHERE signs MATCH vec_bit(:signs) AND k = :count';
const FIND_NEAREST_OF = `${FIND_NEAREST} AND line_id IN (
  SELECT l.id FROM lines AS l ${SQLITE.lineJoins} WHERE l.id BETWEEN :first AND :last AND ${LINE_PASSES})`;
const INSERT_SIGNS = 'INSERT INTO message_vector_search (line_id, signs) VALUES (:id, vec_bit(:signs))';
const LIST_VECTORS =
  'SELECT line_id AS id, vector FROM message_vectors WHERE vector IS NOT NULL AND line_id > :after ORDER BY line_id LIMIT 1000';

/** Candidates come from an index over the signs of vectors, which needs the extension sqlite-vec. */
export const SQLITE_VECTORS: VectorEngine = {
  prepare: async (query) => {
    if (!loadVectors(query)) throw new Error('the archive was opened without the extension for vectors');
  },
  lock: async () => undefined, // a transaction that writes is alone
  begin: async (query, { dimensions }, isFirst) => {
    if (isFirst) await query(vectorIndexSql(signBitCount(dimensions)));
  },
  forget: async (query) => void (await query('DROP TABLE IF EXISTS message_vector_search')),
  index: async (query, id, vector) => void (await query(INSERT_SIGNS, { id: BigInt(id), signs: signsOf(vector) })),
  findCandidates: async (query, vector, { filter, limit }) => {
    const asked = { signs: signBits(vector), count: Math.min(MAX_CANDIDATES, CANDIDATES_PER_RESULT * limit) };
    if (Object.values(filter).every((wanted) => wanted === null)) return query.numbers(FIND_NEAREST, asked);
    const range = await findLineRange(query, filter, SQLITE);
    return query.numbers(FIND_NEAREST_OF, { ...filterValues(filter), ...range, ...asked });
  },
};

/** Makes the index of vectors again, because a deleted vector leaves its signs in it. The extension must be loaded. */
export async function rebuildVectorIndex(query: Query): Promise<void> {
  const model = await findModel(query);
  if (model === null) return;
  await SQLITE_VECTORS.forget(query);
  await SQLITE_VECTORS.begin(query, model, true);
  await forRows(query, LIST_VECTORS, (row) =>
    SQLITE_VECTORS.index(query, readInteger(row, 'id'), readBytes(row, 'vector')),
  );
}
