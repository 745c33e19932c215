import type { ErasedState, StoreStamp, UnitReader, UnitStore } from '../../../ports/exchange.ts';
import { keepErasedState } from '../erase/captures.ts';
import { addReceipt, findReceipt } from '../erase/erase.ts';
import { archiveError } from '../failure.ts';
import { hashColumn, readInteger } from '../rows.ts';
import type { Query } from '../sql/query.ts';
import { createCaptureReader } from './read-captures.ts';
import { createUnitReader } from './read-units.ts';
import { createCaptureWriter } from './write-captures.ts';
import { createRestWriter, type VectorWriting } from './write-rest.ts';
import { createUnitWriter, findErasure, type UnitEngine } from './write-units.ts';

const FINISH_RECEIPT = 'UPDATE erasures SET is_finished = 1 WHERE receipt = :receipt AND is_finished = 0';
const COUNT_ERASURES = 'SELECT count(*) AS count FROM erasures';
const COUNT_CONTENTS = `
SELECT count(*) AS count, coalesce(max(id), 0) AS last_id FROM compactions WHERE status <> 'prepared'
UNION ALL SELECT count(*), coalesce(max(id), 0) FROM captured_states`;

/** What an engine does when others are merged into its archive. `path`: of it, for messages. */
type MergeEngine = UnitEngine & VectorWriting & { readonly path: string };

export function createReader(query: Query): UnitReader {
  return { ...createUnitReader(query), ...createCaptureReader(query) };
}

/** Stores what is merged, in the same way in every engine. */
export function createUnitStore(engine: MergeEngine): UnitStore {
  const expected: { erasures: number | null } = { erasures: null };
  const guarded: MergeEngine = {
    ...engine,
    transaction: (work) =>
      engine.transaction(async (query) => {
        // What was erased since the archives were compared would come back.
        if (expected.erasures !== null && (await countErasures(query)) !== expected.erasures)
          throw archiveError({ kind: 'busy', path: engine.path });
        return work(query);
      }),
  };
  return {
    ...createReader(engine.query),
    ...createUnitWriter(guarded, createReader),
    ...createRestWriter(guarded, createReader),
    storeCapture: createCaptureWriter(guarded, createReader),
    stamp: () => readStamp(engine.query),
    storeReceipts: async (receipts, erasedStates, stamp) => {
      const erasures = await engine.transaction(async (query) => {
        const now = await readStamp(query);
        if (now.erasures !== stamp.erasures || (receipts.length > 0 && now.contents !== stamp.contents)) return null;
        for (const { receipt, atMs, report } of receipts)
          if ((await findReceipt(query, receipt)) === null)
            await addReceipt(query, { receipt, at_ms: atMs, report, is_purged: 1, is_finished: 0 });
        for (const pages of erasedStates)
          for await (const page of pages) for (const state of page) await storeErasedState(query, state);
        return countErasures(query);
      });
      if (erasures !== null) expected.erasures = erasures;
      return erasures !== null;
    },
    finishReceipts: (receipts) =>
      guarded.transaction(async (query) => {
        for (const receipt of receipts) await query(FINISH_RECEIPT, { receipt });
      }),
  };
}

async function storeErasedState(query: Query, { receipt, sha256, originSha256 }: ErasedState): Promise<void> {
  const erasureId = await findErasure(query, receipt);
  await keepErasedState(query, { sha256: hashColumn(sha256), origin: hashColumn(originSha256), erasureId });
}

async function readStamp(query: Query): Promise<StoreStamp> {
  return { erasures: await countErasures(query), contents: JSON.stringify(await query(COUNT_CONTENTS)) };
}

async function countErasures(query: Query): Promise<number> {
  const [row = {}] = await query(COUNT_ERASURES);
  return readInteger(row, 'count');
}
