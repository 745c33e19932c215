import type { InsertedLine } from '../../../ports/archive.ts';
import type { Unit, UnitBatch, UnitCycle, UnitLine } from '../../../ports/exchange.ts';
import { LABEL, LABEL_START } from '../read/compactions.ts';
import {
  hashColumn,
  LEVELS,
  messageIdColumn,
  OUTCOMES,
  readInteger,
  readText,
  ROLES,
  type Row,
  toColumns,
} from '../rows.ts';
import { noteUnindexed } from '../search/indexing.ts';
import type { Dialect, Query, Values } from '../sql/query.ts';
import type { Texts } from '../texts.ts';
import type { CycleIds, Ids, StoreEngine } from './engine.ts';

/** An archived line, and whose it is. */
export type LineRow = Pick<UnitLine, 'line' | 'sizeBytes' | 'outcome' | 'message'> & {
  /** In its block. */
  readonly offset: number;
  readonly cycleId: number | null;
  readonly batchId: number | null;
  readonly sha256: Uint8Array;
  readonly erasureId: number | null;
};

function lineColumns(row: LineRow): Values {
  const { message } = row;
  return {
    line: row.line,
    offset: row.offset,
    size_bytes: row.sizeBytes,
    outcome: OUTCOMES.indexOf(row.outcome),
    cycle_id: row.cycleId,
    batch_id: row.batchId,
    role: message === null ? null : ROLES.indexOf(message.role),
    at_ms: message?.atMs ?? null,
    message_index: message?.index ?? null,
    message_id: message === null || message.id === null ? null : messageIdColumn(message.id),
    name: message?.name ?? null,
    traits: message?.traits ?? 0,
    sha256: row.sha256,
    erasure_id: row.erasureId,
  };
}

export type BlockRows = {
  /** Among the blocks of the compaction. */
  readonly position: number;
  readonly rawSizeBytes: number;
  /** Without `LineRow`s it has texts. */
  readonly lines: readonly LineRow[];
};

/** Blocks that follow one another in a pack. */
export type PackedRows = { readonly packId: number; readonly offset: number; readonly blocks: readonly BlockRows[] };

/** Stores blocks that are in a pack, with their lines, which the search index has yet to take. */
export async function writeBlocks(
  query: Query,
  engine: StoreEngine,
  { compactionId, partition }: Ids,
  { packId, offset, blocks }: PackedRows,
): Promise<void> {
  let end = offset;
  for (const { position, rawSizeBytes: sizeBytes, lines } of blocks) {
    const [blockId] = await engine.reserve(query, 'blocks', 1);
    const ids = await engine.reserve(query, 'lines', lines.length);
    const place = { pack_id: packId, pack_offset: end, raw_size_bytes: sizeBytes };
    const range = { first_line_id: ids[0] ?? null, last_line_id: ids.at(-1) ?? null };
    const block = { compaction_id: compactionId, position, first_line: lines[0]?.line ?? 0, ...range, ...place };
    await query.insert('blocks', [{ id: blockId, ...partition, ...block }]);
    end += sizeBytes;
    await query.insert(
      'lines',
      lines.map((line, at) => ({ id: ids[at], block_id: blockId, ...lineColumns(line), ...partition })),
    );
    const messages = lines.filter(({ message }) => message !== null);
    if (messages.length > 0) {
      const size_bytes = messages.reduce((sum, { sizeBytes: bytes }) => sum + bytes, 0);
      const [first_id, last_id] = [ids[0] ?? 0, ids.at(-1) ?? 0];
      await noteUnindexed(query, { first_id, last_id, line_count: messages.length, size_bytes, file_id: null });
    }
    await writeSpeakers(query, lines);
  }
}

/** A tool's name says what it does, so in a search it is an ordinary word. In one order, so that two that store do not wait for each other forever. */
async function writeSpeakers(query: Query, lines: readonly LineRow[]): Promise<void> {
  const names = new Set(
    lines.flatMap(({ message }) =>
      message !== null && message.name !== null && ['user', 'assistant'].includes(message.role) ? [message.name] : [],
    ),
  );
  for (const name of [...names].toSorted())
    await query('INSERT INTO speakers (name) VALUES (:name) ON CONFLICT DO NOTHING', { name });
}

type BatchRows = Omit<UnitBatch, 'sources'> & {
  /** The batches that it was made from, in order. */
  readonly sourceIds: readonly number[];
};
type CycleRows = Omit<UnitCycle, 'parent' | 'batches' | 'live'> & {
  readonly parentId: number | null;
  readonly batches: readonly BatchRows[];
  readonly liveIds: readonly number[];
};

/** A compaction without its lines and the files that runs wrote. */
export type CompactionRows = Pick<
  Unit,
  'format' | 'sourcePath' | 'outputPath' | 'source' | 'output' | 'settingsSha256' | 'settings' | 'processId' | 'kept'
> & {
  readonly status: 'prepared' | 'applied' | 'erased';
  readonly erasureId: number | null;
  readonly createdAtMs: number | null;
  /** As many as have ids, each with as many batches. */
  readonly cycles: readonly CycleRows[];
  readonly inserted: readonly (InsertedLine & { readonly erasedSha256?: string | null })[];
  /** Where the contents of the batches and the inserted lines are. */
  readonly texts: Omit<Texts, 'raw'>;
  readonly carried: readonly CarriedRow[];
};

/** The ids of the lines that each batch of compaction `:id` summarizes. */
const listRanges = ({ onBlock, onCompaction }: Dialect): string => `
SELECT l.batch_id, min(l.id) AS first_line_id, max(l.id) AS last_line_id
FROM compactions AS c JOIN blocks AS k ON ${onCompaction} JOIN lines AS l ON ${onBlock} WHERE c.id = :id AND l.batch_id IS NOT NULL GROUP BY l.batch_id`;

/** After its lines. */
export async function writeCompaction(query: Query, engine: StoreEngine, ids: Ids, rows: CompactionRows) {
  const { compactionId, partition } = ids;
  const { source, output, cycles, texts } = rows;
  const { status, erasureId, format, sourcePath, createdAtMs, processId } = rows;
  await query.insert('compactions', [
    {
      id: compactionId,
      ...toColumns({ status, erasureId, format, sourcePath, createdAtMs, processId }),
      output_path: rows.outputPath === sourcePath ? '' : rows.outputPath,
      source_sha256: hashColumn(source.sha256),
      source_size_bytes: source.sizeBytes,
      source_line_count: source.lineCount,
      source_has_bom: source.hasBom ? 1 : 0,
      output_sha256: hashColumn(output.sha256),
      output_size_bytes: output.sizeBytes,
      settings_id: await keepSettings(query, rows),
      ...partition,
      ...engine.headColumns,
    },
  ]);
  const { lockLabels } = engine;
  const conversationIds = new Set(cycles.map(({ conversationId }) => conversationId));
  // In one order, so that two that store do not wait for each other forever.
  if (lockLabels !== null)
    for (const conversationId of [...conversationIds].toSorted()) await query(lockLabels, { conversationId });
  const ranges = new Map(
    (await query(listRanges(engine.dialect), { id: compactionId })).map(({ batch_id, ...range }) => [batch_id, range]),
  );
  const placed = cycles.map((cycle, position) => ({ cycle, position, ...(ids.cycles[position] ?? NO_IDS) }));
  for (const { cycle, position, cycleId, batchIds } of placed) {
    const { conversationId, parentId, batches, liveIds, clipSha256, ...facts } = cycle;
    const counts = { made_count: batches.length, live_count: liveIds.length };
    const owner = { compaction_id: compactionId, position, conversation_id: conversationId, parent_cycle_id: parentId };
    await query.insert('cycles', [
      { id: cycleId, ...owner, ...toColumns(facts), clip_sha256: hashColumn(clipSha256), ...counts },
    ]);
    for (const [at, { sourceIds: _, ...batch }] of batches.entries()) {
      const range = ranges.get(batchIds[at]) ?? NO_LINES;
      const place = {
        id: batchIds[at] ?? 0,
        cycle_id: cycleId,
        position: at,
        ...range,
        ...texts.batches[position]?.[at],
      };
      await writeBatch(query, engine, place, { ...batch, conversationId });
    }
  }
  for (const { cycle, cycleId, batchIds } of placed) {
    for (const [at, { sourceIds }] of cycle.batches.entries())
      await query.insert(
        'batch_sources',
        sourceIds.map((source_id, position) => ({ batch_id: batchIds[at] ?? 0, position, source_id })),
      );
    await query.insert(
      'live_batches',
      cycle.liveIds.map((batch_id, position) => ({ cycle_id: cycleId, position, batch_id })),
    );
  }
  await query.insert(
    'inserted_lines',
    rows.inserted.map(({ beforeLine, erasedSha256 = null }, position) => ({
      compaction_id: compactionId,
      position,
      before_line: beforeLine,
      ...texts.inserted[position],
      erased_sha256: erasedSha256 === null ? null : hashColumn(erasedSha256),
    })),
  );
  await query.insert(
    'kept_runs',
    rows.kept.map(({ firstLine, lineCount, sizeBytes, lineSha256 }, position) => ({
      compaction_id: compactionId,
      position,
      first_line: firstLine,
      line_count: lineCount,
      size_bytes: sizeBytes,
      line_sha256: Buffer.concat(lineSha256.map(hashColumn)),
    })),
  );
  await query.insert('carried_lines', rows.carried);
}

const FIND_SETTINGS = 'SELECT id FROM settings WHERE sha256 = :sha256';
const ADD_SETTINGS = 'INSERT INTO settings (sha256, value) VALUES (:sha256, :value) ON CONFLICT DO NOTHING';

async function keepSettings(query: Query, { settingsSha256, settings }: CompactionRows): Promise<number> {
  const sha256 = hashColumn(settingsSha256);
  const find = async (): Promise<Row | undefined> => (await query(FIND_SETTINGS, { sha256 }))[0];
  const known = await find();
  if (known === undefined) await query(ADD_SETTINGS, { sha256, value: settings });
  return readInteger(known ?? (await find()) ?? {}, 'id');
}

const NO_IDS: CycleIds = { cycleId: 0, batchIds: [] };
const NO_LINES: Row = { first_line_id: null, last_line_id: null };

const LIST_TAKEN = `
SELECT ${LABEL} AS label FROM cycles AS y JOIN batches AS b ON b.cycle_id = y.id
WHERE y.conversation_id = :conversationId AND (${LABEL} = :label OR (${LABEL} > :label || '-' AND ${LABEL} < :label || '.'))`;

/** If another batch of the conversation has its label, a number follows. An erased batch has no content, and is not in the index. */
async function writeBatch(
  query: Query,
  engine: StoreEngine,
  place: Row & { readonly id: number },
  { conversationId, label, content, ...batch }: Omit<BatchRows, 'sourceIds'> & Pick<CycleRows, 'conversationId'>,
): Promise<void> {
  // So that people can type it, and because SQLite's substr (LABEL) ends at a NUL.
  const name = label.toWellFormed().replaceAll('\0', '\ufffd');
  const named = await query(LIST_TAKEN, { conversationId, label: name });
  const taken = new Set(named.map((row) => readText(row, 'label')));
  const unique = makeUnique(name, (one) => taken.has(one));
  const start = LABEL_START + conversationId;
  await query.insert('batches', [
    {
      ...place,
      label_end: unique.startsWith(`${start}-`) ? unique.slice(start.length) : `=${unique}`,
      ...toColumns(batch),
      content_sha256: hashColumn(batch.contentSha256),
      level: LEVELS.indexOf(batch.level),
    },
  ]);
  if (content !== '') await engine.indexBatch(query, place.id, content);
}

type CarriedRow = { readonly cycle_id: number; readonly line_id: number; readonly batch_id: number };

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
