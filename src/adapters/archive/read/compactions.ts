import type { StoredBatch } from '../../../ports/archive-lookup.ts';
import type { Archive, KeptRun, StoredCompaction, StoredCycle, StoredInsertedLine } from '../../../ports/archive.ts';
import type { UnitBatch } from '../../../ports/exchange.ts';
import type { ErasureMark } from '../../../ports/retention.ts';
import { DamageError } from '../failure.ts';
import {
  hashColumn,
  readBytes,
  readFields,
  readHash,
  readInteger,
  readLevel,
  readMoment,
  readOptionalInteger,
  readOptionalText,
  readText,
  readTime,
  type Row,
  toHex,
} from '../rows.ts';
import { type Dialect, hasHash, type Query, type Sql } from '../sql/query.ts';
import { readContent, type Reading, withTexts } from '../texts.ts';

/** Selects from compactions AS c with their settings AS s. */
const COMPACTIONS =
  'SELECT c.*, s.sha256 AS settings_sha256, s.value AS settings FROM compactions AS c JOIN settings AS s ON s.id = c.settings_id';
export const GET_COMPACTION = `${COMPACTIONS} WHERE c.id = :id`;
const FIND_SAME = `
${COMPACTIONS} WHERE ${hasHash('c.source_sha256', 'source')} AND s.sha256 = :settings AND c.status = 'applied' AND c.erasure_id IS NULL
ORDER BY c.id DESC LIMIT 1`;
const LIST_PREPARED = `${COMPACTIONS} WHERE c.status = 'prepared' ORDER BY c.id`;
export const LIST_INSERTED =
  'SELECT compaction_id, position, before_line, text_offset, text_size, erased_sha256 FROM inserted_lines WHERE compaction_id = :id ORDER BY position';
export const LIST_KEPT =
  'SELECT first_line, line_count, size_bytes, line_sha256 FROM kept_runs WHERE compaction_id = :id ORDER BY position';
const CYCLE_COLUMNS =
  'y.*, (SELECT p.compaction_id FROM cycles AS p WHERE p.id = y.parent_cycle_id) AS parent_compaction_id';
const LIST_CYCLES = `SELECT ${CYCLE_COLUMNS} FROM cycles AS y WHERE y.compaction_id = :id ORDER BY y.position`;
const FIND_CYCLES = `
SELECT ${CYCLE_COLUMNS} FROM cycles AS y JOIN compactions AS c ON c.id = y.compaction_id
WHERE ${hasHash('y.clip_sha256', 'clip')} AND c.status <> 'prepared' ORDER BY y.id DESC`;
/** How every label begins that this program makes, before the id of its conversation. */
export const LABEL_START = 'compaction-batch-';
/** The label of batches AS b of cycles AS y. */
export const LABEL = `CASE WHEN b.label_end LIKE '=%' THEN substr(b.label_end, 2) ELSE '${LABEL_START}' || y.conversation_id || b.label_end END`;
const listMade = ({ isAmong }: Dialect): string =>
  `SELECT b.*, ${LABEL} AS label, y.compaction_id FROM batches AS b JOIN cycles AS y ON y.id = b.cycle_id WHERE ${isAmong('b.cycle_id', 'cycles')} ORDER BY b.cycle_id, b.position`;
const listLive = ({ isAmong }: Dialect): string => `
SELECT live.cycle_id AS shown_in, b.*, ${LABEL} AS label, y.compaction_id FROM live_batches AS live JOIN batches AS b ON b.id = live.batch_id JOIN cycles AS y ON y.id = b.cycle_id
WHERE ${isAmong('live.cycle_id', 'cycles')} ORDER BY live.cycle_id, live.position`;
const listSources = ({ isAmong }: Dialect): string => `
SELECT s.batch_id, s.source_id FROM batch_sources AS s JOIN batches AS b ON b.id = s.batch_id
WHERE ${isAmong('b.cycle_id', 'cycles')} ORDER BY s.batch_id, s.position`;

/** Reads compactions without their lines, each as one snapshot. */
export function createCompactionReader(sql: Sql & Reading) {
  const { dialect, unpack } = sql;

  const toCompaction = async (query: Query, [row]: readonly Row[]): Promise<StoredCompaction | null> => {
    if (row === undefined) return null;
    const id = readInteger(row, 'id');
    return {
      ...readHead(row),
      id,
      status: STATUSES.find((status) => status === row['status']) ?? 'prepared',
      createdAt: readMoment(row, 'created_at'),
      erased: readMark(await findMarks(query, dialect, [row]), row),
      cycles: await toCycles(query, await query(LIST_CYCLES, { id })),
      inserted: (await withTexts({ query, dialect, unpack }, await query(LIST_INSERTED, { id }))).map(toInserted),
      kept: (await query(LIST_KEPT, { id })).map(toKept),
    };
  };

  /** A batch whose row is missing is absent from `live` and `made`; callers must check for that. */
  const toCycles = async (query: Query, rows: readonly Row[]): Promise<readonly StoredCycle[]> => {
    const cycles = rows.map((row) => readInteger(row, 'id'));
    if (cycles.length === 0) return [];
    const list = async (sql: string, by: string): Promise<ReadonlyMap<number, readonly Row[]>> =>
      Map.groupBy(await withTexts({ query, dialect, unpack }, await query(sql, { cycles })), (row) =>
        readInteger(row, by),
      );
    const [live, made] = [await list(listLive(dialect), 'shown_in'), await list(listMade(dialect), 'cycle_id')];
    const sources = Map.groupBy(await query(listSources(dialect), { cycles }), (row) => readInteger(row, 'batch_id'));
    return rows.map((row) => {
      const id = readInteger(row, 'id');
      const shown = (live.get(id) ?? []).map(toBatch);
      const parent = { parentCycleId: readOptionalInteger, parentCompactionId: readOptionalInteger };
      return {
        id,
        ...readFields(row, { compactionId: readInteger, ...parent }),
        ...readCycle(row),
        isErased: shown.some(({ content }) => content === ''),
        live: shown,
        made: (made.get(id) ?? []).map((one) => ({
          ...toBatch(one),
          sources: (sources.get(readInteger(one, 'id')) ?? []).map((source) => readInteger(source, 'source_id')),
        })),
      };
    });
  };

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
      const machine = dialect.thisMachine();
      return (await sql.query(LIST_PREPARED)).map((row) => {
        const { sourcePath, outputPath, source, output, processId } = readHead(row);
        const isLocal = machine === null || readText(row, 'machine') === machine;
        return { id: readInteger(row, 'id'), sourcePath, outputPath, source, output, processId, isLocal };
      });
    },
  } satisfies Partial<Archive>;
}

type Marks = ReadonlyMap<number, ErasureMark>;

/** The erasures of rows, by their `erasure_id`. */
export async function findMarks(query: Query, { isAmong }: Dialect, rows: readonly Row[]): Promise<Marks> {
  const ids = [...new Set(rows.flatMap((row) => readOptionalInteger(row, 'erasure_id') ?? []))];
  if (ids.length === 0) return new Map();
  const found = await query(`SELECT id, receipt, at_ms FROM erasures WHERE ${isAmong('id', 'ids')}`, { ids });
  const marks = { receipt: readText, at: readMoment };
  return new Map(found.map((row) => [readInteger(row, 'id'), readFields(row, marks)]));
}

export function readMark(marks: Marks, row: Row): ErasureMark | null {
  return marks.get(readOptionalInteger(row, 'erasure_id') ?? 0) ?? null;
}

/** What a compaction was made from, and with what. */
export function readHead(row: Row) {
  return {
    ...readFields(row, { format: readText, sourcePath: readText }),
    outputPath: row['output_path'] === '' ? readText(row, 'source_path') : readOptionalText(row, 'output_path'),
    source: {
      sha256: readHash(row, 'source_sha256'),
      sizeBytes: readInteger(row, 'source_size_bytes'),
      lineCount: readInteger(row, 'source_line_count'),
      hasBom: readInteger(row, 'source_has_bom') === 1,
    },
    output: { sha256: readHash(row, 'output_sha256'), sizeBytes: readInteger(row, 'output_size_bytes') },
    ...readFields(row, { settingsSha256: readHash, settings: readText, processId: readInteger }),
  };
}

const STATUSES = ['applied', 'erased'] as const;

/** With its `text`. */
export function toInserted(row: Row): StoredInsertedLine {
  const erasedSha256 = row['erased_sha256'] === null ? null : readHash(row, 'erased_sha256');
  return { beforeLine: readInteger(row, 'before_line'), bytes: readBytes(row, 'text'), erasedSha256 };
}

const HASH_HEX_LENGTH = 32;

export function toKept(row: Row): KeptRun {
  const lineCount = readInteger(row, 'line_count');
  const firstLine = readInteger(row, 'first_line');
  const hex = toHex(readBytes(row, 'line_sha256'));
  if (hex.length !== lineCount * HASH_HEX_LENGTH)
    throw new DamageError(`the kept lines from source line ${firstLine} lack hashes`);
  const hashOf = (_: unknown, at: number): string => hex.slice(at * HASH_HEX_LENGTH, (at + 1) * HASH_HEX_LENGTH);
  return {
    firstLine,
    lineCount,
    sizeBytes: readInteger(row, 'size_bytes'),
    lineSha256: Array.from({ length: lineCount }, hashOf),
  };
}

/** As every archive has it. */
export function readCycle(row: Row) {
  const cycle = { conversationId: readText, cycle: readInteger, clipSha256: readHash };
  return readFields(row, { ...cycle, messagesCompressed: readInteger, title: readOptionalText });
}

/** With its `text`. */
export function toBatch(row: Row): StoredBatch {
  const { startMs: _start, endMs: _end, firstIndex, lastIndex, ...batch } = readBatch(row);
  return {
    ...batch,
    id: readInteger(row, 'id'),
    startTime: readTime(row, 'start'),
    endTime: readTime(row, 'end'),
    ...(firstIndex === null ? {} : { firstIndex }),
    ...(lastIndex === null ? {} : { lastIndex }),
  };
}

/** With its `text`: as every archive has it. */
export function readBatch(row: Row): Omit<UnitBatch, 'sources'> {
  return { label: readText(row, 'label'), content: readContent(row), ...readFields(row, BATCH) };
}

const BATCH = {
  contentSha256: readHash,
  depth: readInteger,
  startMs: readOptionalInteger,
  endMs: readOptionalInteger,
  messageCount: readInteger,
  firstIndex: readOptionalInteger,
  lastIndex: readOptionalInteger,
  level: readLevel,
};
