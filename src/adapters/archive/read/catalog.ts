import type { ArchiveLookup, ArchivedBatch, ArchivedLine, CompactionSummary } from '../../../ports/archive-lookup.ts';
import {
  messageIdColumn,
  readFields,
  readHash,
  readInteger,
  readOptionalText,
  readText,
  readTime,
  type Row,
} from '../rows.ts';
import type { CapturedMessages } from '../search/captured.ts';
import { measureUnindexed } from '../search/indexing.ts';
import { type Dialect, readNumber, type Sql, type Values } from '../sql/query.ts';
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
SELECT y.compaction_id, y.conversation_id AS id, y.cycle FROM cycles AS y JOIN compactions AS c ON c.id = y.compaction_id
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
  CAST(coalesce(sum((SELECT sum(raw_size_bytes) FROM blocks WHERE compaction_id = c.id AND position >= 0)), 0) AS bigint) AS bytes,
  CAST(sum(${archivedCount}) AS bigint) AS lines
FROM compactions AS c WHERE c.status = 'applied' GROUP BY c.format ORDER BY bytes DESC, c.format`,
    captured: `
SELECT (SELECT count(*) FROM captured_files) AS files, CAST(coalesce(sum(raw_size_bytes), 0) AS bigint) AS original,
  CAST(coalesce(sum(length(data)), 0) AS bigint) AS compressed FROM captured_blocks`,
  };
}

/** Finds batches and lines by name, lists compactions, and measures the archive. `fileBytes`: what it takes on disk. */
export function createCatalog(
  { query, transaction, dialect, unpack }: Sql & Reading,
  { captured, fileBytes }: { readonly captured: CapturedMessages; fileBytes: () => number | Promise<number> },
) {
  const sql = createStatements(dialect);
  const listBatches = async (text: string, values: Values): Promise<readonly ArchivedBatch[]> =>
    (await withTexts({ query, dialect, unpack }, await query(text, values))).map(toArchivedBatch);
  const listLines = async (text: string, values: Values): Promise<readonly ArchivedLine[]> =>
    (await query(text, values)).map(toArchivedLine);
  return {
    findBatches: (name, limit) => {
      if (name.kind === 'id') return listBatches(sql.batchById, { id: name.id, limit });
      if (name.kind === 'label') return listBatches(sql.batchByLabel, { label: name.label, limit });
      const { prefix } = name;
      return listBatches(sql.batchesByPrefix, { prefix, end: `${prefix}\u{10ffff}`, limit });
    },
    findLines: async (name, limit) => {
      if (name.kind === 'id')
        return name.id < 0 ? captured.loadLines([name.id]) : listLines(sql.lineById, { id: name.id });
      const { messageId } = name;
      // An id of the form `line:N` is stored as a line number.
      const place = /^line:(\d{1,15})$/.exec(messageId)?.[1];
      const found = await (place === undefined
        ? listLines(sql.linesByMessage, { messageId: messageIdColumn(messageId) })
        : listLines(sql.linesByPlace, { line: Number(place) }));
      // Those that were not archived before for the same conversation.
      const keyOf = ({ sha256, conversationId }: ArchivedLine): string => `${sha256} ${conversationId}`;
      const first = new Map(found.toReversed().map((line) => [keyOf(line), line]));
      return found.filter((line) => first.get(keyOf(line)) === line).slice(0, limit);
    },
    loadLines: async (ids, filter) => {
      const [own, others] = [ids.filter((id) => id > 0), ids.filter((id) => id < 0)];
      const lines = await captured.loadLines(others, filter);
      return ids.length === 0 ? lines : [...lines, ...(await listLines(sql.linesById, { ids: own }))];
    },
    /** The labels with the longest common prefix with a text. */
    nearLabels: async (text, limit) => {
      const before = await query(sql.labelsBefore, { text, limit });
      const rows = [...before, ...(await query(sql.labelsAfter, { text, limit }))];
      const labels = rows.map((row) => readText(row, 'label'));
      return labels.toSorted((a, b) => sharedLength(b, text) - sharedLength(a, text)).slice(0, limit);
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
        const formats = (await read(sql.formats)).map((one) =>
          readFields(one, { format: readText, compactions: readInteger, lines: readInteger, bytes: readInteger }),
        );
        const sum = (of: 'lines' | 'bytes'): number => formats.reduce((total, one) => total + one[of], 0);
        const stored = { conversations: readInteger, batches: readInteger };
        return {
          ...readFields(row, { compactions: readInteger, prepared: readInteger, ...stored }),
          lines: sum('lines'),
          messages: readInteger(row, 'messages'),
          bytes: { original: sum('bytes'), compressed: readInteger(row, 'packed_bytes'), file: await fileBytes() },
          index: { bytes: await readNumber(read, dialect.wordBytes), unindexed: await measureUnindexed(read) },
          captured: {
            files: readInteger(files, 'files'),
            bytes: readFields(files, { original: readInteger, compressed: readInteger }),
          },
          ...readFields(row, { oldest: readTime, newest: readTime }),
          formats,
        };
      }),
  } satisfies Partial<ArchiveLookup>;
}

function toSummary(row: Row, conversations: readonly Row[]): Omit<CompactionSummary, 'title'> {
  return {
    ...toOrigin(row),
    ...readFields(row, { outputPath: readOptionalText, sourceSha256: readHash, settingsSha256: readHash }),
    sizeBytes: { before: readInteger(row, 'source_size_bytes'), after: readInteger(row, 'output_size_bytes') },
    lines: { archived: readInteger(row, 'archived_count'), total: readInteger(row, 'source_line_count') },
    conversations: conversations.map((one) => readFields(one, { id: readText, cycle: readInteger })),
  };
}

function sharedLength(label: string, text: string): number {
  let length = 0;
  while (length < label.length && label[length] === text[length]) length += 1;
  return length;
}
