import { hash } from 'node:crypto';
import type { SummaryBatch } from '../../../core/batch.ts';
import type {
  Archive,
  BatchRef,
  CompactionDraft,
  CompactionOutline,
  CompactionWriter,
  CycleDraft,
  LineDraft,
  MessageDraft,
} from '../../../ports/archive.ts';
import { compressAside, createBlockGatherer, MAX_BLOCK_BYTES, type RawBlock } from '../blocks.ts';
import { DamageError } from '../failure.ts';
import { LABEL_START } from '../read/compactions.ts';
import { readText, timeColumn, traitsColumn } from '../rows.ts';
import { type Query, readUsedBytes, type Sql } from '../sql/query.ts';
import { layOutTexts, TEXTS_POSITION, type Texts } from '../texts.ts';
import {
  beginStoring,
  createSteps,
  type CycleIds,
  type Ids,
  type StoreEngine,
  storeOnce,
  type Storing,
} from './engine.ts';
import { type BlockRows, type CompactionRows, type LineRow, writeBlocks, writeCompaction } from './rows.ts';
import { joinPacks, writePack } from './packs.ts';
import { keepFile, recordFile } from './runs.ts';

/** Blocks are held until the end, so that others wait only for the inserts. What is larger is stored as it comes. */
const MAX_HELD_BYTES = 8 * 1024 * 1024;
/** Blocks that are being compressed. */
const MAX_UNDERWAY = 3;
/** Roughly what a line takes in memory. */
const LINE_BYTES = 400;

const NO_LINES: RawBlock = { raw: new Uint8Array(), members: [] };

/**
 * Stores compactions, each in one transaction and in bounded memory. A draft that contradicts itself is a bug and throws.
 * Two processes may apply or discard a prepared one at the same time: discarding a missing or applied one does nothing;
 * applying a missing one is damage, because the compacted file then has no archive.
 */
export function createCompactionStore(sql: Sql, engine: StoreEngine) {
  return {
    begin: async (outline) => createWriter(sql, engine, outline),
    markApplied: async (id) => {
      const changed = await sql.transaction('write', (query) => query(MARK_APPLIED, { id }));
      if (changed.length === 0) throw new DamageError(`compaction ${id} was removed before it was applied`);
    },
    discard: (id) =>
      sql.transaction('write', async (query) => {
        const [prepared] = await query(engine.findPrepared, { id });
        if (prepared === undefined) return;
        for (const statement of engine.deletePrepared) await query(statement, { ...prepared, id });
      }),
  } satisfies Partial<Archive>;
}

/** What was erased stays erased. */
const MARK_APPLIED = "UPDATE compactions SET status = 'applied' WHERE id = :id AND status <> 'erased' RETURNING id";

function createWriter(sql: Sql, engine: StoreEngine, outline: CompactionOutline): CompactionWriter {
  const measure = (query: Query): Promise<number> => readUsedBytes({ query, dialect: sql.dialect });
  const gatherer = createBlockGatherer();
  const archived: LineRun[] = [];
  const state = { position: 0, heldBytes: 0, bytesBefore: 0 };
  const underway: Promise<HeldPack>[] = [];
  let held: HeldPack[] = [];
  let open: Storing | null = null;

  const flush = async (query: Query, ids: Ids): Promise<void> => {
    for (const pack of held) {
      const { partition } = ids;
      const rawSizeBytes = pack.blocks.reduce((sum, block) => sum + block.rawSizeBytes, 0);
      const packId = await writePack(query, { partition, data: pack.data, rawSizeBytes });
      const blocks = withOwners(pack.blocks, ids);
      await writeBlocks(query, engine, ids, { packId, offset: 0, blocks });
    }
  };
  const hold = async (pack: HeldPack): Promise<void> => {
    held.push(pack);
    state.heldBytes += pack.heldBytes;
    if (state.heldBytes <= MAX_HELD_BYTES) return;
    if (open === null) {
      open = await beginStoring(sql, engine, outline);
      state.bytesBefore = await measure(open.query);
    }
    await flush(open.query, open.ids);
    held = [];
    state.heldBytes = 0;
  };
  const settle = async (left: number): Promise<void> => {
    for (const packing of underway.splice(0, Math.max(0, underway.length - left))) await hold(await packing);
  };
  const pack = async (blocks: readonly RawBlock[], texts: Uint8Array = NO_LINES.raw): Promise<void> => {
    for (const raw of blocks) {
      for (const { draft } of raw.members) addLine(archived, draft);
      const packing = packBlock(raw, { position: state.position, texts });
      const reuse = (): void => gatherer.reuse(raw);
      packing.then(reuse, () => undefined); // thrown when it is awaited
      state.position += 1;
      underway.push(packing);
      await settle(raw.raw.length > MAX_BLOCK_BYTES ? 0 : MAX_UNDERWAY); // a huge line is alone
    }
  };
  const { step, end } = createSteps(async () => {
    held = [];
    await open?.rollback(); // does nothing after a commit
  });
  return {
    append: (lines) =>
      step(async () => {
        for (const line of lines) {
          const full = gatherer.add(line);
          if (full.length > 0) await pack(full);
        }
      }),
    commit: (draft) =>
      step(async () => {
        const texts = layOutTexts(
          draft.cycles.map(({ newBatches }) => newBatches),
          draft.inserted,
        );
        const [last = NO_LINES] = gatherer.end();
        const isRoomy = last.raw.length + texts.raw.length <= MAX_BLOCK_BYTES;
        if (!isRoomy) await pack([last]);
        if (last !== NO_LINES || texts.raw.length > 0) await pack([isRoomy ? last : NO_LINES], texts.raw);
        await settle(0);
        checkCoverage(draft, archived);
        const storeAll = async (query: Query, ids: Ids): Promise<void> => {
          await flush(query, ids);
          await writeRest(query, engine, { draft, texts, ids });
          await joinPacks(query, sql.dialect, ids.partition);
        };
        const storeFirst = async (query: Query, ids: Ids): Promise<void> => {
          state.bytesBefore = await measure(query);
          await storeAll(query, ids);
        };
        const id = open === null ? await storeOnce(sql, engine, outline, storeFirst) : await commitOpen(open, storeAll);
        await end();
        return { id, archiveBytes: Math.max(0, (await measure(sql.query)) - state.bytesBefore) };
      }),
    abandon: end,
  };
}

async function commitOpen({ query, ids, commit }: Storing, store: (query: Query, ids: Ids) => Promise<void>) {
  await store(query, ids);
  await commit();
  return ids.compactionId;
}

/** A line that is hashed, but whose owners have no ids yet. */
type HeldLine = Omit<LineRow, 'cycleId' | 'batchId'> & Pick<LineDraft, 'cycle' | 'batch'>;
type HeldBlock = Omit<BlockRows, 'lines'> & { readonly lines: readonly HeldLine[] };
type HeldPack = { readonly data: Uint8Array; readonly blocks: readonly HeldBlock[]; readonly heldBytes: number };

/** `texts`: those of the compaction, which come after its last lines. */
async function packBlock(
  { raw, members }: RawBlock,
  { position, texts }: { readonly position: number; readonly texts: Uint8Array },
): Promise<HeldPack> {
  const compressing = compressAside(texts.length === 0 ? raw : Buffer.concat([raw, texts]));
  const lines = members.map(({ draft: { message, ...draft }, ...place }): HeldLine => ({
    ...draft,
    ...place,
    erasureId: null,
    message: message === null ? null : toMessage(message, draft.line),
  }));
  const data = await compressing;
  const blocks = [
    ...(lines.length === 0 ? [] : [{ position, rawSizeBytes: raw.length, lines }]),
    ...(texts.length === 0 ? [] : [{ position: TEXTS_POSITION, rawSizeBytes: texts.length, lines: [] }]),
  ];
  return { data, blocks, heldBytes: LINE_BYTES * lines.length + data.length };
}

function toMessage({ id, role, name, at, index, ...message }: MessageDraft, line: number): LineRow['message'] {
  const traits = traitsColumn(message.traits);
  return { role, atMs: timeColumn(at), index: index ?? null, id: id === `line:${line}` ? null : id, name, traits };
}

function withOwners(blocks: readonly HeldBlock[], { cycles }: Ids): readonly BlockRows[] {
  const own = (line: HeldLine): LineRow => ({ ...line, ...ownerOf(line, cycles) });
  return blocks.map(({ lines, ...block }) => ({ ...block, lines: lines.map(own) }));
}

/** A summarized line belongs to its batch, and so to the batch's cycle; any other to a cycle, or to none. */
function ownerOf({ line, outcome, cycle, batch }: HeldLine, cycles: readonly CycleIds[]) {
  const ids = cycle === null ? null : cycles[cycle];
  if (ids === undefined) throw new Error(`source line ${line} is of cycle ${cycle}, of ${cycles.length}`);
  if (outcome !== 'summarized') return { cycleId: ids?.cycleId ?? null, batchId: null };
  const batchId = batch === null ? undefined : ids?.batchIds[batch];
  if (batchId === undefined)
    throw new Error(`source line ${line} is summarized, but in no batch (cycle ${cycle}, batch ${batch})`);
  return { cycleId: null, batchId };
}

/** Writes everything but the lines. */
async function writeRest(
  query: Query,
  engine: StoreEngine,
  { draft, texts, ids }: { readonly draft: CompactionDraft; readonly texts: Texts; readonly ids: Ids },
): Promise<void> {
  const { compactionId, cycles } = ids;
  const { run, source, sourcePath, realPath = sourcePath, outputPath } = draft;
  if (draft.cycles.length !== cycles.length)
    throw new Error(`there are ${draft.cycles.length} cycles instead of ${cycles.length}`);
  const misplaced = draft.inserted.find(({ beforeLine }) => beforeLine < 1 || beforeLine > source.lineCount + 1);
  if (misplaced !== undefined) throw new Error(`no place before source line ${misplaced.beforeLine}`);
  const written: CompactionRows['cycles'][number][] = [];
  for (const [position, cycle] of draft.cycles.entries()) {
    const own = toCycle(cycle, position, cycles[position]?.batchIds ?? []);
    written.push({ ...own, title: await findNewTitle(query, cycle) });
  }
  await writeCompaction(query, engine, ids, {
    ...draft,
    status: 'prepared',
    erasureId: null,
    createdAtMs: timeColumn(draft.createdAt),
    texts,
    cycles: written,
    carried: draft.carried.map(({ lineId, cycle, batch }) => {
      const own = cycles[cycle];
      const batchId = own?.batchIds[batch];
      if (own === undefined || batchId === undefined)
        throw new Error(`no batch ${batch} of cycle ${cycle} for a carried line`);
      return { cycle_id: own.cycleId, line_id: lineId, batch_id: batchId };
    }),
  });
  if (run !== null) await recordFile(query, run, { compactionId, sourcePath, outputPath });
  if (realPath !== sourcePath)
    await keepFile(query, compactionId, { run: null, sourcePath: realPath, outputPath: null, undoneAtMs: null });
}

const FIND_TITLE = `
SELECT title FROM cycles WHERE conversation_id = :conversationId AND title IS NOT NULL ORDER BY id DESC LIMIT 1`;

/** A title is stored again only when it has changed. */
async function findNewTitle(query: Query, { conversationId, parentCycleId, title = null }: CycleDraft) {
  if (title === null || parentCycleId === null) return title;
  const [known] = await query(FIND_TITLE, { conversationId });
  return known !== undefined && readText(known, 'title') === title ? null : title;
}

function toCycle(
  { conversationId, cycle, newBatches, parentCycleId, clipSha256, messagesCompressed, live }: CycleDraft,
  position: number,
  batchIds: readonly number[],
) {
  if (newBatches.length !== batchIds.length)
    throw new Error(`cycle ${position} has ${newBatches.length} new batches instead of ${batchIds.length}`);
  const facts = { conversationId, cycle, parentId: parentCycleId, clipSha256, messagesCompressed };
  return {
    ...facts,
    batches: newBatches.map((batch, at) => ({
      label: buildLabel(batch, { conversationId, cycle }, at),
      content: batch.content,
      contentSha256: hash('sha256', batch.content),
      depth: batch.depth,
      startMs: timeColumn(batch.startTime),
      endMs: timeColumn(batch.endTime),
      messageCount: batch.messageCount,
      firstIndex: batch.firstIndex ?? null,
      lastIndex: batch.lastIndex ?? null,
      level: batch.level ?? 'plain',
      // Only earlier batches can be sources of a batch.
      sourceIds: batch.sources.map((one) => resolve(one, batchIds.slice(0, at))),
    })),
    liveIds: live.map((one) => resolve(one, batchIds)),
  };
}

function resolve(ref: BatchRef, batchIds: readonly number[]): number {
  if (ref.kind === 'stored') return ref.id;
  const id = batchIds[ref.position];
  if (id === undefined) throw new Error(`no new batch at position ${ref.position}`);
  return id;
}

/**
 * The name that people use for a batch: by its end time, else by its messages, else by its cycle. `writeBatch` makes it unique and fit to be
 * typed. `position`: among the batches of the cycle.
 */
export function buildLabel(
  batch: SummaryBatch,
  { conversationId, cycle }: Pick<CycleDraft, 'conversationId' | 'cycle'>,
  position: number,
): string {
  const stem = LABEL_START + conversationId;
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
export function checkCoverage({ kept, source }: CompactionDraft, archived: readonly Readonly<LineRun>[]): void {
  const runs = kept.values();
  let run = runs.next();
  let expected = 1;
  const skipKeptRuns = (): void => {
    for (; run.value !== undefined && run.value.firstLine === expected; run = runs.next()) {
      const { firstLine, lineCount, lineSha256 } = run.value;
      if (lineCount < 1) throw new Error(`the run of kept lines at source line ${firstLine} is empty`);
      const hashes = `${lineSha256.length} hashes for ${lineCount} lines`;
      if (lineSha256.length !== lineCount)
        throw new Error(`the run of kept lines at source line ${firstLine} has ${hashes}`);
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
