import { ok, type Result } from '../../core/result.ts';
import type { Archive, ArchiveFailure } from '../../ports/archive.ts';
import type { OpenSource, OpenTarget, UnitLineDraft, UnitReader } from '../../ports/exchange.ts';
import type { BlockMember } from '../archive/blocks.ts';
import { createCaptureReader } from '../archive/exchange/read-captures.ts';
import { createUnitReader } from '../archive/exchange/read-units.ts';
import { createUnitStore } from '../archive/exchange/unit-store.ts';
import type { PieceWriter } from '../archive/exchange/write-captures.ts';
import type { VectorWriting } from '../archive/exchange/write-rest.ts';
import { FIND_ERASURE, idOf, type UnitTarget, type UnitWriting } from '../archive/exchange/write-units.ts';
import { hashColumn, readText } from '../archive/rows.ts';
import { createPostgresArchive } from './archive.ts';
import { openLines } from './captured-lines.ts';
import { LOCK_CAPTURES } from './capture-writer.ts';
import { guardMethods, type Place } from './failure.ts';
import { thisMachine } from '../runtime/machine.ts';
import { createPartitions } from './migrate.ts';
import { type Query, within } from '../archive/sql/query.ts';
import type { PostgresSql } from './sql.ts';
import { POSTGRES } from './dialect.ts';
import { beginStoring } from './store.ts';
import { buildBlock, INSERT_BLOCK } from './store-lines.ts';
import { INSERT_SPEAKERS } from './store-rows.ts';
import { LOCK_VECTORS } from './vectors.ts';
import { INDEX_BATCH_TERMS, indexWords } from './word-hits.ts';
import { batchVector } from './words.ts';

const IDENTIFY = `
SELECT pg_postmaster_start_time()::text || ' ' || (SELECT oid FROM pg_database WHERE datname = current_database())::text || ' '
  || to_regnamespace(quote_ident(:schema))::oid::text AS identity`;

/** An archive in a database, once it is open. */
export type OpenedSql = { readonly sql: PostgresSql; readonly place: Place; readonly schema: string };

/** The same for every URL of the same archive, as long as its server runs. */
export async function identify({ sql, schema }: OpenedSql): Promise<string> {
  const [row = {}] = await sql.query(IDENTIFY, { schema });
  return readText(row, 'identity');
}

/** Reads one state of an archive: everything goes through one transaction that only reads. */
export async function openSqlSource(opened: OpenedSql): Promise<Result<OpenSource, ArchiveFailure>> {
  const { sql, place, schema } = opened;
  const identity = await identify(opened);
  const { query, rollback } = await sql.begin('snapshot');
  const state = { ...sql, ...within(sql, query) };
  const archive: Archive = createPostgresArchive(state, { place, schema, isReadOnly: true });
  const close = async (): Promise<void> => {
    await rollback();
    await sql.close();
  };
  return ok({ path: place.path, identity, archive, reader: guardMethods(createReader(query), place), close });
}

export async function openSqlTarget(opened: OpenedSql): Promise<Result<OpenTarget, ArchiveFailure>> {
  const { sql, place } = opened;
  const writing = createWriting(opened);
  const store = createUnitStore({ ...writing, ...VECTORS, openPieces, path: place.path }, createReader);
  return ok({ identity: await identify(opened), store: guardMethods(store, place), close: sql.close });
}

function createReader(query: Query): UnitReader {
  return { ...createUnitReader(query), ...createCaptureReader(query) };
}

const THIS_MONTH = "SELECT to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-01') AS month";
const INSERT_COMPACTION = `
INSERT INTO compactions (month, machine, status, format, source_path, output_path, source_sha256, source_size_bytes, source_line_count, source_has_bom,
  output_sha256, output_size_bytes, settings_sha256, settings, created_at_ms, process_id, erasure_id)
VALUES (:month::date, :machine, :status, :format, :sourcePath, :outputPath, :sourceSha256, :sourceSizeBytes, :sourceLineCount, :sourceHasBom,
  :outputSha256, :outputSizeBytes, :settingsSha256, :settings, :createdAtMs, :processId, :erasureId) RETURNING id`;
const INDEX_BATCH = 'INSERT INTO batch_words (batch_id, word_count, words) VALUES (:id, :wordCount, :vector::tsvector)';
const GET_MONTH = 'SELECT month::text AS month FROM compactions WHERE id = :id';
const MARK_ERASED = `
UPDATE lines SET erasure_id = :erasureId WHERE month = :month::date AND line = :line
AND block_id IN (SELECT id FROM blocks WHERE compaction_id = :id AND month = :month::date)`;
const SET_RANGE = `
UPDATE compactions AS c SET first_line_id = r.first, last_line_id = r.last
FROM (SELECT min(l.id) AS first, max(l.id) AS last FROM blocks AS k JOIN lines AS l ON l.block_id = k.id AND l.month = k.month
  WHERE k.compaction_id = :id AND k.month = :month::date) AS r WHERE c.id = :id`;

/**
 * In the order in which an erasure takes its locks. One merge stores at a time, so none stores what another one has just stored; and nobody else
 * takes the label of a batch meanwhile.
 */
const LOCK_MERGE = [LOCK_CAPTURES, ...POSTGRES.storingLocks, 'LOCK TABLE batches IN SHARE ROW EXCLUSIVE MODE'];

function createWriting({ sql, schema }: OpenedSql): UnitWriting {
  const preparePartitions = createPartitions(sql, schema);
  return {
    query: sql.query,
    // It is not repeated after a lost connection: its lines come only once. Merging again goes on there.
    transaction: async (work) => {
      const [row = {}] = await sql.query(THIS_MONTH);
      await preparePartitions(readText(row, 'month'));
      const { query, commit, rollback } = await beginStoring(sql, LOCK_MERGE);
      try {
        const done = await work(query);
        await commit();
        return done;
      } catch (error) {
        await rollback();
        throw error;
      }
    },
    insertCompaction: async (query, columns) => {
      const [row = {}] = await query(THIS_MONTH);
      return idOf(await query(INSERT_COMPACTION, { ...columns, month: row['month'], machine: thisMachine() }));
    },
    indexBatch: async (query, id, content) => {
      await query(INDEX_BATCH, { id, ...batchVector(content) });
      await query(INDEX_BATCH_TERMS, { id });
    },
    storeLines: async (query, target, lines) => {
      const { compactionId: id } = target;
      const [row = {}] = await query(GET_MONTH, { id });
      const month = readText(row, 'month');
      let position = 0;
      for await (const batch of lines) {
        if (batch.length > 0) await storeBlock(query, target, { month, position, lines: batch });
        position += 1;
      }
      await query(indexWords(':id'), { id });
      await query(SET_RANGE, { id, month });
      await query(INSERT_SPEAKERS, { id, month });
    },
  };
}

async function storeBlock(
  query: Query,
  { compactionId, cycleIds, batchIds, erasureId }: UnitTarget,
  of: { readonly month: string; readonly position: number; readonly lines: readonly UnitLineDraft[] },
): Promise<void> {
  const { month, position, lines } = of;
  const members: BlockMember[] = [];
  let offset = 0;
  for (const { line, bytes, sha256, sizeBytes, receipt, outcome, batch, cycle, message, text } of lines) {
    const { id = null, role = 'user', name = null, atMs = null, index = null } = message ?? {};
    const at = atMs === null ? null : new Date(atMs);
    members.push({
      offset: receipt === null ? offset : 0,
      sizeBytes,
      sha256: hashColumn(sha256),
      draft: {
        line,
        outcome,
        cycle: batch?.cycle ?? cycle,
        batch: batch?.batch ?? null,
        message: message === null ? null : { id: id ?? `line:${line}`, role, name, at, index, text },
      },
    });
    offset += bytes.length;
  }
  const cycles = cycleIds.map((cycleId, at) => ({ cycleId, batchIds: batchIds[at] ?? [] }));
  const raw = Buffer.concat(lines.map(({ bytes }) => bytes));
  await query(INSERT_BLOCK, buildBlock({ raw, members }, { compactionId, month, position, cycles }).values);
  for (const { line, receipt } of lines)
    if (receipt !== null)
      await query(MARK_ERASED, { id: compactionId, month, line, erasureId: await erasureId(receipt) });
}

const INSERT_MODEL =
  'INSERT INTO vector_model (id, provider, model, dimensions) VALUES (1, :provider, :model, :dimensions)';
const INSERT_MESSAGE_VECTOR =
  'INSERT INTO message_vectors (line_id, vector) VALUES (:id, :vector) ON CONFLICT DO NOTHING RETURNING line_id';
const INSERT_BATCH_VECTOR =
  'INSERT INTO batch_vectors (batch_id, vector) VALUES (:id, :vector) ON CONFLICT DO NOTHING RETURNING batch_id';

const VECTORS: VectorWriting = {
  canKeepVectors: true,
  beginVectors: async (query, model) => {
    await query(LOCK_VECTORS);
    await query(INSERT_MODEL, { ...model });
  },
  keepVector: async (query, kind, id, vector) =>
    (await query(kind === 'message' ? INSERT_MESSAGE_VECTOR : INSERT_BATCH_VECTOR, { id, vector })).length > 0,
};

async function openPieces(query: Query): Promise<PieceWriter> {
  const lines = await openLines(query);
  return {
    add: async (pieces) => {
      const ids: number[] = [];
      for (const { bytes, sha256, sizeBytes, receipt } of pieces) {
        if (receipt === null) ids.push(...(await lines.add([bytes ?? new Uint8Array()])));
        else {
          const erasureId = idOf(await query(FIND_ERASURE, { receipt }), `receipt ${receipt}`);
          ids.push(await lines.addErased({ sha256: hashColumn(sha256), size: sizeBytes, erasureId }));
        }
      }
      return ids;
    },
    end: async () => void (await lines.end()),
  };
}
