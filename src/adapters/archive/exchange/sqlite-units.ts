import type Database from 'better-sqlite3';
import { spaceOut } from '../../../core/search/words.ts';
import type { UnitLineDraft } from '../../../ports/exchange.ts';
import { compressReadably, createLineStore } from '../capture-writer.ts';
import { guardStep } from '../failure.ts';
import { type SchemaGuard, vectorIndexSql } from '../identity.ts';
import { hashColumn, OUTCOMES, ROLES } from '../rows.ts';
import { cutForSearch, isSpeaker } from '../store-rows.ts';
import { createQuery } from '../sqlite/sql.ts';
import { signBitCount, signsOf } from '../vectors/nearest.ts';
import type { Query } from '../sql/query.ts';
import type { CaptureWriting } from './write-captures.ts';
import type { VectorWriting } from './write-rest.ts';
import { FIND_ERASURE, idOf, type UnitTarget, type UnitWriting } from './write-units.ts';

const INSERT_COMPACTION = `
INSERT INTO compactions (status, format, source_path, output_path, source_sha256, source_size_bytes, source_line_count, source_has_bom,
  output_sha256, output_size_bytes, settings_sha256, settings, created_at_ms, process_id, erasure_id)
VALUES (:status, :format, :sourcePath, :outputPath, :sourceSha256, :sourceSizeBytes, :sourceLineCount, :sourceHasBom,
  :outputSha256, :outputSizeBytes, :settingsSha256, :settings, :createdAtMs, :processId, :erasureId) RETURNING id`;
const INDEX_BATCH = 'INSERT INTO batch_search (rowid, content) VALUES (:id, :text)';
const INSERT_BLOCK = `
INSERT INTO blocks (compaction_id, position, first_line, raw_size_bytes, data) VALUES (:compactionId, :position, :firstLine, :size, :data) RETURNING id`;
const INSERT_LINE = `
INSERT INTO lines (block_id, line, offset, size_bytes, fate, cycle_id, batch_id, role, at_ms, message_index, message_id, name, traits, sha256, erasure_id)
VALUES (:blockId, :line, :offset, :size, :fate, :cycleId, :batchId, :role, :atMs, :index, :messageId, :name, :traits, :sha256, :erasureId) RETURNING id`;
const INDEX_MESSAGE = 'INSERT INTO message_search (rowid, text) VALUES (:id, :text)';
const INSERT_MODEL =
  'INSERT INTO vector_model (id, provider, model, dimensions) VALUES (1, :provider, :model, :dimensions)';
const INSERT_MESSAGE_VECTOR =
  'INSERT INTO message_vectors (line_id, vector) VALUES (:id, :vector) ON CONFLICT DO NOTHING RETURNING line_id';
const INSERT_BATCH_VECTOR =
  'INSERT INTO batch_vectors (batch_id, vector) VALUES (:id, :vector) ON CONFLICT DO NOTHING RETURNING batch_id';
const INSERT_SIGNS = 'INSERT INTO message_vector_search (line_id, signs) VALUES (:id, vec_bit(:signs))';
const INSERT_SPEAKER = 'INSERT INTO speakers (name) VALUES (:name) ON CONFLICT DO NOTHING';

/** Stores units through a connection of its own. */
export function createSqliteWriting(
  db: Database.Database,
  { path, checkSchema }: { readonly path: string; readonly checkSchema: SchemaGuard },
): UnitWriting {
  const query = createQuery(db);
  return {
    query,
    transaction: async (work) => {
      guardStep(db, path, () => {
        db.exec('BEGIN IMMEDIATE');
        checkSchema();
      });
      try {
        const done = await work(query);
        guardStep(db, path, () => db.exec('COMMIT'));
        return done;
      } catch (error) {
        if (db.inTransaction) db.exec('ROLLBACK');
        throw error;
      }
    },
    insertCompaction: async (within, columns) => idOf(await within(INSERT_COMPACTION, columns)),
    indexBatch: async (within, id, content) => void (await within(INDEX_BATCH, { id, text: spaceOut(content) })),
    storeLines: async (within, target, lines) => {
      let position = 0;
      for await (const batch of lines) {
        if (batch.length > 0) await storeBlock(within, target, { position, lines: batch });
        position += 1;
      }
    },
  };
}

async function storeBlock(
  query: Query,
  { compactionId, cycleIds, batchIds, erasureId }: UnitTarget,
  { position, lines }: { readonly position: number; readonly lines: readonly UnitLineDraft[] },
): Promise<void> {
  const raw = Buffer.concat(lines.map(({ bytes }) => bytes));
  const data = compressReadably(raw);
  const block = { compactionId, position, firstLine: lines[0]?.line, size: raw.length, data };
  const blockId = idOf(await query(INSERT_BLOCK, block));
  let offset = 0;
  for (const { line, bytes, sha256, sizeBytes, receipt, outcome, batch, cycle, message, text } of lines) {
    const id = idOf(
      await query(INSERT_LINE, {
        blockId,
        line,
        offset: receipt === null ? offset : 0,
        size: sizeBytes,
        fate: OUTCOMES.indexOf(outcome),
        cycleId: cycle === null ? null : cycleIds[cycle],
        batchId: batch === null ? null : batchIds[batch.cycle]?.[batch.batch],
        role: message === null ? null : ROLES.indexOf(message.role),
        atMs: message?.atMs ?? null,
        index: message?.index ?? null,
        messageId: message?.id ?? null,
        name: message?.name ?? null,
        traits: message?.traits ?? 0,
        sha256: hashColumn(sha256),
        erasureId: receipt === null ? null : await erasureId(receipt),
      }),
    );
    offset += bytes.length;
    if (message === null) continue;
    await query(INDEX_MESSAGE, { id, text: spaceOut(cutForSearch(text)) });
    if (message.name !== null && isSpeaker(message.role)) await query(INSERT_SPEAKER, { name: message.name });
  }
}

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
