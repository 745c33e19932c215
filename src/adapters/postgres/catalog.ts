import type { ArchiveLookup, ArchivedBatch } from '../../ports/archive-lookup.ts';
import { sharedLength, takeFirst, toCompactionSummary, toFigures } from '../archive/catalog.ts';
import { BATCH_COLUMNS, IS_LIVE, LINE_COLUMNS, toArchivedBatch, toArchivedLine } from '../archive/lookup-rows.ts';
import { readInteger, readText } from '../archive/rows.ts';
import { BATCH_JOINS, LINE_JOINS } from './lookup-sql.ts';
import type { Query, Values } from './sql.ts';

const SELECT_BATCHES = `SELECT ${BATCH_COLUMNS}, (${IS_LIVE})::int AS is_live FROM batches AS b ${BATCH_JOINS} WHERE c.status = 'applied'`;
const BATCH_BY_ID = `${SELECT_BATCHES} AND b.id = :id LIMIT :limit`;
const BATCH_BY_LABEL = `${SELECT_BATCHES} AND b.label = :label LIMIT :limit`;
const BATCHES_BY_PREFIX = `${SELECT_BATCHES} AND b.label >= :prefix::text AND b.label < :prefix || chr(1114111) ORDER BY b.label LIMIT :limit`;
const SOURCES_OF = `${SELECT_BATCHES} AND b.id IN (SELECT source_id FROM batch_sources WHERE batch_id = :id) ORDER BY b.id`;
const REPLACEMENTS_OF = `${SELECT_BATCHES} AND b.id IN (SELECT batch_id FROM batch_sources WHERE source_id = :id) ORDER BY b.id`;

const SELECT_LINES = `SELECT ${LINE_COLUMNS} FROM lines AS l ${LINE_JOINS} WHERE c.status = 'applied'`;
const LINE_BY_ID = `${SELECT_LINES} AND l.id = :id`;
const LINES_BY_MESSAGE = `${SELECT_LINES} AND l.message_id = :messageId ORDER BY l.id`;
/** An id of the form `line:N` is stored as a line number. Scans every line. */
const LINES_BY_PLACE = `${SELECT_LINES} AND l.line = :line AND l.message_id IS NULL AND l.role IS NOT NULL ORDER BY l.id`;

const SELECT_LABELS = `SELECT b.label FROM batches AS b ${BATCH_JOINS} WHERE c.status = 'applied'`;
/** Those with the longest common prefix are among the labels just before a text in their order, and the next ones. */
const LABELS_BEFORE = `${SELECT_LABELS} AND b.label < :text ORDER BY b.label DESC LIMIT :limit`;
const LABELS_AFTER = `${SELECT_LABELS} AND b.label >= :text ORDER BY b.label LIMIT :limit`;

const LIST_COMPACTIONS = `
SELECT c.id AS compaction_id, c.format, c.source_path, c.created_at_ms, c.output_path, c.source_sha256, c.settings_sha256, c.source_size_bytes, c.output_size_bytes,
  c.source_line_count, c.source_line_count - (SELECT coalesce(sum(line_count), 0) FROM kept_runs WHERE compaction_id = c.id)::bigint AS archived_count
FROM compactions AS c WHERE c.status = 'applied' ORDER BY c.id DESC`;
const LIST_CONVERSATIONS = `
SELECT y.compaction_id, y.conversation_id, y.cycle FROM cycles AS y JOIN compactions AS c ON c.id = y.compaction_id
WHERE c.status = 'applied' ORDER BY y.compaction_id, y.position`;

type Catalog = Pick<
  ArchiveLookup,
  'findBatches' | 'findLines' | 'nearLabels' | 'loadSources' | 'loadReplacements' | 'listCompactions' | 'measure'
>;

/** Finds batches and lines by name, lists compactions, and measures the archive. */
export function createCatalog(query: Query): Catalog {
  const listBatches = async (sql: string, values: Values): Promise<readonly ArchivedBatch[]> =>
    (await query(sql, values)).map(toArchivedBatch);
  return {
    findBatches: (name, limit) => {
      if (name.kind === 'id') return listBatches(BATCH_BY_ID, { id: name.id, limit });
      if (name.kind === 'label') return listBatches(BATCH_BY_LABEL, { label: name.label, limit });
      return listBatches(BATCHES_BY_PREFIX, { prefix: name.prefix, limit });
    },
    findLines: async (name, limit) => {
      const place = name.kind === 'message' ? /^line:(\d{1,15})$/.exec(name.messageId)?.[1] : undefined;
      const [sql, values] =
        name.kind === 'id'
          ? [LINE_BY_ID, { id: name.id }]
          : place === undefined
            ? [LINES_BY_MESSAGE, { messageId: name.messageId }]
            : [LINES_BY_PLACE, { line: Number(place) }];
      return takeFirst((await query(sql, values)).map(toArchivedLine), limit);
    },
    nearLabels: async (text, limit) => {
      const rows = [...(await query(LABELS_BEFORE, { text, limit })), ...(await query(LABELS_AFTER, { text, limit }))];
      const labels = rows.map((row) => readText(row, 'label'));
      return labels.toSorted((a, b) => sharedLength(b, text) - sharedLength(a, text)).slice(0, limit);
    },
    loadSources: (id) => listBatches(SOURCES_OF, { id }),
    loadReplacements: (id) => listBatches(REPLACEMENTS_OF, { id }),
    listCompactions: async () => {
      const rows = await query(LIST_CONVERSATIONS);
      const conversations = Map.groupBy(rows, (row) => readInteger(row, 'compaction_id'));
      return (await query(LIST_COMPACTIONS)).map((row) =>
        toCompactionSummary(row, conversations.get(readInteger(row, 'compaction_id')) ?? []),
      );
    },
    measure: async () => {
      const [row = {}] = await query(COUNT);
      const [captured = {}] = await query(COUNT_CAPTURED);
      const formats = await query(COUNT_FORMATS);
      return toFigures({ row, captured, formats, fileBytes: await usedBytes(query) });
    },
  };
}

const APPLIED = "(SELECT id FROM compactions WHERE status = 'applied')";
const COUNT = `
SELECT
  (SELECT count(*) FROM compactions WHERE status = 'applied') AS compactions,
  (SELECT count(*) FROM compactions WHERE status = 'prepared') AS prepared,
  (SELECT count(DISTINCT conversation_id) FROM cycles WHERE compaction_id IN ${APPLIED}) AS conversations,
  (SELECT count(*) FROM batches JOIN cycles ON cycles.id = batches.cycle_id WHERE compaction_id IN ${APPLIED}) AS batches,
  (SELECT count(*) FROM lines JOIN blocks ON blocks.id = lines.block_id AND blocks.month = lines.month WHERE compaction_id IN ${APPLIED} AND role IS NOT NULL) AS messages,
  (SELECT coalesce(sum(length(data)), 0)::bigint FROM blocks WHERE compaction_id IN ${APPLIED}) AS packed_bytes,
  (SELECT min(created_at_ms) FROM compactions WHERE status = 'applied') AS oldest_ms,
  (SELECT max(created_at_ms) FROM compactions WHERE status = 'applied') AS newest_ms`;
/** A block holds nothing but its lines. */
const COUNT_FORMATS = `
SELECT c.format, count(*) AS compactions,
  coalesce(sum((SELECT sum(raw_size_bytes) FROM blocks WHERE compaction_id = c.id)), 0)::bigint AS original_bytes,
  sum(c.source_line_count - (SELECT coalesce(sum(line_count), 0) FROM kept_runs WHERE compaction_id = c.id))::bigint AS lines
FROM compactions AS c WHERE c.status = 'applied' GROUP BY c.format ORDER BY original_bytes DESC, c.format`;
const COUNT_CAPTURED = `
SELECT (SELECT count(*) FROM captured_files) AS files, coalesce(sum(raw_size_bytes), 0)::bigint AS original_bytes,
  coalesce(sum(length(data)), 0)::bigint AS compressed_bytes FROM captured_blocks`;

const USED_BYTES = `
SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint AS size FROM pg_class AS c
WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r'`;

/** The bytes of the archive's tables and indexes, with free pages. */
export async function usedBytes(query: Query): Promise<number> {
  return readInteger((await query(USED_BYTES))[0] ?? {}, 'size');
}
