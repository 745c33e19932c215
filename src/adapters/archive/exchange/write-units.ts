import type { BatchName, CycleName, Unit, UnitLineDraft, UnitReader, UnitStore } from '../../../ports/exchange.ts';
import { compressReadably } from '../blocks.ts';
import { DamageError } from '../failure.ts';
import { hashColumn, LEVELS, OUTCOMES, readInteger, ROLES, type Row } from '../rows.ts';
import { insertRow, type Query, type Values } from '../sql/query.ts';
import { headColumns } from '../store/compactions.ts';
import { type Ids, reserveIds, type StoreEngine } from '../store/engine.ts';
import {
  type LineRow,
  writeBatch,
  writeBlock,
  writeCarried,
  writeInserted,
  writeKept,
  writeLive,
  writeSources,
} from '../store/rows.ts';
import { keepFile } from '../store/runs.ts';
import type { UnitEngine } from './query.ts';

/** What each engine does in its own way. */
export type UnitWriting = UnitEngine & { readonly storing: StoreEngine };

export const FIND_ERASURE = 'SELECT id FROM erasures WHERE receipt = :receipt';
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
  const { storing } = engine;
  const partition = await storing.prepare(query);
  const batchCounts = unit.cycles.map(({ batches }) => batches.length);
  const ids: Ids = { ...(await reserveIds(storing, query, { batchCounts })), partition };
  const { compactionId } = ids;
  const lineIds = await storeLines(engine, query, { ids, lines, erasureId });
  await insertRow(query, 'compactions', {
    id: compactionId,
    status: unit.isErased ? 'erased' : 'applied',
    erasure_id: unit.receipt === null ? null : await erasureId(unit.receipt),
    ...headColumns(unit),
    ...partition,
    ...storing.headColumns(lineIds),
  });
  for (const [position, cycle] of unit.cycles.entries()) {
    const { cycleId = 0, batchIds = [] } = ids.cycles[position] ?? {};
    await insertRow(query, 'cycles', {
      id: cycleId,
      compaction_id: compactionId,
      position,
      conversation_id: cycle.conversationId,
      cycle: cycle.cycle,
      parent_cycle_id: cycle.parent === null ? null : await findCycle(within, cycle.parent),
      clip_sha256: hashColumn(cycle.clipSha256),
      messages_compressed: cycle.messagesCompressed,
      made_count: cycle.batches.length,
      live_count: cycle.live.length,
    });
    for (const [at, batch] of cycle.batches.entries())
      await writeBatch(query, storing, {
        id: batchIds[at] ?? 0,
        cycleId,
        position: at,
        label: batch.label,
        content: batch.content,
        columns: batchColumns(batch),
      });
  }
  const resolve = async (name: BatchName): Promise<number> => {
    const own = name.unit === unit.key ? ids.cycles[name.cycle]?.batchIds[name.batch] : undefined;
    return own ?? findBatch(within, name);
  };
  const resolveAll = async (names: readonly BatchName[]): Promise<readonly number[]> => {
    const found: number[] = [];
    for (const name of names) found.push(await resolve(name));
    return found;
  };
  for (const [position, cycle] of unit.cycles.entries()) {
    const { cycleId = 0, batchIds = [] } = ids.cycles[position] ?? {};
    for (const [at, { sources }] of cycle.batches.entries())
      await writeSources(query, batchIds[at] ?? 0, await resolveAll(sources));
    await writeLive(query, cycleId, await resolveAll(cycle.live));
  }
  await writeInserted(query, compactionId, unit.inserted);
  await writeKept(query, compactionId, unit.kept);
  for (const { unit: key, line, cycle, batch } of unit.carried) {
    const unitId = key === unit.key ? compactionId : await within.findUnit(key);
    const [found] = unitId === null ? [] : await query(FIND_LINE, { unitId, line });
    if (found === undefined) continue; // it was erased
    const { cycleId = 0, batchIds = [] } = ids.cycles[cycle] ?? {};
    await writeCarried(query, [
      { cycle_id: cycleId, line_id: readInteger(found, 'id'), batch_id: batchIds[batch] ?? 0 },
    ]);
  }
  await storing.finish(query, compactionId);
  await storeFiles(query, compactionId, unit);
}

function batchColumns(batch: Unit['cycles'][number]['batches'][number]): Values {
  return {
    content_sha256: hashColumn(batch.contentSha256),
    depth: batch.depth,
    start_ms: batch.startMs,
    end_ms: batch.endMs,
    message_count: batch.messageCount,
    first_index: batch.firstIndex,
    last_index: batch.lastIndex,
    level: LEVELS.indexOf(batch.level),
  };
}

type UnitLines = {
  readonly ids: Ids;
  readonly lines: AsyncIterable<readonly UnitLineDraft[]>;
  readonly erasureId: (receipt: string) => Promise<number>;
};

/** Stores lines in blocks, and makes their messages searchable. Gives the first and the last id. */
async function storeLines(
  { storing }: UnitWriting,
  query: Query,
  { ids, lines, erasureId }: UnitLines,
): Promise<{ readonly first: number | null; readonly last: number | null }> {
  let [first, last]: (number | null)[] = [null, null];
  let position = -1;
  for await (const batch of lines) {
    position += 1;
    if (batch.length === 0) continue;
    const rows: LineRow[] = [];
    let offset = 0;
    for (const draft of batch) {
      rows.push(await toRow(draft, { ids, offset, storing, erasureId }));
      offset += draft.bytes.length;
    }
    const raw = Buffer.concat(batch.map(({ bytes }) => bytes));
    const block = { position, data: compressReadably(raw), rawSizeBytes: raw.length, lines: rows };
    const stored = await writeBlock(query, storing, ids, block);
    first ??= stored[0] ?? null;
    last = stored.at(-1) ?? last;
  }
  return { first: first ?? null, last: last ?? null };
}

async function toRow(
  { line, sha256, sizeBytes, receipt, outcome, batch, cycle, message, text }: UnitLineDraft,
  {
    ids,
    offset,
    storing,
    erasureId,
  }: Pick<UnitLines, 'ids' | 'erasureId'> & { readonly offset: number; readonly storing: StoreEngine },
): Promise<LineRow> {
  return {
    columns: {
      line,
      offset: receipt === null ? offset : 0,
      size_bytes: sizeBytes,
      outcome: OUTCOMES.indexOf(outcome),
      cycle_id: batch !== null || cycle === null ? null : (ids.cycles[cycle]?.cycleId ?? null),
      batch_id: batch === null ? null : (ids.cycles[batch.cycle]?.batchIds[batch.batch] ?? null),
      role: message === null ? null : ROLES.indexOf(message.role),
      at_ms: message?.atMs ?? null,
      message_index: message?.index ?? null,
      message_id: message?.id ?? null,
      name: message?.name ?? null,
      traits: message?.traits ?? 0,
      sha256: hashColumn(sha256),
      erasure_id: receipt === null ? null : await erasureId(receipt),
    },
    entry: message === null ? null : storing.toEntry(text),
  };
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
