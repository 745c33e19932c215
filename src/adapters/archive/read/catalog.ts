import type {
  ArchiveFigures,
  ArchiveLookup,
  ArchivedBatch,
  ArchivedLine,
  BatchName,
  CompactionSummary,
  LineName,
} from '../../../ports/archive-lookup.ts';
import { messageIdColumn, readHash, readInteger, readOptionalText, readText, readTime, type Row } from '../rows.ts';
import type { CapturedMessages } from '../search/captured.ts';
import { measureUnindexed } from '../search/indexing.ts';
import type { Sql, Values, Dialect } from '../sql/query.ts';
import { type Reading, withTexts } from '../texts.ts';
import { IS_SETTLED } from '../store/packs.ts';
import { OUTPUT_PATH } from '../store/runs.ts';
import { LABEL } from './compactions.ts';
import {
  BATCH_COLUMNS,
  IS_LIVE,
  LINE_COLUMNS,
  readTitles,
  toArchivedBatch,
  toArchivedLine,
  toOrigin,
} from './lookup.ts';

function createStatements({ batchJoins, lineJoins, blockOfLine, isAmong }: Dialect) {
  const batches = `SELECT ${BATCH_COLUMNS}, CAST(${IS_LIVE} AS int) AS is_live FROM batches AS b ${batchJoins} WHERE c.status = 'applied'`;
  const lines = `SELECT ${LINE_COLUMNS} FROM lines AS l ${lineJoins} WHERE c.status = 'applied'`;
  const labels = `SELECT ${LABEL} AS label FROM batches AS b ${batchJoins} WHERE c.status = 'applied'`;
  const applied = "(SELECT id FROM compactions WHERE status = 'applied')";
  const archivedCount =
    'c.source_line_count - CAST((SELECT coalesce(sum(line_count), 0) FROM kept_runs WHERE compaction_id = c.id) AS bigint)';
  return {
    batchById: `${batches} AND b.id = :id LIMIT :limit`,
    batchByLabel: `${batches} AND ${LABEL} = :label LIMIT :limit`,
    batchesByPrefix: `${batches} AND ${LABEL} >= :prefix AND ${LABEL} < :end ORDER BY ${LABEL} LIMIT :limit`,
    sourcesOf: `${batches} AND b.id IN (SELECT source_id FROM batch_sources WHERE batch_id = :id) ORDER BY b.id`,
    replacementsOf: `${batches} AND b.id IN (SELECT batch_id FROM batch_sources WHERE source_id = :id) ORDER BY b.id`,
    lineById: `${lines} AND l.id = :id`,
    linesById: `${lines} AND ${isAmong('l.id', 'ids')} ORDER BY l.id`,
    // These two scan every line (a tenth of a second for a million) where there is no index for it.
    linesByMessage: `${lines} AND l.message_id = :messageId ORDER BY l.id`,
    linesByPlace: `${lines} AND l.line = :line AND l.message_id IS NULL AND l.role IS NOT NULL ORDER BY l.id`,
    // Labels are looked for in all batches, which are few. Those with the longest common prefix are among those just before a text in their order, and the next ones.
    labelsBefore: `${labels} AND ${LABEL} < :text ORDER BY ${LABEL} DESC LIMIT :limit`,
    labelsAfter: `${labels} AND ${LABEL} >= :text ORDER BY ${LABEL} LIMIT :limit`,
    compactions: `
SELECT c.id AS compaction_id, c.format, c.source_path, c.created_at_ms, ${OUTPUT_PATH} AS output_path, c.source_sha256, s.sha256 AS settings_sha256, c.source_size_bytes, c.output_size_bytes,
  c.source_line_count, ${archivedCount} AS archived_count
FROM compactions AS c JOIN settings AS s ON s.id = c.settings_id WHERE c.status = 'applied' ORDER BY c.id DESC`,
    conversations: `
SELECT y.compaction_id, y.conversation_id, y.cycle FROM cycles AS y JOIN compactions AS c ON c.id = y.compaction_id
WHERE c.status = 'applied' ORDER BY y.compaction_id, y.position`,
    counts: `
SELECT
  (SELECT count(*) FROM compactions WHERE status = 'applied') AS compactions,
  (SELECT count(*) FROM compactions WHERE status = 'prepared') AS prepared,
  (SELECT count(DISTINCT conversation_id) FROM cycles WHERE compaction_id IN ${applied}) AS conversations,
  (SELECT count(*) FROM batches JOIN cycles ON cycles.id = batches.cycle_id WHERE compaction_id IN ${applied}) AS batches,
  (SELECT count(*) FROM lines ${blockOfLine} WHERE compaction_id IN ${applied} AND role IS NOT NULL) AS messages,
  (SELECT CAST(coalesce(sum(length(data)), 0) AS bigint) FROM packs AS p WHERE ${IS_SETTLED}) AS packed_bytes,
  (SELECT min(created_at_ms) FROM compactions WHERE status = 'applied') AS oldest_ms,
  (SELECT max(created_at_ms) FROM compactions WHERE status = 'applied') AS newest_ms`,
    // A block of lines holds nothing else.
    formats: `
SELECT c.format, count(*) AS compactions,
  CAST(coalesce(sum((SELECT sum(raw_size_bytes) FROM blocks WHERE compaction_id = c.id AND position >= 0)), 0) AS bigint) AS original_bytes,
  CAST(sum(${archivedCount}) AS bigint) AS lines
FROM compactions AS c WHERE c.status = 'applied' GROUP BY c.format ORDER BY original_bytes DESC, c.format`,
    captured: `
SELECT (SELECT count(*) FROM captured_files) AS files, CAST(coalesce(sum(raw_size_bytes), 0) AS bigint) AS original_bytes,
  CAST(coalesce(sum(length(data)), 0) AS bigint) AS compressed_bytes FROM captured_blocks`,
  };
}

type Statements = ReturnType<typeof createStatements>;
type Chosen = readonly [sql: string, values: Values];

function chooseBatches(sql: Statements, name: BatchName, limit: number): Chosen {
  if (name.kind === 'id') return [sql.batchById, { id: name.id, limit }];
  if (name.kind === 'label') return [sql.batchByLabel, { label: name.label, limit }];
  const { prefix } = name;
  return [sql.batchesByPrefix, { prefix, end: `${prefix}\u{10ffff}`, limit }];
}

/** An id of the form `line:N` is stored as a line number. */
function chooseLines(sql: Statements, name: LineName): Chosen {
  if (name.kind === 'id') return [sql.lineById, { id: name.id }];
  const place = /^line:(\d{1,15})$/.exec(name.messageId)?.[1];
  return place === undefined
    ? [sql.linesByMessage, { messageId: messageIdColumn(name.messageId) }]
    : [sql.linesByPlace, { line: Number(place) }];
}

type Catalog = Pick<
  ArchiveLookup,
  | 'findBatches'
  | 'findLines'
  | 'loadLines'
  | 'nearLabels'
  | 'loadSources'
  | 'loadReplacements'
  | 'listCompactions'
  | 'measure'
>;

type CatalogParts = {
  readonly captured: CapturedMessages;
  /** What the archive takes on disk. */
  readonly fileBytes: () => number | Promise<number>;
};

/** Finds batches and lines by name, lists compactions, and measures the archive. */
export function createCatalog(
  { query, transaction, dialect, unpack }: Sql & Reading,
  { captured, fileBytes }: CatalogParts,
): Catalog {
  const sql = createStatements(dialect);
  const listBatches = async (...[text, values]: Chosen): Promise<readonly ArchivedBatch[]> =>
    (await withTexts({ query, dialect, unpack }, await query(text, values))).map(toArchivedBatch);
  return {
    findBatches: (name, limit) => listBatches(...chooseBatches(sql, name, limit)),
    findLines: async (name, limit) => {
      if (name.kind === 'id' && name.id < 0) return captured.loadLines([name.id]);
      const rows = await query(...chooseLines(sql, name));
      return takeFirst(rows.map(toArchivedLine), limit);
    },
    loadLines: async (ids, filter) => [
      ...(await captured.loadLines(
        ids.filter((id) => id < 0),
        filter,
      )),
      ...(ids.length === 0
        ? []
        : (await query(sql.linesById, { ids: ids.filter((id) => id > 0) })).map(toArchivedLine)),
    ],
    nearLabels: async (text, limit) => {
      const before = await query(sql.labelsBefore, { text, limit });
      return takeNearest([...before, ...(await query(sql.labelsAfter, { text, limit }))], { text, limit });
    },
    loadSources: (id) => listBatches(sql.sourcesOf, { id }),
    loadReplacements: (id) => listBatches(sql.replacementsOf, { id }),
    listCompactions: () =>
      transaction('snapshot', async (read) => {
        const conversations = Map.groupBy(await read(sql.conversations), (row) => readInteger(row, 'compaction_id'));
        const titles = await readTitles(read);
        return (await read(sql.compactions)).map((row) => {
          const id = readInteger(row, 'compaction_id');
          return { ...toSummary(row, conversations.get(id) ?? []), title: titles.get(id) ?? null };
        });
      }),
    measure: () =>
      transaction('snapshot', async (read) => {
        const [row = {}] = await read(sql.counts);
        const [files = {}] = await read(sql.captured);
        const [words = {}] = await read(dialect.wordBytes);
        const index = { bytes: readInteger(words, 'size'), unindexed: await measureUnindexed(read) };
        const formats = await read(sql.formats);
        return toFigures({ row, captured: files, formats, index, fileBytes: await fileBytes() });
      }),
  };
}

/** Those that were not archived before for the same conversation. */
function takeFirst(found: readonly ArchivedLine[], limit: number): readonly ArchivedLine[] {
  const first = new Map(found.toReversed().map((line) => [`${line.sha256} ${line.conversationId}`, line.lineId]));
  return found.filter((line) => first.get(`${line.sha256} ${line.conversationId}`) === line.lineId).slice(0, limit);
}

function toSummary(row: Row, conversations: readonly Row[]): Omit<CompactionSummary, 'title'> {
  return {
    ...toOrigin(row),
    outputPath: readOptionalText(row, 'output_path'),
    sourceSha256: readHash(row, 'source_sha256'),
    settingsSha256: readHash(row, 'settings_sha256'),
    sizeBytes: { before: readInteger(row, 'source_size_bytes'), after: readInteger(row, 'output_size_bytes') },
    lines: { archived: readInteger(row, 'archived_count'), total: readInteger(row, 'source_line_count') },
    conversations: conversations.map((one) => ({
      id: readText(one, 'conversation_id'),
      cycle: readInteger(one, 'cycle'),
    })),
  };
}

/** The labels with the longest common prefix with a text. */
function takeNearest(rows: readonly Row[], { text, limit }: { readonly text: string; readonly limit: number }) {
  const labels = rows.map((row) => readText(row, 'label'));
  return labels.toSorted((a, b) => sharedLength(b, text) - sharedLength(a, text)).slice(0, limit);
}

function sharedLength(label: string, text: string): number {
  let length = 0;
  while (length < label.length && label[length] === text[length]) length += 1;
  return length;
}

/** From the rows of the queries above. */
function toFigures({ row, captured, index, fileBytes, ...counted }: Counted): ArchiveFigures {
  const formats = counted.formats.map((one) => ({
    format: readText(one, 'format'),
    compactions: readInteger(one, 'compactions'),
    lines: readInteger(one, 'lines'),
    bytes: readInteger(one, 'original_bytes'),
  }));
  return {
    compactions: readInteger(row, 'compactions'),
    prepared: readInteger(row, 'prepared'),
    conversations: readInteger(row, 'conversations'),
    batches: readInteger(row, 'batches'),
    lines: formats.reduce((sum, { lines }) => sum + lines, 0),
    messages: readInteger(row, 'messages'),
    bytes: {
      original: formats.reduce((sum, { bytes }) => sum + bytes, 0),
      compressed: readInteger(row, 'packed_bytes'),
      file: fileBytes,
    },
    index,
    captured: {
      files: readInteger(captured, 'files'),
      bytes: {
        original: readInteger(captured, 'original_bytes'),
        compressed: readInteger(captured, 'compressed_bytes'),
      },
    },
    oldest: readTime(row, 'oldest_ms'),
    newest: readTime(row, 'newest_ms'),
    formats,
  };
}

type Counted = {
  readonly index: ArchiveFigures['index'];
  readonly row: Row;
  readonly captured: Row;
  readonly formats: readonly Row[];
  readonly fileBytes: number;
};
