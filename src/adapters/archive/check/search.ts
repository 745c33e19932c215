import type Database from 'better-sqlite3';
import { attempt, finding, type Finding } from './finding.ts';

/** Rows of an index that are looked at at one go. */
const WINDOW_IDS = 50_000;

const INDEXES = [
  { name: 'the search index of messages', table: 'message_search', owned: 'lines AS o WHERE o.role IS NOT NULL AND' },
  { name: 'the search index of batches', table: 'batch_search', owned: 'batches AS o WHERE' },
] as const;

/** Rows of the full-text indexes that lead to nothing; gives control back (null) between windows of them. */
export function* checkLeftovers(db: Database.Database): Generator<Finding | null> {
  for (const { name, table, owned } of INDEXES) {
    const place = { name, compactionIds: [] };
    // A contentless index knows its rows by their sizes.
    const getLast = `SELECT coalesce(max(id), 0) FROM ${table}_docsize`;
    const listLeftovers = `
SELECT d.id FROM ${table}_docsize AS d
WHERE d.id > ? AND d.id <= ? AND NOT EXISTS (SELECT 1 FROM ${owned} o.id = d.id) ORDER BY d.id`;
    yield* attempt(place, function* (): Generator<Finding | null> {
      const last = db.prepare<[], number>(getLast).pluck().get() ?? 0;
      const list = db.prepare<[number, number], number>(listLeftovers).pluck();
      for (let from = 0; from < last; from += WINDOW_IDS) {
        yield null;
        const ids = list.all(from, from + WINDOW_IDS);
        const what = `${ids.length} of its rows ${ids.length === 1 ? 'leads' : 'lead'} to nothing (the first is ${ids[0] ?? 0})`;
        if (ids.length > 0) yield finding('search', place, what);
      }
    });
  }
}
