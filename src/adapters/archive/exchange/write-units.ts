import type { BatchName, CycleName, Unit, UnitLineDraft, UnitReader, UnitStore } from '../../../ports/exchange.ts';
import { compressInsertedLine } from '../blocks.ts';
import { DamageError } from '../failure.ts';
import { hashColumn, LEVELS, readInteger, type Row } from '../rows.ts';
import { makeUnique } from '../store-rows.ts';
import type { Query } from '../sql/query.ts';
import { keepFile } from '../store/runs.ts';
import type { UnitEngine } from './query.ts';

/** The rows that a unit's lines belong to. */
export type UnitTarget = {
  readonly compactionId: number;
  /** By position in the compaction. */
  readonly cycleIds: readonly number[];
  /** By position in the compaction and in the cycle. */
  readonly batchIds: readonly (readonly number[])[];
  readonly erasureId: (receipt: string) => Promise<number>;
};

/** What each engine does in its own way. */
export type UnitWriting = UnitEngine & {
  /** Inserts the row of a compaction and gives its id. */
  readonly insertCompaction: (query: Query, columns: Readonly<Record<string, unknown>>) => Promise<number>;
  /** Makes a batch searchable. */
  readonly indexBatch: (query: Query, id: number, content: string) => Promise<void>;
  /** Stores lines in blocks, and makes their messages searchable. */
  readonly storeLines: (
    query: Query,
    target: UnitTarget,
    lines: AsyncIterable<readonly UnitLineDraft[]>,
  ) => Promise<void>;
};

export const FIND_ERASURE = 'SELECT id FROM erasures WHERE receipt = :receipt';
const INSERT_CYCLE = `
INSERT INTO cycles (compaction_id, position, conversation_id, cycle, parent_cycle_id, clip_sha256, messages_compressed, made_count, live_count)
VALUES (:compactionId, :position, :conversationId, :cycle, :parentId, :clipSha256, :messagesCompressed, :madeCount, :liveCount) RETURNING id`;
const INSERT_BATCH = `
INSERT INTO batches (cycle_id, position, label, content, content_sha256, depth, start_ms, end_ms, message_count, first_index, last_index, level)
VALUES (:cycleId, :position, :label, :content, :contentSha256, :depth, :startMs, :endMs, :messageCount, :firstIndex, :lastIndex, :level) RETURNING id`;
const HAS_LABEL = 'SELECT 1 AS found FROM batches WHERE label = :label';
const INSERT_SOURCE = 'INSERT INTO batch_sources (batch_id, position, source_id) VALUES (:id, :position, :sourceId)';
const INSERT_LIVE = 'INSERT INTO live_batches (cycle_id, position, batch_id) VALUES (:id, :position, :batchId)';
const INSERT_INSERTED = `
INSERT INTO inserted_lines (compaction_id, position, before_line, bytes, raw_size, erased_sha256)
VALUES (:compactionId, :position, :beforeLine, :bytes, :rawSize, :erasedSha256)`;
const INSERT_KEPT = `
INSERT INTO kept_runs (compaction_id, position, first_line, line_count, size_bytes, line_sha256)
VALUES (:compactionId, :position, :firstLine, :lineCount, :sizeBytes, :hashes)`;
const INSERT_CARRIED = 'INSERT INTO carried_lines (cycle_id, line_id, batch_id) VALUES (:cycleId, :lineId, :batchId)';
const FIND_LINE = `
SELECT l.id FROM blocks AS k JOIN lines AS l ON l.block_id = k.id WHERE k.compaction_id = :unitId AND l.line = :line`;
const FIND_CYCLE = 'SELECT id FROM cycles WHERE compaction_id = :unitId AND position = :cycle';
export const FIND_BATCH = `
SELECT b.id FROM cycles AS y JOIN batches AS b ON b.cycle_id = y.id WHERE y.compaction_id = :unitId AND y.position = :cycle AND b.position = :batch`;
type UnitWriter = Pick<UnitStore, 'storeUnit' | 'storeFiles'>;

/** Stores units, each in one transaction. */
export function createUnitWriter(
  engine: UnitWriting,
  readerOf: (query: Query) => Pick<UnitReader, 'findUnit'>,
): UnitWriter {
  return {
    storeUnit: (unit, lines) =>
      engine.transaction(async (query) => {
        const { findUnit } = readerOf(query);
        if ((await findUnit(unit.key)) !== null) return false;
        await insertUnit(engine, { query, findUnit: remember(findUnit) }, { unit, lines });
        return true;
      }),
    storeFiles: (unit) =>
      engine.transaction(async (query) => {
        const unitId = await readerOf(query).findUnit(unit.key);
        return unitId === null ? 0 : storeFiles(query, unitId, unit);
      }),
  };
}

/** A unit mostly names the same few earlier ones, again and again. */
function remember(findUnit: UnitReader['findUnit']): UnitReader['findUnit'] {
  const known = new Map<string, Promise<number | null>>();
  return async (key) => {
    const found = known.get(key) ?? findUnit(key);
    known.set(key, found);
    return found;
  };
}

type Within = { readonly query: Query; readonly findUnit: UnitReader['findUnit'] };

async function insertUnit(
  engine: UnitWriting,
  within: Within,
  { unit, lines }: { readonly unit: Unit; readonly lines: AsyncIterable<readonly UnitLineDraft[]> },
): Promise<void> {
  const { query } = within;
  const erasureId = async (receipt: string): Promise<number> =>
    idOf(await query(FIND_ERASURE, { receipt }), `receipt ${receipt}`);
  const compactionId = await engine.insertCompaction(query, {
    ...headColumns(unit),
    status: unit.isErased ? 'erased' : 'applied',
    erasureId: unit.receipt === null ? null : await erasureId(unit.receipt),
  });
  const cycleIds: number[] = [];
  const batchIds: (readonly number[])[] = [];
  for (const [position, cycle] of unit.cycles.entries()) {
    const cycleId = idOf(
      await query(INSERT_CYCLE, {
        compactionId,
        position,
        conversationId: cycle.conversationId,
        cycle: cycle.cycle,
        parentId: cycle.parent === null ? null : await findCycle(within, cycle.parent),
        clipSha256: hashColumn(cycle.clipSha256),
        messagesCompressed: cycle.messagesCompressed,
        madeCount: cycle.batches.length,
        liveCount: cycle.live.length,
      }),
    );
    cycleIds.push(cycleId);
    batchIds.push(await insertBatches(engine, within, { cycle, cycleId }));
  }
  const resolve = async (name: BatchName): Promise<number> => {
    const own = name.unit === unit.key ? batchIds[name.cycle]?.[name.batch] : undefined;
    return own ?? findBatch(within, name);
  };
  for (const [position, cycle] of unit.cycles.entries()) {
    for (const [at, { sources }] of cycle.batches.entries())
      for (const [index, source] of sources.entries())
        await query(INSERT_SOURCE, { id: batchIds[position]?.[at], position: index, sourceId: await resolve(source) });
    for (const [at, live] of cycle.live.entries())
      await query(INSERT_LIVE, { id: cycleIds[position], position: at, batchId: await resolve(live) });
  }
  for (const [position, { beforeLine, bytes, erasedSha256 }] of unit.inserted.entries()) {
    const stored = compressInsertedLine(bytes);
    await query(INSERT_INSERTED, {
      compactionId,
      position,
      beforeLine,
      bytes: stored.bytes,
      rawSize: stored.rawSizeBytes,
      erasedSha256: erasedSha256 === null ? null : hashColumn(erasedSha256),
    });
  }
  for (const [position, { firstLine, lineCount, sizeBytes, lineSha256 }] of unit.kept.entries()) {
    const hashes = Buffer.concat(lineSha256.map(hashColumn));
    await query(INSERT_KEPT, { compactionId, position, firstLine, lineCount, sizeBytes, hashes });
  }
  await engine.storeLines(query, { compactionId, cycleIds, batchIds, erasureId }, lines);
  for (const { unit: key, line, cycle, batch } of unit.carried) {
    const unitId = key === unit.key ? compactionId : await within.findUnit(key);
    const [found] = unitId === null ? [] : await query(FIND_LINE, { unitId, line });
    if (found === undefined) continue; // it was erased
    await query(INSERT_CARRIED, {
      cycleId: cycleIds[cycle],
      lineId: readInteger(found, 'id'),
      batchId: batchIds[cycle]?.[batch],
    });
  }
  await storeFiles(query, compactionId, unit);
}

function headColumns(unit: Unit): Readonly<Record<string, unknown>> {
  return {
    format: unit.format,
    sourcePath: unit.sourcePath,
    outputPath: unit.outputPath,
    sourceSha256: hashColumn(unit.source.sha256),
    sourceSizeBytes: unit.source.sizeBytes,
    sourceLineCount: unit.source.lineCount,
    sourceHasBom: unit.source.hasBom ? 1 : 0,
    outputSha256: hashColumn(unit.output.sha256),
    outputSizeBytes: unit.output.sizeBytes,
    settingsSha256: hashColumn(unit.settingsSha256),
    settings: unit.settings,
    createdAtMs: unit.createdAtMs,
    processId: unit.processId,
  };
}

async function insertBatches(
  engine: UnitWriting,
  { query }: Within,
  { cycle, cycleId }: { readonly cycle: Unit['cycles'][number]; readonly cycleId: number },
): Promise<readonly number[]> {
  const ids: number[] = [];
  for (const [position, batch] of cycle.batches.entries()) {
    const id = idOf(
      await query(INSERT_BATCH, {
        cycleId,
        position,
        label: await freeLabel(query, batch.label),
        content: batch.content,
        contentSha256: hashColumn(batch.contentSha256),
        depth: batch.depth,
        startMs: batch.startMs,
        endMs: batch.endMs,
        messageCount: batch.messageCount,
        firstIndex: batch.firstIndex,
        lastIndex: batch.lastIndex,
        level: LEVELS.indexOf(batch.level),
      }),
    );
    if (batch.content !== '') await engine.indexBatch(query, id, batch.content);
    ids.push(id);
  }
  return ids;
}

/** The batches of two archives may have the same label. */
async function freeLabel(query: Query, label: string): Promise<string> {
  const taken = new Set<string>();
  for (;;) {
    const name = makeUnique(label, (one) => taken.has(one));
    if ((await query(HAS_LABEL, { label: name })).length === 0) return name;
    taken.add(name);
  }
}

/** Null: it was never applied, so nothing leads to it. */
async function findCycle({ query, findUnit }: Within, { unit, cycle }: CycleName): Promise<number | null> {
  const unitId = await findUnit(unit);
  const [row] = unitId === null ? [] : await query(FIND_CYCLE, { unitId, cycle });
  return row === undefined ? null : readInteger(row, 'id');
}

async function findBatch({ query, findUnit }: Within, { unit, cycle, batch }: BatchName): Promise<number> {
  const unitId = await findUnit(unit);
  return idOf(
    unitId === null ? [] : await query(FIND_BATCH, { unitId, cycle, batch }),
    'a batch of an earlier compaction',
  );
}

export function idOf(rows: readonly Row[], what = 'a new row'): number {
  const [row] = rows;
  if (row === undefined) throw new DamageError(`${what} is missing`);
  return readInteger(row, 'id');
}

/** Adds the files that runs wrote from a unit, and when they were undone; gives how many are new. */
async function storeFiles(query: Query, unitId: number, { files }: Unit): Promise<number> {
  let added = 0;
  for (const file of files) if ((await keepFile(query, unitId, file)).isNew) added += 1;
  return added;
}
