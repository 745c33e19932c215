import { spaceOut } from '../../../core/search/words.ts';
import { readNumber } from '../sql/query.ts';
import type { StoreEngine } from '../store/engine.ts';
import { SQLITE } from './dialect.ts';

/** Lines come before the rows that they refer to. */
const DEFER_REFERENCES = 'PRAGMA defer_foreign_keys = ON';
const LAST_ID = 'SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = :table), 0) AS id';

const LINES = `SELECT l.id FROM blocks AS k JOIN lines AS l ON ${SQLITE.onBlock} WHERE k.compaction_id = :id`;
const BATCHES =
  'SELECT batches.id FROM batches JOIN cycles ON cycles.id = batches.cycle_id WHERE cycles.compaction_id = :id';

export const SQLITE_STORE: StoreEngine = {
  dialect: SQLITE,
  prepare: async (query) => {
    await query(DEFER_REFERENCES);
    return {};
  },
  prepareAhead: null,
  // As SQLite would give them to the rows. Nobody else stores before the end of the transaction.
  reserve: async (query, table, count) => {
    const last = await readNumber(query, LAST_ID, { table });
    return Array.from({ length: count }, (_, at) => last + 1 + at);
  },
  indexBatch: async (query, id, content) =>
    void (await query('INSERT INTO batch_search (rowid, content) VALUES (:id, :text)', {
      id,
      text: spaceOut(content).toWellFormed(),
    })),
  headColumns: {},
  lockLabels: null,
  findPrepared: "SELECT id FROM compactions WHERE id = :id AND status = 'prepared'",
  // The schema deletes the rows of a compaction with it, except its lines and what the full-text indexes have of them.
  deletePrepared: [
    `DELETE FROM unindexed_lines WHERE first_id IN (${LINES})`,
    `DELETE FROM lines WHERE id IN (${LINES})`,
    `DELETE FROM batch_search WHERE rowid IN (${BATCHES})`,
    // Nothing else is in the packs of a compaction before it is applied.
    'PRAGMA defer_foreign_keys = ON',
    'DELETE FROM packs WHERE id IN (SELECT pack_id FROM blocks WHERE compaction_id = :id)',
    'DELETE FROM compactions WHERE id = :id',
  ],
};
