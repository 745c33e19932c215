import type { ErasureMark } from '../../ports/retention.ts';
import type { StoredRun, StoredCompaction, StoredCycle, Archive, CachedSummary, RunMark } from '../../ports/archive.ts';
import { readCompaction, readCycle, readHead, toBatch, toInserted, toKept } from '../archive/load.ts';
import {
  hashColumn,
  readInteger,
  readOptionalInteger,
  readText,
  readTime,
  type Row,
  timeColumn,
} from '../archive/rows.ts';
import { LIST_FILES, LIST_RUNS, toRun } from '../archive/runs.ts';
import { BATCH_SQL, OutdatedChangeError, toBatchRecord } from '../archive/batch-records.ts';
import { toSummary } from '../archive/summaries.ts';
import { thisMachine } from '../runtime/machine.ts';
import type { Query, Sql } from './sql.ts';

const GET_COMPACTION = 'SELECT * FROM compactions WHERE id = :id';
const FIND_SAME = `
SELECT * FROM compactions WHERE source_sha256 = :source AND settings_sha256 = :settings AND status = 'applied' AND erasure_id IS NULL ORDER BY id DESC LIMIT 1`;
const LIST_PREPARED = "SELECT * FROM compactions WHERE status = 'prepared' ORDER BY id";
const LIST_INSERTED =
  'SELECT before_line, bytes, raw_size, erased_sha256 FROM inserted_lines WHERE compaction_id = :id ORDER BY position';
const LIST_KEPT =
  'SELECT first_line, line_count, size_bytes, line_sha256 FROM kept_runs WHERE compaction_id = :id ORDER BY position';
const CYCLE_COLUMNS =
  'y.*, (SELECT p.compaction_id FROM cycles AS p WHERE p.id = y.parent_cycle_id) AS parent_compaction_id';
const LIST_CYCLES = `SELECT ${CYCLE_COLUMNS} FROM cycles AS y WHERE y.compaction_id = :id ORDER BY y.position`;
const FIND_CYCLES = `
SELECT ${CYCLE_COLUMNS} FROM cycles AS y JOIN compactions AS c ON c.id = y.compaction_id
WHERE y.clip_sha256 = :clip AND c.status <> 'prepared' ORDER BY y.id DESC`;
const LIST_MADE = 'SELECT * FROM batches WHERE cycle_id = ANY(:cycles::bigint[]) ORDER BY cycle_id, position';
const LIST_LIVE = `
SELECT live.cycle_id AS shown_in, batches.* FROM live_batches AS live JOIN batches ON batches.id = live.batch_id
WHERE live.cycle_id = ANY(:cycles::bigint[]) ORDER BY live.cycle_id, live.position`;
const LIST_SOURCES = `
SELECT s.batch_id, s.source_id FROM batch_sources AS s JOIN batches AS b ON b.id = s.batch_id
WHERE b.cycle_id = ANY(:cycles::bigint[]) ORDER BY s.batch_id, s.position`;

type CompactionReader = Pick<Archive, 'findCycles' | 'loadCompaction' | 'findSame' | 'listPrepared'>;

export function createCompactionReader(sql: Sql): CompactionReader {
  return {
    findCycles: (clipSha256) =>
      sql.transaction('snapshot', async (query) =>
        toCycles(query, await query(FIND_CYCLES, { clip: hashColumn(clipSha256) })),
      ),
    loadCompaction: (id) =>
      sql.transaction('snapshot', async (query) => toCompaction(query, await query(GET_COMPACTION, { id }))),
    findSame: (sourceSha256, settingsSha256) =>
      sql.transaction('snapshot', async (query) => {
        const values = { source: hashColumn(sourceSha256), settings: hashColumn(settingsSha256) };
        return toCompaction(query, await query(FIND_SAME, values));
      }),
    listPrepared: async () => {
      const machine = thisMachine();
      return (await sql.query(LIST_PREPARED)).map((row) => ({
        ...readHead(row),
        id: readInteger(row, 'id'),
        isLocal: readText(row, 'machine') === machine,
      }));
    },
  };
}

async function toCompaction(query: Query, [row]: readonly Row[]): Promise<StoredCompaction | null> {
  if (row === undefined) return null;
  const compaction = readCompaction(row);
  const { id } = compaction;
  return {
    ...compaction,
    erased: readMark(await findMarks(query, [row]), row),
    cycles: await toCycles(query, await query(LIST_CYCLES, { id })),
    inserted: (await query(LIST_INSERTED, { id })).map(toInserted),
    kept: (await query(LIST_KEPT, { id })).map(toKept),
  };
}

/** A batch whose row is missing is absent from `live` and `made`; callers must check for that. */
async function toCycles(query: Query, rows: readonly Row[]): Promise<readonly StoredCycle[]> {
  const cycles = rows.map((row) => readInteger(row, 'id'));
  if (cycles.length === 0) return [];
  const live = Map.groupBy(await query(LIST_LIVE, { cycles }), (row) => readInteger(row, 'shown_in'));
  const made = Map.groupBy(await query(LIST_MADE, { cycles }), (row) => readInteger(row, 'cycle_id'));
  const sources = Map.groupBy(await query(LIST_SOURCES, { cycles }), (row) => readInteger(row, 'batch_id'));
  return rows.map((row) => {
    const cycle = readCycle(row);
    const shown = (live.get(cycle.id) ?? []).map(toBatch);
    return {
      ...cycle,
      isErased: shown.some(({ content }) => content === ''),
      live: shown,
      made: (made.get(cycle.id) ?? []).map((one) => ({
        ...toBatch(one),
        sources: (sources.get(readInteger(one, 'id')) ?? []).map((source) => readInteger(source, 'source_id')),
      })),
    };
  });
}

const LIST_MARKS = 'SELECT id, receipt, at_ms FROM erasures WHERE id = ANY(:ids::bigint[])';

type Marks = ReadonlyMap<number, ErasureMark>;

/** The erasures of rows, by their `erasure_id`. */
export async function findMarks(query: Query, rows: readonly Row[]): Promise<Marks> {
  const ids = [...new Set(rows.flatMap((row) => readOptionalInteger(row, 'erasure_id') ?? []))];
  const found = ids.length === 0 ? [] : await query(LIST_MARKS, { ids });
  return new Map(
    found.map((row) => {
      const at = readTime(row, 'at_ms') ?? new Date(Number.NaN);
      return [readInteger(row, 'id'), { receipt: readText(row, 'receipt'), at }] as const;
    }),
  );
}

export function readMark(marks: Marks, row: Row): ErasureMark | null {
  return marks.get(readOptionalInteger(row, 'erasure_id') ?? 0) ?? null;
}

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

const FIND_SUMMARY = 'SELECT * FROM summaries WHERE request_sha256 = :request';
const KEEP_SUMMARY = `
INSERT INTO summaries (request_sha256, provider, model, text, input_tokens, cached_input_tokens, output_tokens, created_at_ms)
VALUES (:request, :provider, :model, :text, :input, :cached, :output, :createdAtMs) ON CONFLICT DO NOTHING`;

export function createSummaryCache({ query, transaction }: Sql): Archive['summaries'] {
  const keepWith = async (
    change: Query,
    { request, summary }: { readonly request: string; readonly summary: CachedSummary },
  ): Promise<void> => {
    const { provider, model, text, usage, createdAt } = summary;
    await change(KEEP_SUMMARY, {
      request: hashColumn(request),
      provider,
      model,
      text,
      input: usage.input_tokens,
      cached: usage.cached_input_tokens ?? 0,
      output: usage.output_tokens,
      createdAtMs: timeColumn(createdAt),
    });
  };
  return {
    find: async (requestSha256) => {
      const [row] = await query(FIND_SUMMARY, { request: hashColumn(requestSha256) });
      return row === undefined ? null : toSummary(row);
    },
    keep: (request, summary) => keepWith(query, { request, summary }),
    keepAll: (summaries) =>
      transaction('write', async (change) => {
        for (const one of summaries) await keepWith(change, one);
      }),
  };
}

export function createBatchRecords({ query, transaction }: Sql): Archive['batches'] {
  return {
    list: async (kind, { state, ...page }) => {
      const rows =
        state === null
          ? await query(BATCH_SQL.list, { kind, ...page })
          : await query(BATCH_SQL.listInState, { kind, state, ...page });
      return rows.map(toBatchRecord);
    },
    find: async (kind, keys) =>
      (await Promise.all(keys.map((key) => query(BATCH_SQL.find, { kind, key })))).flat().map(toBatchRecord),
    change: async (changes) => {
      try {
        await transaction('write', async (change) => {
          for (const { from, ...one } of changes) {
            const done = await change(from === null ? BATCH_SQL.add : BATCH_SQL.change, { ...one, from });
            if (done.length === 0) throw new OutdatedChangeError();
          }
        });
        return true;
      } catch (error) {
        if (error instanceof OutdatedChangeError) return false;
        throw error;
      }
    },
  };
}
