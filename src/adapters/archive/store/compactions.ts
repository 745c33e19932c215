import { hash } from 'node:crypto';
import type { SummaryBatch } from '../../../core/batch.ts';
import { readTraits } from '../../../core/search/query-hints.ts';
import type {
  Archive,
  BatchRef,
  CompactionDraft,
  CompactionOutline,
  CompactionWriter,
  CycleDraft,
  LineDraft,
} from '../../../ports/archive.ts';
import { type BlockMember, compressBlock, createBlockGatherer, type RawBlock } from '../blocks.ts';
import { DamageError } from '../failure.ts';
import { readUsedBytes } from '../read/used-bytes.ts';
import { hashColumn, LEVELS, OUTCOMES, ROLES, timeColumn, traitsColumn } from '../rows.ts';
import { insertRow, type Query, type Sql } from '../sql/query.ts';
import type { CycleIds, Ids, StoreEngine } from './engine.ts';
import {
  type BlockRows,
  type LineRow,
  writeBatch,
  writeBlock,
  writeCarried,
  writeInserted,
  writeKept,
  writeLive,
  writeSources,
} from './rows.ts';
import { recordFile } from './runs.ts';

/** Blocks are held until the end, so that others wait only for the inserts. What is larger is stored as it comes. */
const MAX_HELD_BYTES = 8 * 1024 * 1024;
/** Roughly what a line takes in memory beside its words. */
const LINE_BYTES = 400;

type Storing = Pick<Archive, 'begin' | 'markApplied' | 'discard'>;

/**
 * Stores compactions, each in one transaction and in bounded memory. A draft that contradicts itself is a bug and throws.
 */
export function createCompactionStore(sql: Sql, engine: StoreEngine): Storing {
  const measure = (query: Query): Promise<number> => readUsedBytes({ query, dialect: sql.dialect });
  return { begin: async (outline) => createWriter(sql, engine, { outline, measure }), ...createSettling(sql, engine) };
}

type Opened = Awaited<ReturnType<StoreEngine['begin']>>;

type Writing = {
  readonly outline: CompactionOutline;
  /** The bytes that the archive takes. */
  readonly measure: (query: Query) => Promise<number>;
};

function createWriter(sql: Sql, engine: StoreEngine, { outline, measure }: Writing): CompactionWriter {
  const gatherer = createBlockGatherer();
  const archived: LineRun[] = [];
  const lineIds: { first: number | null; last: number | null } = { first: null, last: null };
  const state = { position: 0, heldBytes: 0, bytesBefore: 0, hasEnded: false };
  let held: HeldBlock[] = [];
  let open: Opened | null = null;

  const flush = async (query: Query, ids: Ids): Promise<void> => {
    for (const block of held) {
      const stored = await writeBlock(query, engine, ids, withOwners(block, ids));
      lineIds.first ??= stored[0] ?? null;
      lineIds.last = stored.at(-1) ?? lineIds.last;
    }
  };
  const hold = async (blocks: readonly RawBlock[]): Promise<void> => {
    for (const raw of blocks) {
      for (const { draft } of raw.members) addLine(archived, draft);
      const block = packBlock(raw, state.position, engine);
      state.position += 1;
      held.push(block);
      state.heldBytes += block.heldBytes;
      if (state.heldBytes <= MAX_HELD_BYTES) continue;
      if (open === null) {
        open = await engine.begin(outline);
        state.bytesBefore = await measure(open.query);
      }
      await flush(open.query, open.ids);
      held = [];
      state.heldBytes = 0;
    }
  };
  const end = async (): Promise<void> => {
    state.hasEnded = true;
    held = [];
    const transaction = open;
    open = null;
    await transaction?.rollback(); // does nothing after a commit
  };
  const step = async <T>(work: () => Promise<T>): Promise<T> => {
    if (state.hasEnded) throw new Error('this was stored or abandoned before');
    try {
      return await work();
    } catch (error) {
      await end();
      throw error;
    }
  };
  return {
    append: (lines) =>
      step(async () => {
        for (const line of lines) await hold(gatherer.add(line));
      }),
    commit: (draft) =>
      step(async () => {
        await hold(gatherer.end());
        checkCoverage(draft, archived);
        const storeAll = async (query: Query, ids: Ids): Promise<void> => {
          await flush(query, ids);
          await writeRest(query, engine, { draft, ids, lineIds });
          await engine.finish(query, ids.compactionId);
        };
        const storeOnce = async (query: Query, ids: Ids): Promise<void> => {
          state.bytesBefore = await measure(query);
          await storeAll(query, ids);
        };
        const id = open === null ? await engine.once(outline, storeOnce) : await commitOpen(open, storeAll);
        await end();
        // After the commit, which writes the search index.
        return { id, archiveBytes: Math.max(0, (await measure(sql.query)) - state.bytesBefore) };
      }),
    abandon: async () => {
      if (!state.hasEnded) await end();
    },
  };
}

async function commitOpen(
  { query, ids, commit }: Opened,
  store: (query: Query, ids: Ids) => Promise<void>,
): Promise<number> {
  await store(query, ids);
  await commit();
  return ids.compactionId;
}

/** A block that is hashed, compressed and cut into words, but whose lines have no ids yet. */
type HeldBlock = Pick<BlockRows, 'position' | 'data' | 'rawSizeBytes'> & {
  readonly members: readonly (Pick<BlockMember, 'offset' | 'sizeBytes' | 'sha256'> & {
    readonly draft: BlockMember['draft'];
    readonly entry: readonly string[] | null;
    readonly traits: number;
  })[];
  readonly heldBytes: number;
};

function packBlock({ raw, members }: RawBlock, position: number, { toEntry }: StoreEngine): HeldBlock {
  // zlib's chunk is larger than what is in it, and would be kept whole.
  const data = new Uint8Array(compressBlock(raw));
  let heldBytes = data.length;
  const packed = members.map(({ draft, offset, sizeBytes, sha256 }) => {
    const { message } = draft;
    const entry = message === null ? null : toEntry(message.text);
    heldBytes += LINE_BYTES + (entry?.reduce((sum, { length }) => sum + 2 * length, 0) ?? 0);
    const traits = message === null ? 0 : traitsColumn(readTraits(message.text));
    // The text itself is not needed any more.
    const kept = message === null ? draft : { ...draft, message: { ...message, text: '' } };
    return { draft: kept, offset, sizeBytes, sha256, entry, traits };
  });
  return { position, data, rawSizeBytes: raw.length, members: packed, heldBytes };
}

function withOwners({ position, data, rawSizeBytes, members }: HeldBlock, { cycles }: Ids): BlockRows {
  const lines = members.map(({ draft, offset, sizeBytes, sha256, entry, traits }): LineRow => {
    const { line, outcome, message } = draft;
    const { cycleId, batchId } = ownerOf(draft, cycles);
    return {
      columns: {
        line,
        offset,
        size_bytes: sizeBytes,
        outcome: OUTCOMES.indexOf(outcome),
        cycle_id: cycleId,
        batch_id: batchId,
        role: message === null ? null : ROLES.indexOf(message.role),
        at_ms: message === null ? null : timeColumn(message.at),
        message_index: message?.index ?? null,
        message_id: message === null || message.id === `line:${line}` ? null : message.id,
        name: message?.name ?? null,
        traits,
        sha256,
        erasure_id: null,
      },
      entry,
    };
  });
  return { position, data, rawSizeBytes, lines };
}

/** A summarized line belongs to its batch, and so to the batch's cycle; any other to a cycle, or to none. */
function ownerOf(
  { line, outcome, cycle, batch }: BlockMember['draft'],
  cycles: readonly CycleIds[],
): { readonly cycleId: number | null; readonly batchId: number | null } {
  const ids = cycle === null ? null : cycles[cycle];
  if (ids === undefined) throw new Error(`source line ${line} is of cycle ${cycle}, of ${cycles.length}`);
  if (outcome !== 'summarized') return { cycleId: ids?.cycleId ?? null, batchId: null };
  const batchId = batch === null ? undefined : ids?.batchIds[batch];
  if (batchId === undefined)
    throw new Error(`source line ${line} is summarized, but in no batch (cycle ${cycle}, batch ${batch})`);
  return { cycleId: null, batchId };
}

type Rest = {
  readonly draft: CompactionDraft;
  readonly ids: Ids;
  readonly lineIds: { readonly first: number | null; readonly last: number | null };
};

/** Writes everything but the lines. */
async function writeRest(query: Query, engine: StoreEngine, { draft, ids, lineIds }: Rest): Promise<void> {
  const { compactionId, cycles } = ids;
  const { run, source, sourcePath, outputPath } = draft;
  if (draft.cycles.length !== cycles.length)
    throw new Error(`there are ${draft.cycles.length} cycles instead of ${cycles.length}`);
  const misplaced = draft.inserted.find(({ beforeLine }) => beforeLine < 1 || beforeLine > source.lineCount + 1);
  if (misplaced !== undefined) throw new Error(`no place before source line ${misplaced.beforeLine}`);
  await insertRow(query, 'compactions', {
    id: compactionId,
    status: 'prepared',
    ...headColumns({ ...draft, createdAtMs: timeColumn(draft.createdAt) }),
    ...ids.partition,
    ...engine.headColumns(lineIds),
  });
  if (run !== null) await recordFile(query, run, { compactionId, sourcePath, outputPath });
  for (const [position, cycle] of draft.cycles.entries()) {
    const own = cycles[position];
    if (own !== undefined) await writeCycle(query, engine, { draft: cycle, compactionId, position, ids: own });
  }
  await writeInserted(query, compactionId, draft.inserted);
  await writeKept(query, compactionId, draft.kept);
  const carried = draft.carried.map(({ lineId, cycle, batch }) => {
    const own = cycles[cycle];
    const batchId = own?.batchIds[batch];
    if (own === undefined || batchId === undefined)
      throw new Error(`no batch ${batch} of cycle ${cycle} for a carried line`);
    return { cycle_id: own.cycleId, line_id: lineId, batch_id: batchId };
  });
  await writeCarried(query, carried);
}

type Head = Pick<
  CompactionDraft,
  'format' | 'sourcePath' | 'outputPath' | 'source' | 'output' | 'settingsSha256' | 'settings' | 'processId'
> & { readonly createdAtMs: number | null };

/** The columns of a compaction that say what it was made from, and with what. */
export function headColumns(head: Head): Readonly<Record<string, unknown>> {
  return {
    format: head.format,
    source_path: head.sourcePath,
    output_path: head.outputPath,
    source_sha256: hashColumn(head.source.sha256),
    source_size_bytes: head.source.sizeBytes,
    source_line_count: head.source.lineCount,
    source_has_bom: head.source.hasBom ? 1 : 0,
    output_sha256: hashColumn(head.output.sha256),
    output_size_bytes: head.output.sizeBytes,
    settings_sha256: hashColumn(head.settingsSha256),
    settings: head.settings,
    created_at_ms: head.createdAtMs,
    process_id: head.processId,
  };
}

type CyclePlace = {
  readonly draft: CycleDraft;
  readonly compactionId: number;
  readonly position: number;
  readonly ids: CycleIds;
};

async function writeCycle(
  query: Query,
  engine: StoreEngine,
  { draft, compactionId, position, ids: { cycleId, batchIds } }: CyclePlace,
): Promise<void> {
  const { conversationId, cycle, newBatches } = draft;
  if (newBatches.length !== batchIds.length)
    throw new Error(`cycle ${position} has ${newBatches.length} new batches instead of ${batchIds.length}`);
  await insertRow(query, 'cycles', {
    id: cycleId,
    compaction_id: compactionId,
    position,
    conversation_id: conversationId,
    cycle,
    parent_cycle_id: draft.parentCycleId,
    clip_sha256: hashColumn(draft.clipSha256),
    messages_compressed: draft.messagesCompressed,
    made_count: newBatches.length,
    live_count: draft.live.length,
  });
  for (const [at, batch] of newBatches.entries()) {
    // Only earlier batches can be sources of a batch.
    const earlier = batchIds.slice(0, at);
    const id = batchIds[at] ?? 0;
    await writeBatch(query, engine, {
      id,
      cycleId,
      position: at,
      label: buildLabel({ conversationId, cycle, position: at, batch }),
      content: batch.content,
      columns: {
        content_sha256: hash('sha256', batch.content, 'buffer'),
        depth: batch.depth,
        start_ms: timeColumn(batch.startTime),
        end_ms: timeColumn(batch.endTime),
        message_count: batch.messageCount,
        first_index: batch.firstIndex ?? null,
        last_index: batch.lastIndex ?? null,
        level: LEVELS.indexOf(batch.level ?? 'plain'),
      },
    });
    await writeSources(
      query,
      id,
      batch.sources.map((source) => resolve(source, earlier)),
    );
  }
  await writeLive(
    query,
    cycleId,
    draft.live.map((live) => resolve(live, batchIds)),
  );
}

function resolve(ref: BatchRef, batchIds: readonly number[]): number {
  if (ref.kind === 'stored') return ref.id;
  const id = batchIds[ref.position];
  if (id === undefined) throw new Error(`no new batch at position ${ref.position}`);
  return id;
}

type LabelInput = {
  readonly conversationId: string;
  readonly cycle: number;
  /** Index among the batches of the cycle. */
  readonly position: number;
  readonly batch: SummaryBatch;
};

/** The name that people use for a batch: by its end time, else by its messages, else by its cycle. Not yet unique. */
export function buildLabel({ conversationId, cycle, position, batch }: LabelInput): string {
  const stem = `compaction-batch-${conversationId.toWellFormed()}`;
  const endMs = timeColumn(batch.endTime);
  if (endMs !== null) return `${stem}-${new Date(endMs).toISOString()}`;
  if (batch.firstIndex === undefined || batch.lastIndex === undefined) return `${stem}-cycle-${cycle}-${position + 1}`;
  return `${stem}-messages-${batch.firstIndex}-${batch.lastIndex}`;
}

/** Consecutive archived lines. */
export type LineRun = { readonly firstLine: number; lineCount: number };

export function addLine(runs: LineRun[], { line }: Pick<LineDraft, 'line'>): void {
  const last = runs.at(-1);
  if (last !== undefined && last.firstLine + last.lineCount === line) last.lineCount += 1;
  else runs.push({ firstLine: line, lineCount: 1 });
}

/**
 * Proves that the archived lines and the kept runs cover each source line exactly once, in order. Throws at the first
 * gap, because an archive with a gap could not restore the original.
 */
export function checkCoverage(
  { kept, source }: Pick<CompactionDraft, 'kept' | 'source'>,
  archived: readonly Readonly<LineRun>[],
): void {
  const runs = kept.values();
  let run = runs.next();
  let expected = 1;
  const skipKeptRuns = (): void => {
    for (; run.value !== undefined && run.value.firstLine === expected; run = runs.next()) {
      const { firstLine, lineCount, lineSha256 } = run.value;
      if (lineCount < 1) throw new Error(`the run of kept lines at source line ${firstLine} is empty`);
      if (lineSha256.length !== lineCount) {
        throw new Error(
          `the run of kept lines at source line ${firstLine} has ${lineSha256.length} hashes for ${lineCount} lines`,
        );
      }
      expected += lineCount;
    }
  };
  for (const { firstLine, lineCount } of archived) {
    skipKeptRuns();
    if (firstLine !== expected)
      throw new Error(`source line ${expected} expected, but line ${firstLine} is archived next`);
    expected += lineCount;
  }
  skipKeptRuns();
  if (run.value !== undefined)
    throw new Error(`source line ${expected} expected, but line ${run.value.firstLine} is kept next`);
  if (expected !== source.lineCount + 1)
    throw new Error(`${expected - 1} lines are kept or archived of a source of ${source.lineCount}`);
}

/** What was erased stays erased. */
const MARK_APPLIED = "UPDATE compactions SET status = 'applied' WHERE id = :id AND status <> 'erased' RETURNING id";

/**
 * Applies or discards a prepared compaction. Two processes may do so at the same time: discarding a missing or applied
 * one does nothing; applying a missing one is damage, because the compacted file then has no archive.
 */
function createSettling({ transaction }: Sql, engine: StoreEngine): Pick<Archive, 'markApplied' | 'discard'> {
  return {
    markApplied: async (id) => {
      const changed = await transaction('write', (query) => query(MARK_APPLIED, { id }));
      if (changed.length === 0) throw new DamageError(`compaction ${id} was removed before it was applied`);
    },
    discard: (id) =>
      transaction('write', async (query) => {
        const [prepared] = await query(engine.findPrepared, { id });
        if (prepared === undefined) return;
        for (const statement of engine.deletePrepared) await query(statement, { ...prepared, id });
      }),
  };
}
