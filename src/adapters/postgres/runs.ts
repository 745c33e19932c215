import type { Archive, RunMark, StoredRun } from '../../ports/archive.ts';
import { readInteger, timeColumn } from '../archive/rows.ts';
import { LIST_FILES, LIST_RUNS, toRun } from '../archive/runs.ts';
import type { Query, Sql } from '../archive/sql/query.ts';

const ADD_RUN =
  'INSERT INTO runs (token, begun_at_ms) VALUES (:token, :begunAtMs) ON CONFLICT (token) DO UPDATE SET token = :token RETURNING id';
const RESERVE_FILE = "SELECT nextval(pg_get_serial_sequence('run_files', 'id')) AS id";
const ADD_FILE = `
INSERT INTO run_files (id, run_id, compaction_id, source_path, output_path)
VALUES (:id, :runId, :compactionId, :sourcePath, :outputPath) ON CONFLICT (id) DO NOTHING`;

type RunFile = Parameters<Archive['runs']['record']>[1];

/** The id of a file that will be recorded. */
export async function reserveFile(query: Query): Promise<number> {
  const [reserved = {}] = await query(RESERVE_FILE);
  return readInteger(reserved, 'id');
}

/** Records a file of a run, inside a transaction. If a lost commit was stored all the same, the second time does nothing. */
export async function recordFile(
  query: Query,
  { token, begunAt }: RunMark,
  { id, compactionId, sourcePath, outputPath }: RunFile & { readonly id: number },
): Promise<void> {
  const [run = {}] = await query(ADD_RUN, { token, begunAtMs: timeColumn(begunAt) });
  await query(ADD_FILE, { id, runId: readInteger(run, 'id'), compactionId, sourcePath, outputPath });
}

export function createRunLog(sql: Sql): Archive['runs'] {
  return {
    record: async (run, file) => {
      const id = await reserveFile(sql.query);
      await sql.transaction('write', (query) => recordFile(query, run, { ...file, id }));
      return id;
    },
    forget: async (id) => void (await sql.query('DELETE FROM run_files WHERE id = :id', { id })),
    list: () =>
      sql.transaction('snapshot', async (query): Promise<readonly StoredRun[]> => {
        const files = Map.groupBy(await query(LIST_FILES), (row) => readInteger(row, 'run_id'));
        return (await query(LIST_RUNS)).map((row) => toRun(row, files.get(readInteger(row, 'id')) ?? []));
      }),
    markFileUndone: async (id, at) =>
      void (await sql.query('UPDATE run_files SET undone_at_ms = :at WHERE id = :id', { id, at: timeColumn(at) })),
    markUndone: async (id, at) =>
      void (await sql.query('UPDATE runs SET undone_at_ms = :at WHERE id = :id', { id, at: timeColumn(at) })),
  };
}
