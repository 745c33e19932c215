import type Database from 'better-sqlite3';
import { readInteger, type Row } from '../rows.ts';
import { attempt, finding, type Finding } from './finding.ts';

const PLACE = { name: 'the vectors', compactionIds: [] } as const;
const INDEX = { name: 'the search index of vectors', compactionIds: [] } as const;
const DIMENSIONS = 'SELECT coalesce((SELECT dimensions FROM vector_model), -1)';
const COUNT_WRONG = `
SELECT
  (SELECT count(*) FROM message_vectors WHERE length(vector) <> :dimensions) +
  (SELECT count(*) FROM batch_vectors WHERE length(vector) <> :dimensions) AS wrong`;
/** A table of the index that can be read without the extension. */
const HAS_INDEX = "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'message_vector_search_rowids'";
const COUNT_UNINDEXED = `
SELECT
  (SELECT count(*) FROM message_vectors AS v WHERE v.vector IS NOT NULL
    AND NOT EXISTS (SELECT 1 FROM message_vector_search_rowids AS i WHERE i.rowid = v.line_id)) AS missing,
  (SELECT count(*) FROM message_vector_search_rowids AS i
    WHERE NOT EXISTS (SELECT 1 FROM message_vectors AS v WHERE v.line_id = i.rowid AND v.vector IS NOT NULL)) AS leftover`;

/** Vectors that are not of their model's dimensions, that would not be found, or that stand for nothing; gives control back (null) in between. */
export function* checkVectors(db: Database.Database): Generator<Finding | null> {
  yield null;
  yield* attempt<Finding | null>(PLACE, function* () {
    const dimensions = db.prepare<[], number>(DIMENSIONS).pluck().get() ?? -1;
    const wrong = readInteger(db.prepare<[object], Row>(COUNT_WRONG).get({ dimensions }) ?? {}, 'wrong');
    if (wrong > 0) yield finding('wrong-count', PLACE, `of another length than their model gives: ${wrong}`);
    yield null;
    if (dimensions < 0) return;
    if (db.prepare<[], number>(HAS_INDEX).pluck().get() !== 1) {
      yield finding('search', INDEX, 'it is gone');
      return;
    }
    const row = db.prepare<[], Row>(COUNT_UNINDEXED).get() ?? {};
    const [missing, leftover] = [readInteger(row, 'missing'), readInteger(row, 'leftover')];
    if (missing > 0) yield finding('search', INDEX, `not in it, and so never found: ${missing}`);
    if (leftover > 0) yield finding('search', INDEX, `rows that lead to nothing: ${leftover}`);
  });
}
