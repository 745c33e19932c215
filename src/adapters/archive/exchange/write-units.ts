import type { BatchName, CycleName, Unit, UnitLineDraft, UnitReader } from '../../../ports/exchange.ts';
import { compressReadably } from '../blocks.ts';
import { DamageError } from '../failure.ts';
import { hashColumn, readInteger, type Row } from '../rows.ts';
import type { Query, Sql } from '../sql/query.ts';
import { type Ids, reserveIds, type StoreEngine } from '../store/engine.ts';
import { type CompactionRows, type LineRow, writeBlock, writeCompaction } from '../store/rows.ts';
import { keepFile } from '../store/runs.ts';

/** What each engine does in its own way. */
export type UnitEngine = Pick<Sql, 'query' | 'dialect'> & {
  /** Everything is stored, or nothing. */
  readonly transaction: <T>(work: (query: Query) => Promise<T>) => Promise<T>;
  readonly storing: StoreEngine;
};

const FIND_LINE = `
SELECT l.id FROM blocks AS k JOIN lines AS l ON l.block_id = k.id WHERE k.compaction_id = :unitId AND l.line = :line`;
const FIND_CYCLE = 'SELECT id FROM cycles WHERE compaction_id = :unitId AND position = :cycle';
export const FIND_BATCH = `
SELECT b.id FROM cycles AS y JOIN batches AS b ON b.cycle_id = y.id WHERE y.compaction_id = :unitId AND y.position = :cycle AND b.position = :batch`;
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

/** Stores a unit, inside a transaction. What it refers to must be there. */
export async function insertUnit(
  { storing }: UnitEngine,
  { query, findUnit }: Within,
  { unit, lines }: { readonly unit: Unit; readonly lines: AsyncIterable<readonly UnitLineDraft[]> },
): Promise<void> {
  const within = { query, findUnit: remember(findUnit) };
  const partition = await storing.prepare(query);
  const batchCounts = unit.cycles.map(({ batches }) => batches.length);
  const ids: Ids = { ...(await reserveIds(storing, query, { batchCounts })), partition };
  const { compactionId } = ids;
  const lineIds = await storeLines(storing, query, { ids, lines });
  const resolve = async (names: readonly BatchName[]): Promise<readonly number[]> => {
    const found: number[] = [];
    for (const name of names) {
      const own = name.unit === unit.key ? ids.cycles[name.cycle]?.batchIds[name.batch] : undefined;
      found.push(own ?? (await findBatch(within, name)));
    }
    return found;
  };
  const cycles: CompactionRows['cycles'][number][] = [];
  for (const { parent, live, ...cycle } of unit.cycles) {
    const batches = [];
    for (const { sources, ...batch } of cycle.batches) batches.push({ ...batch, sourceIds: await resolve(sources) });
    const parentId = parent === null ? null : await findCycle(within, parent);
    cycles.push({ ...cycle, parentId, batches, liveIds: await resolve(live) });
  }
  const carried: CompactionRows['carried'][number][] = [];
  for (const { unit: key, line, cycle, batch } of unit.carried) {
    const unitId = key === unit.key ? compactionId : await within.findUnit(key);
    const [found] = unitId === null ? [] : await query(FIND_LINE, { unitId, line });
    if (found === undefined) continue; // it was erased
    const { cycleId = 0, batchIds = [] } = ids.cycles[cycle] ?? {};
    carried.push({ cycle_id: cycleId, line_id: readInteger(found, 'id'), batch_id: batchIds[batch] ?? 0 });
  }
  await writeCompaction(query, storing, ids, {
    ...unit,
    status: unit.isErased ? 'erased' : 'applied',
    erasureId: unit.receipt === null ? null : await findErasure(query, unit.receipt),
    lineIds,
    cycles,
    carried,
  });
  await storing.finish(query, compactionId);
  await storeFiles(query, compactionId, unit);
}

/** Stores lines in blocks, and makes their messages searchable. Gives the first and the last id. */
async function storeLines(
  storing: StoreEngine,
  query: Query,
  { ids, lines }: { readonly ids: Ids; readonly lines: AsyncIterable<readonly UnitLineDraft[]> },
): Promise<{ readonly first: number | null; readonly last: number | null }> {
  let first: number | null = null;
  let last: number | null = null;
  let position = -1;
  for await (const batch of lines) {
    position += 1;
    if (batch.length === 0) continue;
    const rows: LineRow[] = [];
    let offset = 0;
    for (const { bytes, sha256, sizeBytes, receipt, text, ...draft } of batch) {
      const { cycle, batch: place } = draft;
      rows.push({
        ...draft,
        offset: receipt === null ? offset : 0,
        sizeBytes,
        cycleId: place !== null || cycle === null ? null : (ids.cycles[cycle]?.cycleId ?? null),
        batchId: place === null ? null : (ids.cycles[place.cycle]?.batchIds[place.batch] ?? null),
        sha256: hashColumn(sha256),
        erasureId: receipt === null ? null : await findErasure(query, receipt),
        entry: draft.message === null ? null : storing.toEntry(text),
      });
      offset += bytes.length;
    }
    const raw = Buffer.concat(batch.map(({ bytes }) => bytes));
    const block = { position, data: compressReadably(raw), rawSizeBytes: raw.length, lines: rows };
    const lineIds = await writeBlock(query, storing, ids, block);
    first ??= lineIds[0] ?? null;
    last = lineIds.at(-1) ?? last;
  }
  return { first, last };
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

export async function findErasure(query: Query, receipt: string): Promise<number> {
  return idOf(await query('SELECT id FROM erasures WHERE receipt = :receipt', { receipt }), `receipt ${receipt}`);
}

export function idOf(rows: readonly Row[], what = 'a new row'): number {
  const [row] = rows;
  if (row === undefined) throw new DamageError(`${what} is missing`);
  return readInteger(row, 'id');
}

/** Adds the files that runs wrote from a unit, and when they were undone; gives how many are new. */
export async function storeFiles(query: Query, unitId: number, { files }: Unit): Promise<number> {
  let added = 0;
  for (const file of files) if ((await keepFile(query, unitId, file)).isNew) added += 1;
  return added;
}
