import type Database from 'better-sqlite3';
import { vectorIndexSql } from '../identity.ts';
import { signBitCount, signsOf } from '../vectors/nearest.ts';
import type { VectorWriting } from './write-rest.ts';

const INSERT_MODEL =
  'INSERT INTO vector_model (id, provider, model, dimensions) VALUES (1, :provider, :model, :dimensions)';
const INSERT_MESSAGE_VECTOR =
  'INSERT INTO message_vectors (line_id, vector) VALUES (:id, :vector) ON CONFLICT DO NOTHING RETURNING line_id';
const INSERT_BATCH_VECTOR =
  'INSERT INTO batch_vectors (batch_id, vector) VALUES (:id, :vector) ON CONFLICT DO NOTHING RETURNING batch_id';
const INSERT_SIGNS = 'INSERT INTO message_vector_search (line_id, signs) VALUES (:id, vec_bit(:signs))';

/** Needs the connection's vector extension. */
export function createSqliteVectors(db: Database.Database, canKeepVectors: boolean): VectorWriting {
  return {
    canKeepVectors,
    beginVectors: async (query, { provider, model, dimensions }) => {
      await query(INSERT_MODEL, { provider, model, dimensions });
      db.exec(vectorIndexSql(signBitCount(dimensions)));
    },
    keepVector: async (query, kind, id, vector) => {
      const [added] = await query(kind === 'message' ? INSERT_MESSAGE_VECTOR : INSERT_BATCH_VECTOR, { id, vector });
      if (added === undefined) return false;
      if (kind === 'message' && vector !== null) await query(INSERT_SIGNS, { id: BigInt(id), signs: signsOf(vector) });
      return true;
    },
  };
}
