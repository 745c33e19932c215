import type { InsertedLine, KeptRun } from '../../../ports/archive.ts';
import { compressInsertedLine } from '../blocks.ts';
import { hashColumn, readText, ROLES } from '../rows.ts';
import { type BulkTable, insertRow, type Query, type Values } from '../sql/query.ts';
import type { Ids, StoreEngine } from './engine.ts';

const LINES: BulkTable = {
  name: 'lines',
  columns: {
    id: 'bigint',
    block_id: 'bigint',
    line: 'bigint',
    offset: 'bigint',
    size_bytes: 'bigint',
    outcome: 'int',
    cycle_id: 'bigint',
    batch_id: 'bigint',
    role: 'int',
    at_ms: 'bigint',
    message_index: 'bigint',
    message_id: 'text',
    name: 'text',
    traits: 'int',
    sha256: 'bytea',
    erasure_id: 'bigint',
  },
};
const MONTHLY_LINES: BulkTable = { ...LINES, columns: { ...LINES.columns, month: 'date' } };

/** A line as a row, and what the search index takes of its message. */
export type LineRow = {
  readonly columns: Readonly<{
    line: number;
    offset: number;
    size_bytes: number;
    outcome: number;
    cycle_id: number | null;
    batch_id: number | null;
    role: number | null;
    at_ms: number | null;
    message_index: number | null;
    message_id: string | null;
    name: string | null;
    traits: number;
    sha256: Uint8Array;
    erasure_id: number | null;
  }>;
  /** Null: it has none. */
  readonly entry: readonly string[] | null;
};

export type BlockRows = {
  /** Among the blocks of the compaction. */
  readonly position: number;
  readonly data: Uint8Array;
  readonly rawSizeBytes: number;
  readonly lines: readonly LineRow[];
};

/** Stores a block with its lines and their words. Gives the ids of its lines. */
export async function writeBlock(
  query: Query,
  engine: StoreEngine,
  { compactionId, partition }: Ids,
  { position, data, rawSizeBytes, lines }: BlockRows,
): Promise<readonly number[]> {
  const [blockId] = await engine.reserve(query, 'blocks', 1);
  const ids = await engine.reserve(query, 'lines', lines.length);
  await insertRow(query, 'blocks', {
    id: blockId,
    ...partition,
    compaction_id: compactionId,
    position,
    first_line: lines[0]?.columns.line,
    raw_size_bytes: rawSizeBytes,
    data,
  });
  await query.insert(
    'month' in partition ? MONTHLY_LINES : LINES,
    lines.map(({ columns }, at) => ({ id: ids[at], block_id: blockId, ...columns, ...partition })),
  );
  const messages = lines.flatMap(({ entry }, at) => (entry === null ? [] : [{ id: ids[at] ?? 0, entry }]));
  await engine.indexMessages(query, messages, partition);
  await writeSpeakers(query, lines);
  return ids;
}

const SPEAKING = (['user', 'assistant'] as const).map((role) => ROLES.indexOf(role));

/** A tool's name says what it does, so in a search it is an ordinary word. In one order, so that two that store do not wait for each other forever. */
async function writeSpeakers(query: Query, lines: readonly LineRow[]): Promise<void> {
  const names = new Set(
    lines.flatMap(({ columns: { role, name } }) => (name !== null && SPEAKING.includes(role ?? -1) ? [name] : [])),
  );
  for (const name of [...names].toSorted())
    await query('INSERT INTO speakers (name) VALUES (:name) ON CONFLICT DO NOTHING', { name });
}

type BatchRow = {
  readonly id: number;
  readonly cycleId: number;
  readonly position: number;
  /** If another batch has it, a number follows. */
  readonly label: string;
  readonly content: string;
  /** content_sha256, depth, start_ms, end_ms, message_count, first_index, last_index, level */
  readonly columns: Values;
};

const LIST_TAKEN = `
SELECT label FROM batches WHERE label = :label OR (label > :label || '-' AND label < :label || '.')`;

/** An erased batch has no content, and is not in the index. */
export async function writeBatch(query: Query, engine: StoreEngine, batch: BatchRow): Promise<void> {
  const { id, cycleId, position, label, content, columns } = batch;
  if (engine.lockLabel !== null) await query(engine.lockLabel, { label });
  const taken = new Set((await query(LIST_TAKEN, { label })).map((row) => readText(row, 'label')));
  const free = makeUnique(label, (name) => taken.has(name));
  await insertRow(query, 'batches', { id, cycle_id: cycleId, position, label: free, content, ...columns });
  if (content !== '') await engine.indexBatch(query, id, content);
}

/** The batches that a batch was made from, in order. */
export async function writeSources(query: Query, batchId: number, sourceIds: readonly number[]): Promise<void> {
  await query.insert(
    SOURCES,
    sourceIds.map((source, position) => ({ batch_id: batchId, position, source_id: source })),
  );
}

const SOURCES: BulkTable = {
  name: 'batch_sources',
  columns: { batch_id: 'bigint', position: 'int', source_id: 'bigint' },
};
const LIVE: BulkTable = { name: 'live_batches', columns: { cycle_id: 'bigint', position: 'int', batch_id: 'bigint' } };
const CARRIED: BulkTable = {
  name: 'carried_lines',
  columns: { cycle_id: 'bigint', line_id: 'bigint', batch_id: 'bigint' },
};

export async function writeLive(query: Query, cycleId: number, batchIds: readonly number[]): Promise<void> {
  await query.insert(
    LIVE,
    batchIds.map((batchId, position) => ({ cycle_id: cycleId, position, batch_id: batchId })),
  );
}

type CarriedRow = { readonly cycle_id: number; readonly line_id: number; readonly batch_id: number };

export async function writeCarried(query: Query, rows: readonly CarriedRow[]): Promise<void> {
  await query.insert(CARRIED, rows);
}

export async function writeInserted(
  query: Query,
  compactionId: number,
  inserted: readonly (InsertedLine & { readonly erasedSha256?: string | null })[],
): Promise<void> {
  for (const [position, { beforeLine, bytes, erasedSha256 = null }] of inserted.entries()) {
    const stored = compressInsertedLine(bytes);
    await insertRow(query, 'inserted_lines', {
      compaction_id: compactionId,
      position,
      before_line: beforeLine,
      bytes: stored.bytes,
      raw_size: stored.rawSizeBytes,
      erased_sha256: erasedSha256 === null ? null : hashColumn(erasedSha256),
    });
  }
}

const KEPT: BulkTable = {
  name: 'kept_runs',
  columns: {
    compaction_id: 'bigint',
    position: 'int',
    first_line: 'bigint',
    line_count: 'bigint',
    size_bytes: 'bigint',
    line_sha256: 'bytea',
  },
};

export async function writeKept(query: Query, compactionId: number, kept: readonly KeptRun[]): Promise<void> {
  await query.insert(
    KEPT,
    kept.map(({ firstLine, lineCount, sizeBytes, lineSha256 }, position) => ({
      compaction_id: compactionId,
      position,
      first_line: firstLine,
      line_count: lineCount,
      size_bytes: sizeBytes,
      line_sha256: Buffer.concat(lineSha256.map(hashColumn)),
    })),
  );
}

/**
 * The label itself, or the first free one with `-2`, `-3`, …, unless an earlier one was freed. Thousands of copies of a
 * conversation may share a label, so the search doubles and then halves its steps.
 */
export function makeUnique(label: string, isTaken: (label: string) => boolean): string {
  if (!isTaken(label)) return label;
  let taken = 1;
  let free = 2;
  while (isTaken(`${label}-${free}`)) {
    taken = free;
    free *= 2;
  }
  while (free - taken > 1) {
    const middle = Math.floor((taken + free) / 2);
    if (isTaken(`${label}-${middle}`)) taken = middle;
    else free = middle;
  }
  return `${label}-${free}`;
}
