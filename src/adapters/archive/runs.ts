import type Database from 'better-sqlite3';
import type { RunMark, StoredRun, StoredRunFile } from '../../ports/archive.ts';
import { guard } from './failure.ts';
import type { SchemaGuard } from './identity.ts';
import { readInteger, readOptionalText, readText, readTime, type Row, textColumn, timeColumn } from './rows.ts';
import type { SyncArchive } from './sync-archive.ts';

// `ON CONFLICT DO NOTHING` would use up a number each time.
const ADD_RUN = `
INSERT INTO runs (token, begun_at_ms) SELECT :token, :begunAtMs WHERE NOT EXISTS (SELECT 1 FROM runs WHERE token = :token)`;
const ADD_FILE = `
INSERT INTO run_files (run_id, compaction_id, source_path, output_path)
SELECT id, :compactionId, :sourcePath, :outputPath FROM runs WHERE token = :token`;
const FORGET_FILE = 'DELETE FROM run_files WHERE id = ?';
export const LIST_RUNS = `
SELECT * FROM runs WHERE id IN
  (SELECT f.run_id FROM run_files AS f JOIN compactions AS c ON c.id = f.compaction_id WHERE c.status = 'applied')
ORDER BY id DESC`;
export const LIST_FILES = `
SELECT f.*, c.source_size_bytes, c.output_size_bytes FROM run_files AS f JOIN compactions AS c ON c.id = f.compaction_id
WHERE c.status = 'applied' ORDER BY f.source_path, f.id`;
const MARK_FILE = 'UPDATE run_files SET undone_at_ms = ? WHERE id = ?';
const MARK_RUN = 'UPDATE runs SET undone_at_ms = ? WHERE id = ?';

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

export function createRunLog(
  db: Database.Database,
  { path, checkSchema }: { readonly path: string; readonly checkSchema: SchemaGuard },
): SyncArchive['runs'] {
  const record = createRunRecorder(db);
  const listRuns = db.prepare<[], Row>(LIST_RUNS);
  const listFiles = db.prepare<[], Row>(LIST_FILES);
  const [forget, markFile, markRun] = [FORGET_FILE, MARK_FILE, MARK_RUN].map((sql) => db.prepare(sql));
  const write = <T>(work: () => T): T =>
    guard(path, () =>
      db
        .transaction(() => {
          checkSchema();
          return work();
        })
        .immediate(),
    );
  const list = (): readonly StoredRun[] => {
    const files = Map.groupBy(listFiles.all(), (row) => readInteger(row, 'run_id'));
    return listRuns.all().map((row) => toRun(row, files.get(readInteger(row, 'id')) ?? []));
  };
  return {
    record: (run, file) => write(() => record(run, file)),
    forget: (fileId) => write(() => void forget?.run(fileId)),
    list: () => guard(path, db.transaction(list)),
    markFileUndone: (fileId, at) => write(() => void markFile?.run(timeColumn(at), fileId)),
    markUndone: (runId, at) => write(() => void markRun?.run(timeColumn(at), runId)),
  };
}

export function toRun(row: Row, files: readonly Row[]): StoredRun {
  return {
    id: readInteger(row, 'id'),
    token: readText(row, 'token'),
    begunAt: readTime(row, 'begun_at_ms') ?? new Date(0),
    undoneAt: readTime(row, 'undone_at_ms'),
    files: files.map((file) => ({
      id: readInteger(file, 'id'),
      compactionId: readInteger(file, 'compaction_id'),
      sourcePath: readText(file, 'source_path'),
      outputPath: readOptionalText(file, 'output_path'),
      sizeBytes: { before: readInteger(file, 'source_size_bytes'), after: readInteger(file, 'output_size_bytes') },
      undoneAt: readTime(file, 'undone_at_ms'),
    })),
  };
}
