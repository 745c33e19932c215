import type { MergedHold, UnitReader, UnitStore, UnitVector } from '../../../ports/exchange.ts';
import type { CachedSummary } from '../../../ports/archive.ts';
import { ADD_HOLD } from '../erase/retention.ts';
import { DROP_RULE } from '../store/dropped-rules.ts';
import { hashColumn, readInteger, readText, timeColumn } from '../rows.ts';
import type { VectorEngine } from '../search/engine.ts';
import { isSameModel } from '../vectors/nearest.ts';
import { beginVectors, keepVector } from '../vectors/vector-store.ts';
import { keepSummary } from '../store/summaries.ts';
import type { Query } from '../sql/query.ts';
import { FIND_BATCH, type UnitEngine } from './write-units.ts';

const FIND_SUMMARY = 'SELECT created_at_ms, text FROM summaries WHERE request_sha256 = :request';
const DELETE_SUMMARY = 'DELETE FROM summaries WHERE request_sha256 = :request';
const FIND_HOLD =
  'SELECT id, added_at_ms, coalesce(reason, :none) AS reason FROM holds WHERE kind = :kind AND value = :value';
const FIND_MESSAGE = `
SELECT l.id FROM blocks AS k JOIN lines AS l ON l.block_id = k.id
WHERE k.compaction_id = :unitId AND l.line = :line AND l.erasure_id IS NULL AND l.role IS NOT NULL`;
const IS_THERE = "SELECT 1 AS found FROM batches WHERE id = :id AND content <> ''";

export type VectorWriting = {
  /** Null: no vectors can be stored here. */
  readonly vectors: VectorEngine | null;
};

type Rest = Pick<UnitStore, 'storeSummaries' | 'storeVectors' | 'storeHolds' | 'storeDroppedRules'>;

/** Stores everything that belongs to no unit. */
export function createRestWriter(
  engine: UnitEngine & VectorWriting,
  readerOf: (query: Query) => Pick<UnitReader, 'findUnit' | 'vectorModel'>,
): Rest {
  const countNew = async <T>(
    items: readonly T[],
    store: (query: Query, item: T) => Promise<boolean>,
  ): Promise<number> =>
    engine.transaction(async (query) => {
      let added = 0;
      for (const item of items) added += (await store(query, item)) ? 1 : 0;
      return added;
    });
  return {
    storeSummaries: (summaries) =>
      countNew(summaries, (query, { request, summary }) => storeSummary(query, hashColumn(request), summary)),
    storeHolds: (holds) => countNew(holds, storeHold),
    storeDroppedRules: (rules) =>
      countNew(rules, async (query, { conversationId, path, text, droppedAtMs: at }) => {
        return (await query(DROP_RULE, { conversationId, path, text, at })).length > 0;
      }),
    storeVectors: async (model, vectors) => {
      const { vectors: keeping } = engine;
      if (keeping === null) return null;
      return engine.transaction(async (query) => {
        const { findUnit, vectorModel } = readerOf(query);
        const known = await vectorModel();
        if (known !== null && !isSameModel(known, model)) return null;
        await keeping.prepare(query);
        let hasBegun = known !== null;
        let added = 0;
        for (const one of vectors) {
          const unitId = await findUnit(one.unit);
          const id = unitId === null ? null : await findPlace(query, unitId, one);
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
  };
}

/** The one that was made first is kept, so that merging in any order gives the same. */
async function storeSummary(query: Query, request: Uint8Array, summary: CachedSummary): Promise<boolean> {
  const createdAtMs = timeColumn(summary.createdAt) ?? 0;
  const [known] = await query(FIND_SUMMARY, { request });
  if (known !== undefined) {
    const knownMs = readInteger(known, 'created_at_ms');
    const isFirst = createdAtMs < knownMs || (createdAtMs === knownMs && summary.text < readText(known, 'text'));
    if (!isFirst) return false;
    await query(DELETE_SUMMARY, { request });
  }
  await keepSummary(query, request, summary);
  return known === undefined;
}

async function storeHold(query: Query, { kind, value, reason, addedAtMs }: MergedHold): Promise<boolean> {
  const [known] = await query(FIND_HOLD, { kind, value, none: '' });
  if (known !== undefined) {
    const knownMs = readInteger(known, 'added_at_ms');
    const isFirst = addedAtMs < knownMs || (addedAtMs === knownMs && (reason ?? '') < readText(known, 'reason'));
    if (!isFirst) return false;
  }
  await query(ADD_HOLD, { kind, value, reason, at: addedAtMs });
  return known === undefined;
}

/** Null: it is not here, or was erased. */
async function findPlace(query: Query, unitId: number, one: UnitVector): Promise<number | null> {
  if (one.kind === 'message') {
    const [line] = await query(FIND_MESSAGE, { unitId, line: one.line });
    return line === undefined ? null : readInteger(line, 'id');
  }
  const [batch] = await query(FIND_BATCH, { unitId, cycle: one.cycle, batch: one.batch });
  if (batch === undefined) return null;
  const id = readInteger(batch, 'id');
  return (await query(IS_THERE, { id })).length === 0 ? null : id;
}
