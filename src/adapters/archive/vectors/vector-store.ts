import type Database from 'better-sqlite3';
import type {
  MissingScope,
  MissingVector,
  VectorCount,
  VectorCursor,
  VectorDraft,
  VectorModel,
} from '../../../ports/vector-store.ts';
import { guard } from '../failure.ts';
import { type SchemaGuard, vectorIndexSql } from '../identity.ts';
import { hashColumn, readBytes, readInteger, readText, type Row, textColumn } from '../rows.ts';
import type { SyncArchive } from '../sync-archive.ts';
import { forRows, type Query } from '../sql/query.ts';
import { createNearest, isSameModel, signBitCount, signBits, signsOf, vectorBytes } from './nearest.ts';

const FIND_MODEL = 'SELECT provider, model, dimensions FROM vector_model';
const INSERT_MODEL = 'INSERT INTO vector_model (id, provider, model, dimensions) VALUES (1, ?, ?, ?)';
const FORGET = `
DROP TABLE IF EXISTS message_vector_search;
DELETE FROM message_vectors;
DELETE FROM batch_vectors;
DELETE FROM vector_model;`;
// IGNORE: another run may have stored it meanwhile.
const INSERT_MESSAGE = 'INSERT OR IGNORE INTO message_vectors (line_id, vector) VALUES (?, ?)';
const INSERT_BATCH = 'INSERT OR IGNORE INTO batch_vectors (batch_id, vector) VALUES (?, ?)';
const INSERT_SIGNS = 'INSERT INTO message_vector_search (line_id, signs) VALUES (:id, vec_bit(:signs))';

type Place = {
  readonly path: string;
  readonly extension: string | null;
  readonly checkSchema: SchemaGuard;
};

/** Loads the extension on first use. */
export function createVectorStore(
  db: Database.Database,
  { path, extension, checkSchema }: Place,
): SyncArchive['vectors'] {
  const state = { isLoaded: false };
  const withExtension = <T>(work: () => T): T =>
    guard(path, () => {
      if (!state.isLoaded) {
        if (extension === null) throw new Error('the archive was opened without the extension for vectors');
        db.loadExtension(extension);
        state.isLoaded = true;
      }
      return work();
    });
  const findModel = (): VectorModel | null => {
    const row = db.prepare<[], Row>(FIND_MODEL).get();
    if (row === undefined) return null;
    return {
      provider: readText(row, 'provider'),
      model: readText(row, 'model'),
      dimensions: readInteger(row, 'dimensions'),
    };
  };
  const keep = db.transaction(
    (
      model: VectorModel,
      drafts: readonly VectorDraft[],
      mayReplace: boolean,
    ): ReturnType<SyncArchive['vectors']['keep']> => {
      checkSchema();
      const known = findModel();
      const isOther = known !== null && !isSameModel(known, model);
      if (isOther && !mayReplace) return 'other-model';
      if (isOther) db.exec(FORGET);
      if (isOther || known === null) {
        db.prepare(INSERT_MODEL).run(textColumn(model.provider), textColumn(model.model), model.dimensions);
        db.exec(vectorIndexSql(signBitCount(model.dimensions)));
      }
      insertVectors(db, drafts);
      return isOther ? 'replaced' : 'kept';
    },
  );
  const missing = createMissingVectors(db);
  const nearest = createNearest(db);
  return {
    findModel: () => guard(path, findModel),
    count: () => guard(path, missing.count),
    countMissing: (scope) => guard(path, () => missing.countMissing(scope)),
    listMissing: (scope, page) => guard(path, () => missing.list(scope, page)),
    keep: (model, drafts, { mayReplace }) => withExtension(() => keep.immediate(model, drafts, mayReplace)),
    nearestMessages: (vector, limits) => withExtension(() => nearest.nearestMessages(vector, limits)),
    similarities: (vector, lineIds) => withExtension(() => nearest.similarities(vector, lineIds)),
    nearestBatches: (vector, limits) => withExtension(() => nearest.nearestBatches(vector, limits)),
  };
}

function insertVectors(db: Database.Database, drafts: readonly VectorDraft[]): void {
  const insertMessage = db.prepare(INSERT_MESSAGE);
  const insertBatch = db.prepare(INSERT_BATCH);
  const insertSigns = db.prepare(INSERT_SIGNS);
  for (const { kind, id, vector } of drafts) {
    const bytes = vector === null ? null : vectorBytes(vector);
    if (kind === 'batch') {
      insertBatch.run(id, bytes);
      continue;
    }
    const { changes } = insertMessage.run(id, bytes);
    if (changes === 1 && vector !== null) insertSigns.run({ id: BigInt(id), signs: signBits(vector) });
  }
}

const LIST_VECTORS =
  'SELECT line_id AS id, vector FROM message_vectors WHERE vector IS NOT NULL AND line_id > :after ORDER BY line_id LIMIT 1000';

/** Makes the index of vectors again, because a deleted vector leaves its signs in it. The extension must be loaded. */
export async function rebuildVectorIndex(query: Query): Promise<void> {
  const [model] = await query(FIND_MODEL);
  if (model === undefined) return;
  await query('DROP TABLE IF EXISTS message_vector_search');
  await query(vectorIndexSql(signBitCount(readInteger(model, 'dimensions'))));
  await forRows(query, LIST_VECTORS, async (row) => {
    await query(INSERT_SIGNS, { id: BigInt(readInteger(row, 'id')), signs: signsOf(readBytes(row, 'vector')) });
  });
}

// For one source, only its own rows are read, through the indexes that lead to them.
const ofSource = (isOne: boolean): string =>
  isOne ? "c.status = 'applied' AND c.source_sha256 = :source" : "c.status = 'applied'";
const messagesOf = (isOne: boolean): string => `
FROM compactions AS c JOIN blocks AS k ON k.compaction_id = c.id JOIN lines AS l ON l.block_id = k.id
WHERE l.role IS NOT NULL AND ${ofSource(isOne)} AND (:isRemade OR NOT EXISTS (SELECT 1 FROM message_vectors AS v WHERE v.line_id = l.id))`;
/** A batch that was replaced in its own cycle was never shown, and is never found. */
const batchesOf = (isOne: boolean): string => `
FROM compactions AS c JOIN cycles AS y ON y.compaction_id = c.id JOIN batches AS b ON b.cycle_id = y.id
WHERE ${ofSource(isOne)} AND EXISTS (SELECT 1 FROM live_batches AS f WHERE f.batch_id = b.id)
AND (:isRemade OR NOT EXISTS (SELECT 1 FROM batch_vectors AS v WHERE v.batch_id = b.id))`;

const listMessages = (isOne: boolean): string =>
  `SELECT l.id, l.line, c.format ${messagesOf(isOne)} AND l.id > :after ORDER BY l.id LIMIT :limit`;
const listBatches = (isOne: boolean): string =>
  `SELECT b.id, b.content ${batchesOf(isOne)} AND b.id > :after ORDER BY b.id LIMIT :limit`;
const countMissing = (isOne: boolean): string =>
  `SELECT (SELECT count(*) ${messagesOf(isOne)}) + (SELECT count(*) ${batchesOf(isOne)})`;

type Scope = { readonly source?: Uint8Array; readonly isRemade: number };

type MissingVectors = {
  readonly count: () => VectorCount;
  readonly countMissing: (scope: MissingScope) => number;
  readonly list: (
    scope: MissingScope,
    page: { readonly after: VectorCursor; readonly limit: number },
  ) => readonly MissingVector[];
};

/** Finds messages and batches of applied compactions that have no vector. */
function createMissingVectors(db: Database.Database): MissingVectors {
  const toScope = ({ sourceSha256, isRemade }: MissingScope): Scope => ({
    ...(sourceSha256 === null ? {} : { source: hashColumn(sourceSha256) }),
    isRemade: isRemade ? 1 : 0,
  });
  const countOf = (scope: MissingScope): number =>
    db
      .prepare<[Scope], number>(countMissing(scope.sourceSha256 !== null))
      .pluck()
      .get(toScope(scope)) ?? 0;
  return {
    count: () => {
      const total = countOf({ sourceSha256: null, isRemade: true });
      return { done: total - countOf({ sourceSha256: null, isRemade: false }), total };
    },
    countMissing: countOf,
    list: (scope, { after, limit }) => {
      const isOne = scope.sourceSha256 !== null;
      const values = { ...toScope(scope), limit };
      const messages = db
        .prepare<[object], Row>(listMessages(isOne))
        .all({ ...values, after: after.lineId })
        .map((row): MissingVector => ({
          kind: 'message',
          lineId: readInteger(row, 'id'),
          line: readInteger(row, 'line'),
          format: readText(row, 'format'),
        }));
      const left = { ...values, limit: limit - messages.length, after: after.batchId };
      const batches = left.limit < 1 ? [] : db.prepare<[object], Row>(listBatches(isOne)).all(left);
      return [
        ...messages,
        ...batches.map((row): MissingVector => ({
          kind: 'batch',
          batchId: readInteger(row, 'id'),
          content: readText(row, 'content'),
        })),
      ];
    },
  };
}
