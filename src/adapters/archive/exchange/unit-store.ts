import { isDeepStrictEqual } from 'node:util';
import type { LogEntry } from '../../../ports/archive.ts';
import type {
  BatchName,
  CapturedPiece,
  CycleName,
  MergedVersion,
  StoreStamp,
  Unit,
  UnitPage,
  UnitReader,
  UnitStore,
  UnitVector,
} from '../../../ports/exchange.ts';
import { keepErasedState } from '../erase/captures.ts';
import { addReceipt, findReceipt } from '../erase/erase.ts';
import { ADD_HOLD } from '../erase/retention.ts';
import { MAX_BLOCK_BYTES } from '../blocks.ts';
import { archiveError, DamageError } from '../failure.ts';
import { CHANGES, hashColumn, readInteger, readOptionalText, type Row, timeColumn } from '../rows.ts';
import type { VectorEngine } from '../search/engine.ts';
import { countRows, type Dialect, type Query, type Sql } from '../sql/query.ts';
import { openLines } from '../store/captured-lines.ts';
import { INSERT_FILE, INSERT_RUN, INSERT_STATE, INSERT_VERSION, marksColumns, UPDATE_FILE } from '../store/captures.ts';
import { addChoice, keepSummary } from '../store/records.ts';
import { keepEntry, toLogEntry } from '../store/audit-log.ts';
import { type Ids, reserveIds, type StoreEngine } from '../store/engine.ts';
import { type CompactionRows, type LineRow, type BlockRows, writeBlocks, writeCompaction } from '../store/rows.ts';
import { layOutTexts, TEXTS_POSITION } from '../texts.ts';
import { keepFile } from '../store/runs.ts';
import { beginVectors, isSameModel, keepVector } from '../vectors/vector-store.ts';
import { createPacking, type Packing } from './packing.ts';
import { createReader } from './read-units.ts';

const FINISH_RECEIPT = 'UPDATE erasures SET is_finished = 1 WHERE receipt = :receipt AND is_finished = 0';
const COUNT_CONTENTS = `
SELECT count(*) AS count, coalesce(max(id), 0) AS last_id FROM compactions WHERE status <> 'prepared'
UNION ALL SELECT count(*), coalesce(max(id), 0) FROM captured_states`;
const FIND_SUMMARY = 'SELECT created_at_ms AS at_ms, text FROM summaries WHERE request_sha256 = :request';
const DELETE_SUMMARY = 'DELETE FROM summaries WHERE request_sha256 = :request';
const FIND_HOLD = 'SELECT added_at_ms AS at_ms, reason AS text FROM holds WHERE kind = :kind AND value = :value';
const findLine = ({ onBlock }: Dialect): string => `
SELECT l.id FROM blocks AS k JOIN lines AS l ON ${onBlock} WHERE l.line = :line AND k.id = (
  SELECT id FROM blocks WHERE compaction_id = :unitId AND position >= 0 AND first_line <= :line ORDER BY position DESC LIMIT 1)`;
const FIND_CYCLE = 'SELECT id FROM cycles WHERE compaction_id = :unitId AND position = :cycle';
const FIND_BATCH = `
SELECT b.id FROM cycles AS y JOIN batches AS b ON b.cycle_id = y.id WHERE y.compaction_id = :unitId AND y.position = :cycle AND b.position = :batch`;
const FIND_FILE = 'SELECT id FROM captured_files WHERE path = :path';
const SET_ASIDE = 'UPDATE captured_versions SET version = -version WHERE file_id = :id';
const DELETE_ASIDE = 'DELETE FROM captured_versions WHERE file_id = :id AND version < 0';

/** What an engine does when others are merged into its archive. */
export type MergeEngine = Pick<Sql, 'query' | 'dialect'> & {
  /** Everything is stored, or nothing. */
  readonly transaction: <T>(work: (query: Query) => Promise<T>) => Promise<T>;
  readonly storing: StoreEngine;
  /** Of the archive, for messages. */
  readonly path: string;
  /** Null: no vectors can be stored here. */
  readonly vectors: VectorEngine | null;
};

/** Stores what is merged, in the same way in every engine. */
export function createUnitStore(engine: MergeEngine): UnitStore {
  const state: { erasures: number | null; entry: LogEntry | null } = { erasures: null, entry: null };
  const log = async (query: Query): Promise<void> => {
    if (state.entry !== null) await keepEntry(query, state.entry);
  };
  /** `work` says whether something is new, or how much is. */
  const change = <T>(work: (query: Query, reader: UnitReader) => Promise<T>): Promise<T> =>
    engine.transaction(async (query) => {
      // What was erased since the archives were compared would come back.
      if (state.erasures !== null && (await countRows(query, 'erasures')) !== state.erasures)
        throw archiveError({ kind: 'busy', path: engine.path });
      const isNew = await work(query, createReader(query, engine.dialect));
      if ([isNew].flat().some(Boolean)) await log(query);
      return isNew;
    });
  const countNew = async <T>(
    items: readonly T[],
    store: (query: Query, item: T) => Promise<boolean>,
  ): Promise<number> =>
    change(async (query) => {
      let added = 0;
      for (const item of items) added += (await store(query, item)) ? 1 : 0;
      return added;
    });
  return {
    ...createReader(engine.query, engine.dialect),
    storeUnits: (units) =>
      change(async (query, { findUnit }) => {
        const packing = createPacking(query, engine.dialect);
        const isNew: boolean[] = [];
        for (const { unit, lines } of units) {
          const known = await findUnit(unit.key);
          isNew.push(known === null);
          const within = { query, findUnit, dialect: engine.dialect, packing };
          const id = known ?? (await insertUnit(engine.storing, within, { unit, lines: lines() }));
          for (const file of unit.files) await keepFile(query, id, file);
        }
        await packing.end();
        return isNew;
      }),
    storeSummaries: (summaries) =>
      countNew(summaries, async (query, summary) => {
        const request = hashColumn(summary.request);
        const { createdAt: at, text } = summary;
        const known = await findEarlier(query, FIND_SUMMARY, { request }, { at, text });
        if (known === 'replaced') await query(DELETE_SUMMARY, { request });
        if (known !== 'stays') await keepSummary(query, request, summary);
        return known === null;
      }),
    storeHolds: (holds) =>
      countNew(holds, async (query, { kind, value, reason, addedAt }) => {
        const known = await findEarlier(query, FIND_HOLD, { kind, value }, { at: addedAt, text: reason ?? '' });
        if (known !== 'stays') await query(ADD_HOLD, { kind, value, reason, at: timeColumn(addedAt) });
        return known === null;
      }),
    storeChoices: (choices) => countNew(choices, addChoice),
    storeLog: (entries) =>
      engine.transaction(async (query) => {
        for (const entry of entries) await keepEntry(query, entry);
      }),
    logWithFirst: async (deed) => {
      state.entry = toLogEntry(deed);
    },
    storeVectors: async (model, vectors) => {
      const { vectors: keeping } = engine;
      if (keeping === null) return null;
      return change(async (query, reader) => {
        const known = await reader.vectorModel();
        if (known !== null && !isSameModel(known, model)) return null;
        await keeping.prepare(query);
        let hasBegun = known !== null;
        let added = 0;
        for (const one of vectors) {
          const id = await findPlace(query, engine.dialect, { unitId: await reader.findUnit(one.unit), one });
          if (id === null) continue;
          if (!hasBegun) {
            await keeping.lock(query);
            await beginVectors(query, keeping, { model, isFirst: true });
          }
          hasBegun = true;
          if (await keepVector(query, keeping, { kind: one.kind, id, vector: one.vector })) added += 1;
        }
        return added;
      });
    },
    // The old versions are read for the new ones, so they go last.
    storeCapture: ({ path, format, stamp, readAt, sessions }, { known: before, versions }) =>
      change(async (query, { findCapture }) => {
        if (!isDeepStrictEqual(await findCapture(path), before)) return false;
        const [known] = await query(FIND_FILE, { path });
        const fileId = idOf(known === undefined ? await query(INSERT_FILE, { path, format }) : [known]);
        const stored = await storeVersions(query, engine.dialect, { fileId, versions });
        const [at, names] = [timeColumn(readAt), JSON.stringify(sessions)];
        await query(UPDATE_FILE, { fileId, format, stamp, at, sessions: names });
        await query(SET_ASIDE, { id: fileId });
        for (const [version, { states, runs }] of stored.entries()) {
          const why = CHANGES.indexOf(states[0]?.change ?? 'new');
          const versionId = idOf(await query(INSERT_VERSION, { fileId, version: version + 1, change: why }));
          for (const [position, run] of runs.entries()) await query(INSERT_RUN, { versionId, position, ...run });
          for (const state of states) {
            const content = { sizeBytes: state.sizeBytes, sha256: hashColumn(state.sha256) };
            const marks = { at: timeColumn(state.capturedAt), ...marksColumns(state) };
            await query(INSERT_STATE, { versionId, ...content, ...marks });
          }
        }
        await query(DELETE_ASIDE, { id: fileId });
        return true;
      }),
    stamp: () => readStamp(engine.query),
    storeReceipts: async (receipts, erasedStates, stamp) => {
      const erasures = await engine.transaction(async (query) => {
        const now = await readStamp(query);
        if (now.erasures !== stamp.erasures || (receipts.length > 0 && now.contents !== stamp.contents)) return null;
        for (const { receipt, atMs, report } of receipts)
          if ((await findReceipt(query, receipt)) === null)
            await addReceipt(query, { receipt, at_ms: atMs, report, is_purged: 1, is_finished: 0 });
        for (const listStates of erasedStates)
          for await (const page of listStates())
            for (const { receipt, sha256, originSha256 } of page) {
              const hashes = { sha256: hashColumn(sha256), origin: hashColumn(originSha256) };
              await keepErasedState(query, { ...hashes, erasureId: await findErasure(query, receipt) });
            }
        if (receipts.length > 0) await log(query);
        return countRows(query, 'erasures');
      });
      if (erasures !== null) state.erasures = erasures;
      return erasures !== null;
    },
    finishReceipts: (receipts) =>
      change(async (query) => {
        for (const receipt of receipts) await query(FINISH_RECEIPT, { receipt });
      }),
  };
}

async function readStamp(query: Query): Promise<StoreStamp> {
  return { erasures: await countRows(query, 'erasures'), contents: JSON.stringify(await query(COUNT_CONTENTS)) };
}

/** What becomes of the one that is stored already, if any. The one that was made first stays, so that merging in any order gives the same. */
async function findEarlier(
  query: Query,
  sql: string,
  key: Readonly<Record<string, unknown>>,
  { at, text }: { readonly at: Date; readonly text: string },
): Promise<'stays' | 'replaced' | null> {
  const [known] = await query(sql, key);
  if (known === undefined) return null;
  const [atMs, knownMs] = [timeColumn(at) ?? 0, readInteger(known, 'at_ms')];
  const isFirst = atMs < knownMs || (atMs === knownMs && text < (readOptionalText(known, 'text') ?? ''));
  return isFirst ? 'replaced' : 'stays';
}

/** Where the vector belongs; null: that is not here, or was erased. */
async function findPlace(
  query: Query,
  dialect: Dialect,
  { unitId, one }: { readonly unitId: number | null; readonly one: UnitVector },
): Promise<number | null> {
  if (unitId === null) return null;
  const [found] =
    one.kind === 'message'
      ? await query(`${findLine(dialect)} AND l.erasure_id IS NULL AND l.role IS NOT NULL`, { unitId, line: one.line })
      : await query(`${FIND_BATCH} AND b.text_size > 0`, { unitId, cycle: one.cycle, batch: one.batch });
  return found === undefined ? null : readInteger(found, 'id');
}

/** Stores the lines of versions, each line once. Gives the runs that each version consists of. */
async function storeVersions(
  query: Query,
  dialect: Dialect,
  { fileId, versions }: { readonly fileId: number; readonly versions: readonly MergedVersion[] },
): Promise<readonly (MergedVersion & { readonly runs: readonly { readonly first: number; count: number }[] })[]> {
  for (const statement of dialect.capturing.begin) await query(statement);
  const lines = await openLines(query, dialect, fileId);
  const idsOf = async ({ bytes, sha256, sizeBytes, receipt }: CapturedPiece): Promise<readonly number[]> => {
    if (receipt === null) return lines.add([bytes ?? new Uint8Array()]);
    const erasureId = await findErasure(query, receipt);
    return [await lines.addErased({ sha256: hashColumn(sha256), size: sizeBytes, erasureId })];
  };
  const stored = [];
  for (const version of versions) {
    const runs: { readonly first: number; count: number }[] = [];
    for await (const batch of version.pieces())
      for (const piece of batch)
        for (const id of await idsOf(piece)) {
          const last = runs.at(-1);
          if (last !== undefined && last.first + last.count === id) last.count += 1;
          else runs.push({ first: id, count: 1 });
        }
    stored.push({ ...version, runs });
  }
  await lines.end();
  return stored;
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
type Storing = Within & Pick<MergeEngine, 'dialect'> & { readonly packing: Packing };

/** Stores a unit without its files, inside a transaction; gives its id. What it refers to must be there. */
async function insertUnit(
  storing: StoreEngine,
  { query, findUnit, dialect, packing }: Storing,
  { unit, lines }: { readonly unit: Unit; readonly lines: AsyncIterable<UnitPage> },
): Promise<number> {
  const within = { query, findUnit: remember(findUnit) };
  const batchCounts = unit.cycles.map(({ batches }) => batches.length);
  const ids = await reserveIds(storing, query, { batchCounts });
  const { compactionId } = ids;
  const texts = layOutTexts(
    unit.cycles.map(({ batches }) => batches),
    unit.inserted,
  );
  await storeLines(storing, { query, packing }, { ids, lines, texts: texts.raw });
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
    const [found] = unitId === null ? [] : await query(findLine(dialect), { unitId, line });
    if (found === undefined) continue; // it was erased
    const { cycleId = 0, batchIds = [] } = ids.cycles[cycle] ?? {};
    carried.push({ cycle_id: cycleId, line_id: readInteger(found, 'id'), batch_id: batchIds[batch] ?? 0 });
  }
  await writeCompaction(query, storing, ids, {
    ...unit,
    status: unit.isErased ? 'erased' : 'applied',
    erasureId: unit.receipt === null ? null : await findErasure(query, unit.receipt),
    texts,
    cycles,
    carried,
  });
  return compactionId;
}

/** Stores lines in blocks, with the texts at the end. */
async function storeLines(
  storing: StoreEngine,
  { query, packing }: Pick<Storing, 'query' | 'packing'>,
  { ids, lines, texts }: { readonly ids: Ids; readonly lines: AsyncIterable<UnitPage>; readonly texts: Uint8Array },
): Promise<void> {
  let position = -1;
  let held: (Pick<UnitPage, 'pack'> & { readonly raw: Uint8Array; readonly block: BlockRows }) | null = null;
  const flush = async (more: Uint8Array): Promise<void> => {
    const raw = Buffer.concat([...(held === null ? [] : [held.raw]), more]);
    const own = { position: TEXTS_POSITION, rawSizeBytes: more.length, lines: [] };
    const blocks = [...(held === null ? [] : [held.block]), ...(more.length === 0 ? [] : [own])];
    if (blocks.length === 0) return;
    const place = await packing.place(ids.partition, { raw, pack: held?.pack ?? null });
    held = null;
    await writeBlocks(query, storing, ids, { ...place, blocks });
  };
  for await (const { lines: own, pack } of lines) {
    position += 1;
    if (own.length === 0) continue;
    const rows: LineRow[] = [];
    let offset = 0;
    for (const { bytes, sha256, sizeBytes, receipt, ...draft } of own) {
      const { cycle, batch: place } = draft;
      rows.push({
        ...draft,
        offset: receipt === null ? offset : 0,
        sizeBytes,
        cycleId: place !== null || cycle === null ? null : (ids.cycles[cycle]?.cycleId ?? null),
        batchId: place === null ? null : (ids.cycles[place.cycle]?.batchIds[place.batch] ?? null),
        sha256: hashColumn(sha256),
        erasureId: receipt === null ? null : await findErasure(query, receipt),
      });
      offset += bytes.length;
    }
    await flush(NOTHING);
    const raw = Buffer.concat(own.map(({ bytes }) => bytes));
    held = { raw, pack, block: { position, rawSizeBytes: raw.length, lines: rows } };
    if (raw.length + texts.length > MAX_BLOCK_BYTES) await flush(NOTHING);
  }
  await flush(texts);
}

const NOTHING = new Uint8Array();

/** Null: it was never applied, so nothing leads to it. */
async function findCycle({ query, findUnit }: Within, { unit, cycle }: CycleName): Promise<number | null> {
  const unitId = await findUnit(unit);
  const [row] = unitId === null ? [] : await query(FIND_CYCLE, { unitId, cycle });
  return row === undefined ? null : readInteger(row, 'id');
}

async function findBatch({ query, findUnit }: Within, { unit, cycle, batch }: BatchName): Promise<number> {
  const unitId = await findUnit(unit);
  const rows = unitId === null ? [] : await query(FIND_BATCH, { unitId, cycle, batch });
  return idOf(rows, 'a batch of an earlier compaction');
}

async function findErasure(query: Query, receipt: string): Promise<number> {
  return idOf(await query('SELECT id FROM erasures WHERE receipt = :receipt', { receipt }), `receipt ${receipt}`);
}

function idOf(rows: readonly Row[], what = 'a new row'): number {
  const [row] = rows;
  if (row === undefined) throw new DamageError(`${what} is missing`);
  return readInteger(row, 'id');
}
