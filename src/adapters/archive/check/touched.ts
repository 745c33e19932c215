import type Database from 'better-sqlite3';
import { describeDamage } from '../failure.ts';
import { readOptionalText, readText, type Row } from '../rows.ts';

/** A compaction's own files, and those of later ones: they show its batches, and lead through it to the original. */
const LIST_TOUCHED = `
WITH RECURSIVE touched (id) AS (
  SELECT id FROM cycles WHERE compaction_id = :id
  UNION SELECT c.id FROM touched JOIN cycles AS c ON c.parent_cycle_id = touched.id
)
SELECT source_path, output_path FROM compactions
WHERE id = :id OR id IN (SELECT c.compaction_id FROM touched JOIN cycles AS c ON c.id = touched.id) ORDER BY id`;

/** Gives the files that damage in compactions touches, each once; as many as can still be told. */
export function createFileFinder(db: Database.Database): (compactionIds: readonly number[]) => readonly string[] {
  const listTouched = db.prepare<[{ readonly id: number }], Row>(LIST_TOUCHED);
  const find = (id: number): readonly string[] => {
    try {
      const paths = listTouched
        .all({ id })
        .flatMap((row) => [readText(row, 'source_path'), readOptionalText(row, 'output_path')]);
      return paths.filter((path) => path !== null);
    } catch (error) {
      if (describeDamage(error) === null) throw error;
      return [];
    }
  };
  // What is wrong with one compaction comes one after the other.
  const last: { id: number; files: readonly string[] } = { id: -1, files: [] };
  const findOnce = (id: number): readonly string[] => {
    if (last.id !== id) {
      last.files = find(id);
      last.id = id;
    }
    return last.files;
  };
  return (compactionIds) => [...new Set(compactionIds.flatMap(findOnce))];
}
