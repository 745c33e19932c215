import { statSync } from 'node:fs';
import type Database from 'better-sqlite3';
import type { ArchivedBatch, ArchivedLine, ArchiveFigures, CompactionSummary } from '../../ports/archive-lookup.ts';
import { guard } from './failure.ts';
import type { SyncArchive } from './sync-archive.ts';
import {
  BATCH_COLUMNS,
  BATCH_JOINS,
  IS_LIVE,
  LINE_COLUMNS,
  LINE_JOINS,
  toArchivedBatch,
  toArchivedLine,
  toOrigin,
} from './lookup-rows.ts';
import {
  createStatements,
  readHash,
  readInteger,
  readOptionalText,
  readText,
  readTime,
  type Row,
  textColumn,
} from './rows.ts';

const SELECT_BATCHES = `SELECT ${BATCH_COLUMNS}, ${IS_LIVE} AS is_live FROM batches AS b ${BATCH_JOINS} WHERE c.status = 'applied'`;
const BATCH_BY_ID = `${SELECT_BATCHES} AND b.id = :id LIMIT :limit`;
const BATCH_BY_LABEL = `${SELECT_BATCHES} AND b.label = :label LIMIT :limit`;
const BATCHES_BY_PREFIX = `${SELECT_BATCHES} AND b.label >= :prefix AND b.label < :prefix || char(0x10ffff) ORDER BY b.label LIMIT :limit`;
const SOURCES_OF = `${SELECT_BATCHES} AND b.id IN (SELECT source_id FROM batch_sources WHERE batch_id = :id) ORDER BY b.id`;
const REPLACEMENTS_OF = `${SELECT_BATCHES} AND b.id IN (SELECT batch_id FROM batch_sources WHERE source_id = :id) ORDER BY b.id`;

const SELECT_LINES = `SELECT ${LINE_COLUMNS} FROM lines AS l ${LINE_JOINS} WHERE c.status = 'applied'`;
const LINE_BY_ID = `${SELECT_LINES} AND l.id = :id`;
/** Scans every line (a tenth of a second for a million), but only for a lookup by message id. */
const LINES_BY_MESSAGE = `${SELECT_LINES} AND l.message_id = :messageId ORDER BY l.id`;
const LINES_BY_PLACE = `${SELECT_LINES} AND l.line = :line AND l.message_id IS NULL AND l.role IS NOT NULL ORDER BY l.id`;

const SELECT_LABELS = `SELECT b.label FROM batches AS b ${BATCH_JOINS} WHERE c.status = 'applied'`;
/**
 * The labels just before a text in their order; those with the longest common prefix are among them and the next ones.
 */
const LABELS_BEFORE = `${SELECT_LABELS} AND b.label < :text ORDER BY b.label DESC LIMIT :limit`;
const LABELS_AFTER = `${SELECT_LABELS} AND b.label >= :text ORDER BY b.label LIMIT :limit`;

const LIST_COMPACTIONS = `
SELECT c.id AS compaction_id, c.format, c.source_path, c.created_at_ms, c.output_path, c.source_sha256, c.settings_sha256, c.source_size_bytes, c.output_size_bytes,
  c.source_line_count, c.source_line_count - (SELECT coalesce(sum(line_count), 0) FROM kept_runs WHERE compaction_id = c.id) AS archived_count
FROM compactions AS c WHERE c.status = 'applied' ORDER BY c.id DESC`;
const LIST_CONVERSATIONS = `
SELECT y.compaction_id, y.conversation_id, y.cycle FROM cycles AS y JOIN compactions AS c ON c.id = y.compaction_id
WHERE c.status = 'applied' ORDER BY y.compaction_id, y.position`;

type Catalog = Pick<
  SyncArchive,
  'findBatches' | 'findLines' | 'nearLabels' | 'loadSources' | 'loadReplacements' | 'listCompactions'
>;

/** Finds batches and lines by name, and lists compactions. */
export function createCatalog(db: Database.Database, path: string): Catalog {
  const prepare = createStatements(db);
  const list = (sql: string, values: object = {}): readonly Row[] => guard(path, () => prepare(sql).all(values));
  const listBatches = (sql: string, values: object): readonly ArchivedBatch[] =>
    list(sql, values).map((row) => guard(path, () => toArchivedBatch(row)));

  const listCompactions = (): readonly CompactionSummary[] => {
    const conversations = Map.groupBy(list(LIST_CONVERSATIONS), (row) => readInteger(row, 'compaction_id'));
    return list(LIST_COMPACTIONS).map((row) =>
      toCompactionSummary(row, conversations.get(readInteger(row, 'compaction_id')) ?? []),
    );
  };

  return {
    findBatches: (name, limit) => {
      if (name.kind === 'id') return listBatches(BATCH_BY_ID, { id: name.id, limit });
      if (name.kind === 'label') return listBatches(BATCH_BY_LABEL, { label: name.label, limit });
      return listBatches(BATCHES_BY_PREFIX, { prefix: name.prefix, limit });
    },
    findLines: (name, limit) => {
      const rows = name.kind === 'id' ? list(LINE_BY_ID, { id: name.id }) : list(...selectByMessage(name.messageId));
      return takeFirst(
        rows.map((row) => guard(path, () => toArchivedLine(row))),
        limit,
      );
    },
    nearLabels: (text, limit) => {
      const around = [...list(LABELS_BEFORE, { text, limit }), ...list(LABELS_AFTER, { text, limit })];
      const labels = around.map((row) => guard(path, () => readText(row, 'label')));
      return labels.toSorted((a, b) => sharedLength(b, text) - sharedLength(a, text)).slice(0, limit);
    },
    loadSources: (id) => listBatches(SOURCES_OF, { id }),
    loadReplacements: (id) => listBatches(REPLACEMENTS_OF, { id }),
    listCompactions: () => guard(path, db.transaction(listCompactions)),
  };
}

/** Those that were not archived before for the same conversation. */
export function takeFirst(found: readonly ArchivedLine[], limit: number): readonly ArchivedLine[] {
  const first = new Map(found.toReversed().map((line) => [`${line.sha256} ${line.conversationId}`, line.lineId]));
  return found.filter((line) => first.get(`${line.sha256} ${line.conversationId}`) === line.lineId).slice(0, limit);
}

/** An id of the form `line:N` is stored as a line number. */
function selectByMessage(messageId: string): [sql: string, values: object] {
  const place = /^line:(\d{1,15})$/.exec(messageId)?.[1];
  return place === undefined
    ? [LINES_BY_MESSAGE, { messageId: textColumn(messageId) }]
    : [LINES_BY_PLACE, { line: Number(place) }];
}

export function toCompactionSummary(row: Row, conversations: readonly Row[]): CompactionSummary {
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

export function sharedLength(label: string, text: string): number {
  let length = 0;
  while (length < label.length && label[length] === text[length]) length += 1;
  return length;
}

const APPLIED = "(SELECT id FROM compactions WHERE status = 'applied')";
const COUNT = `
SELECT
  (SELECT count(*) FROM compactions WHERE status = 'applied') AS compactions,
  (SELECT count(*) FROM compactions WHERE status = 'prepared') AS prepared,
  (SELECT count(DISTINCT conversation_id) FROM cycles WHERE compaction_id IN ${APPLIED}) AS conversations,
  (SELECT count(*) FROM batches JOIN cycles ON cycles.id = batches.cycle_id WHERE compaction_id IN ${APPLIED}) AS batches,
  (SELECT count(*) FROM lines JOIN blocks ON blocks.id = lines.block_id WHERE compaction_id IN ${APPLIED} AND role IS NOT NULL) AS messages,
  (SELECT coalesce(sum(length(data)), 0) FROM blocks WHERE compaction_id IN ${APPLIED}) AS packed_bytes,
  (SELECT min(created_at_ms) FROM compactions WHERE status = 'applied') AS oldest_ms,
  (SELECT max(created_at_ms) FROM compactions WHERE status = 'applied') AS newest_ms`;
/** A block holds nothing but its lines. */
const COUNT_FORMATS = `
SELECT c.format, count(*) AS compactions,
  coalesce(sum((SELECT sum(raw_size_bytes) FROM blocks WHERE compaction_id = c.id)), 0) AS original_bytes,
  sum(c.source_line_count - (SELECT coalesce(sum(line_count), 0) FROM kept_runs WHERE compaction_id = c.id)) AS lines
FROM compactions AS c WHERE c.status = 'applied' GROUP BY c.format ORDER BY original_bytes DESC, c.format`;
const COUNT_CAPTURED = `
SELECT (SELECT count(*) FROM captured_files) AS files, coalesce(sum(raw_size_bytes), 0) AS original_bytes,
  coalesce(sum(length(data)), 0) AS compressed_bytes FROM captured_blocks`;

/** Counts and sizes of the whole archive. */
export function createMeasure(db: Database.Database, path: string): () => ArchiveFigures {
  const measure = (): ArchiveFigures => {
    return toFigures({
      row: db.prepare<[], Row>(COUNT).get() ?? {},
      captured: db.prepare<[], Row>(COUNT_CAPTURED).get() ?? {},
      formats: db.prepare<[], Row>(COUNT_FORMATS).all(),
      fileBytes: ['', '-wal'].reduce((sum, ending) => sum + sizeOf(`${db.name}${ending}`), 0),
    });
  };
  return () => guard(path, db.transaction(measure));
}

/** The log exists only while a program has the archive open. */
function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

/** From the rows of the queries above. */
export function toFigures({ row, captured, fileBytes, ...counted }: Counted): ArchiveFigures {
  const formats = counted.formats.map((one) => ({
    format: readText(one, 'format'),
    compactions: readInteger(one, 'compactions'),
    lines: readInteger(one, 'lines'),
    originalBytes: readInteger(one, 'original_bytes'),
  }));
  return {
    compactions: readInteger(row, 'compactions'),
    conversations: readInteger(row, 'conversations'),
    batches: readInteger(row, 'batches'),
    lines: formats.reduce((sum, { lines }) => sum + lines, 0),
    messages: readInteger(row, 'messages'),
    originalBytes: formats.reduce((sum, { originalBytes }) => sum + originalBytes, 0),
    compressedBytes: readInteger(row, 'packed_bytes'),
    fileBytes,
    oldest: readTime(row, 'oldest_ms'),
    newest: readTime(row, 'newest_ms'),
    captured: {
      files: readInteger(captured, 'files'),
      originalBytes: readInteger(captured, 'original_bytes'),
      compressedBytes: readInteger(captured, 'compressed_bytes'),
    },
    prepared: readInteger(row, 'prepared'),
    formats,
  };
}

type Counted = {
  readonly row: Row;
  readonly captured: Row;
  readonly formats: readonly Row[];
  readonly fileBytes: number;
};
