import type { Archive, RunMark, StoredRun } from '../../../ports/archive.ts';
import type { Unit } from '../../../ports/exchange.ts';
import { readTitles } from '../read/lookup.ts';
import {
  readCaller,
  readFields,
  readInteger,
  readMoment,
  readOptionalText,
  readText,
  readTime,
  type Row,
  timeColumn,
} from '../rows.ts';
import { type Query, readNumber, type Sql } from '../sql/query.ts';

/** Of compactions AS c. */
export const OUTPUT_PATH = "CASE WHEN c.output_path = '' THEN c.source_path ELSE c.output_path END";
const OUTPUT = `CASE WHEN f.source_path IS NULL THEN ${OUTPUT_PATH} ELSE f.output_path END`;
/** The paths of run_files AS f, whose compactions are c. */
export const FILE_PATHS = `coalesce(f.source_path, c.source_path) AS source_path, ${OUTPUT} AS output_path`;
/** Every path of a compaction. */
export const LIST_PATHS = `
SELECT source_path AS path FROM compactions WHERE id = :id UNION SELECT output_path FROM compactions WHERE id = :id AND output_path <> ''
UNION SELECT source_path FROM run_files WHERE compaction_id = :id AND source_path IS NOT NULL
UNION SELECT output_path FROM run_files WHERE compaction_id = :id AND output_path IS NOT NULL ORDER BY 1`;
const ADD_RUN = `
INSERT INTO runs (token, begun_at_ms, user_name, host, version, command, undone_at_ms)
VALUES (:token, :begunAtMs, :user, :host, :version, :command, :undoneAtMs) ON CONFLICT DO NOTHING`;
const FIND_RUN = 'SELECT id, undone_at_ms FROM runs WHERE token = :token';
const UNDO_RUN = 'UPDATE runs SET undone_at_ms = :undoneAtMs WHERE id = :id';
const LIST_OF_COMPACTION = `
SELECT f.id, f.run_id, f.undone_at_ms, ${FILE_PATHS} FROM run_files AS f JOIN compactions AS c ON c.id = f.compaction_id
WHERE c.id = :compactionId ORDER BY f.id`;
const UNDO_FILE = 'UPDATE run_files SET undone_at_ms = :undoneAtMs WHERE id = :id';
const ADD_FILE = `
INSERT INTO run_files (run_id, compaction_id, source_path, output_path, undone_at_ms)
VALUES (:runId, :compactionId, :sourcePath, :outputPath, :undoneAtMs) RETURNING id`;
const HAS_PATHS = `
SELECT 1 FROM compactions AS c WHERE id = :compactionId AND source_path = :sourcePath AND ${OUTPUT_PATH} IS NOT DISTINCT FROM :outputPath`;
const FIND_WHOLE = "SELECT id FROM compactions WHERE id = :id AND status = 'applied' AND erasure_id IS NULL";
const LIST_RUNS = `
SELECT * FROM runs WHERE id IN
  (SELECT f.run_id FROM run_files AS f JOIN compactions AS c ON c.id = f.compaction_id WHERE c.status <> 'prepared')
ORDER BY id DESC`;
const LIST_FILES = `
SELECT f.id, f.run_id, f.compaction_id, f.undone_at_ms, ${FILE_PATHS}, c.source_size_bytes, c.output_size_bytes
FROM run_files AS f JOIN compactions AS c ON c.id = f.compaction_id
WHERE c.status <> 'prepared' AND f.run_id IS NOT NULL ORDER BY coalesce(f.source_path, c.source_path), f.id`;
const FIND_OUTPUT = `
SELECT max(r.begun_at_ms) AS at_ms FROM run_files AS f JOIN runs AS r ON r.id = f.run_id JOIN compactions AS c ON c.id = f.compaction_id
WHERE ${OUTPUT} = :path AND f.undone_at_ms IS NULL AND c.status = 'applied'`;
const MARK_FILE = 'UPDATE run_files SET undone_at_ms = :at WHERE id = :id';
const MARK_RUN = 'UPDATE runs SET undone_at_ms = :at WHERE id = :id';

type RunLog = Archive['runs'];
type RunFile = Parameters<RunLog['record']>[1];

type KeptFile = Unit['files'][number];

export function createRunLog({ query, transaction, dialect }: Sql): RunLog {
  const change = (sql: string, values: object): Promise<void> =>
    transaction('write', async (within) => void (await within(sql, { ...values })));
  return {
    record: (run, file) =>
      transaction('write', async (within) => {
        // An erasure that has begun ends before this goes on.
        for (const lock of dialect.storingLocks) await within(lock);
        const found = await within(FIND_WHOLE, { id: file.compactionId });
        if (found.length === 0) return null;
        return recordFile(within, run, file);
      }),
    notePath: async (compactionId, path) => {
      const isKnown = async (within: Query): Promise<boolean> =>
        (await within(LIST_PATHS, { id: compactionId })).some((row) => readText(row, 'path') === path);
      if (await isKnown(query)) return;
      await transaction('write', async (within) => {
        for (const lock of dialect.storingLocks) await within(lock);
        const found = await within(FIND_WHOLE, { id: compactionId });
        if (found.length === 0 || (await isKnown(within))) return;
        const file = { run: null, sourcePath: path, outputPath: null, undoneAtMs: null };
        await keepFile(within, compactionId, file);
      });
    },
    findOutput: async (path) => readTime((await query(FIND_OUTPUT, { path }))[0] ?? { at_ms: null }, 'at'),
    forget: (id) => change('DELETE FROM run_files WHERE id = :id', { id }),
    list: () =>
      transaction('snapshot', async (within): Promise<readonly StoredRun[]> => {
        const files = Map.groupBy(await within(LIST_FILES), (row) => readInteger(row, 'run_id'));
        const titles = await readTitles(within);
        return (await within(LIST_RUNS)).map((row) => toRun(row, files.get(readInteger(row, 'id')) ?? [], titles));
      }),
    markFileUndone: (id, at) => change(MARK_FILE, { id, at: timeColumn(at) }),
    markUndone: (id, at) => change(MARK_RUN, { id, at: timeColumn(at) }),
  };
}

/** Records a file of a run, inside a transaction; gives its id. */
export async function recordFile(query: Query, { token, begunAt, by, command }: RunMark, file: RunFile) {
  const run = { token, begunAtMs: timeColumn(begunAt) ?? 0, by, command, undoneAtMs: null };
  return keepFile(query, file.compactionId, { ...file, run, undoneAtMs: null });
}

/** Keeps a file of a compaction and its run, once; gives its id. The earliest time at which something was undone counts. */
export async function keepFile(
  query: Query,
  compactionId: number,
  { run, sourcePath, outputPath, undoneAtMs }: KeptFile,
): Promise<number> {
  const runId = run === null ? null : await keepRun(query, run);
  const known = (await query(LIST_OF_COMPACTION, { compactionId })).find(
    (row) =>
      row['run_id'] === runId &&
      readText(row, 'source_path') === sourcePath &&
      readOptionalText(row, 'output_path') === outputPath,
  );
  if (known === undefined) {
    const paths = { sourcePath, outputPath };
    const isSame = (await query(HAS_PATHS, { compactionId, ...paths })).length > 0;
    const stored = isSame ? { sourcePath: null, outputPath: null } : paths;
    return readNumber(query, ADD_FILE, { runId, compactionId, ...stored, undoneAtMs });
  }
  const id = readInteger(known, 'id');
  if (isEarlier(undoneAtMs, known)) await query(UNDO_FILE, { id, undoneAtMs });
  return id;
}

async function keepRun(query: Query, run: NonNullable<KeptFile['run']>): Promise<number> {
  const { token, begunAtMs, by, command, undoneAtMs } = run;
  const find = async (): Promise<Row | undefined> => (await query(FIND_RUN, { token }))[0];
  let known = await find();
  if (known === undefined) {
    await query(ADD_RUN, { token, begunAtMs, ...by, command, undoneAtMs });
    known = await find();
  }
  const id = readInteger(known ?? {}, 'id');
  if (known !== undefined && isEarlier(undoneAtMs, known)) await query(UNDO_RUN, { id, undoneAtMs });
  return id;
}

function isEarlier(undoneAtMs: number | null, row: Row): boolean {
  const known = row['undone_at_ms'];
  return undoneAtMs !== null && (typeof known !== 'number' || undoneAtMs < known);
}

function toRun(row: Row, files: readonly Row[], titles: ReadonlyMap<number, string>): StoredRun {
  return {
    ...readFields(row, { id: readInteger, token: readText, begunAt: readMoment }),
    by: readCaller(row),
    ...readFields(row, { command: readOptionalText, undoneAt: readTime }),
    files: files.map((file) => ({
      ...readFields(file, FILE),
      title: titles.get(readInteger(file, 'compaction_id')) ?? null,
      sizeBytes: { before: readInteger(file, 'source_size_bytes'), after: readInteger(file, 'output_size_bytes') },
      undoneAt: readTime(file, 'undone_at'),
    })),
  };
}

const FILE = { id: readInteger, compactionId: readInteger, sourcePath: readText, outputPath: readOptionalText };
