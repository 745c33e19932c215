import type Database from 'better-sqlite3';
import type { ErasurePlan } from '../../ports/retention.ts';
import { createBlockCache } from './blocks.ts';
import { erase, type ErasureDialect, findEffect, LIST_ERASURES, toErasure } from './erase.ts';
import { archiveError, guard } from './failure.ts';
import type { SchemaGuard } from './identity.ts';
import { isPurged, purge } from './purge.ts';
import {
  addHold,
  FIRST_PIECE,
  findMessageLines,
  lastFileId,
  listErasable,
  listHolds,
  readPieces,
  removeHold,
} from './retention.ts';
import { checkRoom } from './room.ts';
import type { Row } from './rows.ts';
import type { SyncArchive } from './sync-archive.ts';
import { rebuildVectorIndex } from './vectors/vector-store.ts';
import { ask, createRunner, type Work } from './work.ts';

const JOINS = { onBlock: 'k.id = l.block_id', onCompaction: 'k.compaction_id = c.id' };

/** Lines are deleted with their block. */
function* deleteBlocks(): Work<void> {
  yield* ask('DELETE FROM blocks WHERE compaction_id IN (SELECT id FROM erased_compactions)');
}

const DIALECT: ErasureDialect = {
  idType: 'INTEGER',
  ids: '(SELECT value AS id FROM json_each(:ids))',
  onBlock: JOINS.onBlock,
  deleteWords: (batches, lines) => [
    `DELETE FROM batch_search WHERE rowid IN (${batches})`,
    ...lines.map((ids) => `DELETE FROM message_search WHERE rowid IN (${ids})`),
  ],
  deleteBlocks,
};
/** A deleted row leaves its words in the index until the index is merged. */
const MERGE_INDEXES = `
INSERT INTO message_search (message_search) VALUES ('optimize');
INSERT INTO batch_search (batch_search) VALUES ('optimize');`;
const HAS_VECTORS = 'SELECT 1 FROM vector_model';

type Place = { readonly path: string; readonly extension: string | null; readonly checkSchema: SchemaGuard };

/** Holds and erasures. After an erasure, `purge` rewrites the file, because freed pages and the log still have the bytes. */
export function createRetention(
  db: Database.Database,
  { path, extension, checkSchema }: Place,
): SyncArchive['retention'] {
  const run = createRunner(db);
  const read = <T>(work: () => Work<T>): T => guard(path, () => run(work()));
  const change = <T>(work: () => Work<T>): T => {
    const transaction = db.transaction((): T => {
      checkSchema();
      return run(work());
    });
    return guard(path, () => transaction.immediate());
  };
  const eraseAll = db.transaction((plan: ErasurePlan) => {
    checkSchema();
    const erased = run(erase(plan, { dialect: DIALECT, path, id: null }));
    db.exec(MERGE_INDEXES);
    if (erased.vectors > 0) rebuildVectorIndex(db);
    checkRoom(db, path);
    return erased;
  });
  /** What is in the temporary tables is rolled back. */
  const tryOut = <T>(work: () => Work<T>): T => {
    const isQueryOnly = db.pragma('query_only', { simple: true });
    db.pragma('query_only = OFF'); // the temporary tables are not in the archive
    db.exec('SAVEPOINT effect');
    try {
      return run(work());
    } finally {
      db.exec('ROLLBACK TO effect; RELEASE effect');
      db.pragma(`query_only = ${String(isQueryOnly)}`);
    }
  };
  return {
    listHolds: () => read(listHolds),
    addHold: (hold) => change(() => addHold(hold)),
    removeHold: (scope) => change(() => removeHold(scope)),
    lastFileId: () => read(lastFileId),
    listErasable: function* pages() {
      for (let after = 0; ;) {
        const found = read(() => listErasable(after, JOINS));
        const last = found.at(-1);
        if (last === undefined) return;
        after = last.id;
        yield found;
      }
    },
    findMessageLines: (messageId) => read(() => findMessageLines(messageId)),
    readPieces: function* pages(stateId) {
      const recent = createBlockCache<Uint8Array>();
      for (let place = FIRST_PIECE; ;) {
        const page = read(() => readPieces(stateId, place, recent));
        if (page === null) return;
        yield page.pieces;
        ({ place } = page);
      }
    },
    findEffect: (ids) => guard(path, () => tryOut(() => findEffect(ids, DIALECT))),
    erase: (plan) =>
      guard(path, () => {
        if (db.prepare(HAS_VECTORS).get() !== undefined) {
          const reason = 'it has vectors, and they can be removed only with sqlite-vec, which is not installed';
          if (extension === null) throw archiveError({ kind: 'cannot-open', path, reason });
          db.loadExtension(extension);
        }
        return eraseAll.immediate(plan);
      }),
    purge: () => guard(path, () => purge(db, path)),
    isPurged: () => guard(path, () => isPurged(db)),
    listErasures: () => guard(path, () => db.prepare<[], Row>(LIST_ERASURES).all().map(toErasure)),
  };
}
