import type Database from 'better-sqlite3';
import { createLineStore } from '../capture-writer.ts';
import { vectorIndexSql } from '../identity.ts';
import { hashColumn } from '../rows.ts';
import { signBitCount, signsOf } from '../vectors/nearest.ts';
import type { CaptureWriting } from './write-captures.ts';
import type { VectorWriting } from './write-rest.ts';
import { FIND_ERASURE, idOf } from './write-units.ts';

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

export function createSqlitePieces(db: Database.Database): CaptureWriting['openPieces'] {
  const openLines = createLineStore(db);
  return async (query) => {
    db.pragma('defer_foreign_keys = ON'); // lines come before their block
    const lines = openLines();
    return {
      add: async (pieces) => {
        const ids: number[] = [];
        for (const { bytes, sha256, sizeBytes, receipt } of pieces) {
          if (bytes !== null || receipt === null) ids.push(lines.add(bytes ?? new Uint8Array()));
          else {
            const erasureId = idOf(await query(FIND_ERASURE, { receipt }), `receipt ${receipt}`);
            ids.push(lines.addErased({ sha256: hashColumn(sha256), sizeBytes, erasureId }));
          }
        }
        return ids;
      },
      end: async () => void lines.end(),
    };
  };
}
