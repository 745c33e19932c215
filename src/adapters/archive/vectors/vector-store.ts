import type Database from 'better-sqlite3';
import type { VectorDraft, VectorModel, VectorStore } from '../../../ports/vector-store.ts';
import { textColumn } from '../columns.ts';
import { guard } from '../failure.ts';
import { readInteger, readText, type Row } from '../rows.ts';
import type { SchemaGuard } from '../schema-guard.ts';
import { vectorIndexSql } from './index-schema.ts';
import { createMissingVectors } from './missing.ts';
import { createNearest } from './nearest.ts';
import { signBitCount, signBits, vectorBytes } from './vector-bytes.ts';

const FIND_MODEL = 'SELECT provider, model, dimensions FROM vector_model';
const INSERT_MODEL = 'INSERT INTO vector_model (id, provider, model, dimensions) VALUES (1, ?, ?, ?)';
const FORGET = `
DROP TABLE IF EXISTS message_vector_search;
DELETE FROM message_vectors;
DELETE FROM batch_vectors;
DELETE FROM vector_model;`;
// Another run may have kept it meanwhile.
const INSERT_MESSAGE = 'INSERT OR IGNORE INTO message_vectors (line_id, vector) VALUES (?, ?)';
const INSERT_BATCH = 'INSERT OR IGNORE INTO batch_vectors (batch_id, vector) VALUES (?, ?)';
const INSERT_SIGNS = 'INSERT INTO message_vector_search (line_id, signs) VALUES (?, vec_bit(?))';

type Place = {
  readonly path: string;
  readonly extension: string | null;
  readonly checkSchema: SchemaGuard;
};

/** The extension is loaded when it is first needed. */
export function createVectorStore(db: Database.Database, { path, extension, checkSchema }: Place): VectorStore {
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
    (model: VectorModel, drafts: readonly VectorDraft[], mayReplace: boolean): ReturnType<VectorStore['keep']> => {
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
    if (changes === 1 && vector !== null) insertSigns.run(BigInt(id), signBits(vector));
  }
}

function isSameModel(a: VectorModel, b: VectorModel): boolean {
  return a.provider === b.provider && a.model === b.model && a.dimensions === b.dimensions;
}
