import type Database from 'better-sqlite3';
import type { RunMark, StoredRunFile } from '../../ports/archive.ts';
import { textColumn, timeColumn } from './rows.ts';

// `ON CONFLICT DO NOTHING` would use up a number each time.
const ADD_RUN = `
INSERT INTO runs (token, begun_at_ms) SELECT :token, :begunAtMs WHERE NOT EXISTS (SELECT 1 FROM runs WHERE token = :token)`;
const ADD_FILE = `
INSERT INTO run_files (run_id, compaction_id, source_path, output_path)
SELECT id, :compactionId, :sourcePath, :outputPath FROM runs WHERE token = :token`;
type RunFile = Pick<StoredRunFile, 'compactionId' | 'sourcePath' | 'outputPath'>;

/** Records a file of a run, inside a transaction; gives its id. */
export function createRunRecorder(db: Database.Database): (run: RunMark, file: RunFile) => number {
  const addRun = db.prepare(ADD_RUN);
  const addFile = db.prepare(ADD_FILE);
  return ({ token, begunAt }, { compactionId, sourcePath, outputPath }) => {
    addRun.run({ token, begunAtMs: timeColumn(begunAt) });
    const added = addFile.run({
      token,
      compactionId,
      sourcePath: textColumn(sourcePath),
      outputPath: outputPath === null ? null : textColumn(outputPath),
    });
    return Number(added.lastInsertRowid);
  };
}
