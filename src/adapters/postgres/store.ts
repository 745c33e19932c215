import type { Archive, CompactionDraft, CompactionWriter } from '../../ports/archive.ts';
import { createBlockGatherer } from '../archive/blocks.ts';
import { DamageError } from '../archive/failure.ts';
import { readInteger, readText } from '../archive/rows.ts';
import { addLine, checkCoverage, type LineRun } from '../archive/store.ts';
import type { CycleIds } from '../archive/store-rows.ts';
import type { Query, Sql, Transaction } from '../archive/sql/query.ts';
import { writeCompaction } from './store-rows.ts';
import { type BlockStatement, buildBlock, INSERT_BLOCK } from './store-lines.ts';
import { POSTGRES } from './dialect.ts';
import { indexWords } from './word-hits.ts';

const RESERVE_ID =
  "SELECT nextval(pg_get_serial_sequence('compactions', 'id')) AS id, to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-01') AS month";
const RESERVE_IDS = "SELECT nextval(pg_get_serial_sequence(:table, 'id')) AS id FROM generate_series(1, :count::int)";

/** Blocks are held until the end, so that a lost connection only repeats a short transaction. What is larger is sent as it comes. */
const MAX_HELD_BYTES = 64 * 1024 * 1024;

/** Stores each compaction in one transaction. A draft that contradicts itself is a bug and throws. */
export function createBegin(sql: Sql, preparePartitions: (month: string) => Promise<void>): Archive['begin'] {
  return async ({ batchCounts }) => {
    const [reserved = {}] = await sql.query(RESERVE_ID);
    const [compactionId, month] = [readInteger(reserved, 'id'), readText(reserved, 'month')];
    const cycles = await reserveCycles(sql, batchCounts);
    await preparePartitions(month);
    const target = { compactionId, month, cycles };

    const gatherer = createBlockGatherer();
    const archived: LineRun[] = [];
    const state = { position: 0, heldBytes: 0, hasEnded: false };
    let held: BlockStatement[] = [];
    let open: Transaction | null = null;

    const add = async (blocks: ReturnType<typeof gatherer.add>): Promise<void> => {
      for (const block of blocks) {
        const statement = buildBlock(block, { ...target, position: state.position });
        state.position += 1;
        held.push(statement);
        state.heldBytes += statement.sizeBytes;
        if (state.heldBytes <= MAX_HELD_BYTES) continue;
        open ??= await beginStoring(sql);
        await sendBlocks(open.query, held);
        held = [];
        state.heldBytes = 0;
      }
    };
    const end = async (isStored: boolean): Promise<void> => {
      state.hasEnded = true;
      held = [];
      const transaction = open;
      open = null;
      if (!isStored) await transaction?.rollback();
    };
    const step = async <T>(work: () => Promise<T>): Promise<T> => {
      if (state.hasEnded) throw new Error('this was stored or abandoned before');
      try {
        return await work();
      } catch (error) {
        await end(false);
        throw error;
      }
    };
    const storeAll = async (query: Query, draft: CompactionDraft): Promise<void> => {
      await sendBlocks(query, held);
      await writeCompaction(query, draft, target);
      await query(indexWords(':compactionId'), { compactionId });
    };
    const writer: CompactionWriter = {
      append: (lines) =>
        step(async () => {
          for (const line of lines) {
            addLine(archived, line);
            await add(gatherer.add(line));
          }
        }),
      commit: (draft) =>
        step(async () => {
          await add(gatherer.end());
          checkCoverage(draft, archived);
          if (open === null) await storeOnce(sql, compactionId, (query) => storeAll(query, draft));
          else {
            await storeAll(open.query, draft);
            await open.commit();
          }
          await end(true);
          return compactionId;
        }),
      abandon: async () => {
        if (!state.hasEnded) await end(false);
      },
    };
    return writer;
  };
}

async function reserveCycles({ query }: Sql, batchCounts: readonly number[]): Promise<readonly CycleIds[]> {
  const reserve = async (table: string, count: number): Promise<readonly number[]> =>
    count === 0
      ? []
      : (await query(RESERVE_IDS, { table, count })).map((row) => readInteger(row, 'id')).toSorted((a, b) => a - b);
  const cycleIds = await reserve('cycles', batchCounts.length);
  const batchIds = await reserve(
    'batches',
    batchCounts.reduce((sum, count) => sum + count, 0),
  );
  let first = 0;
  return cycleIds.map((cycleId, position) => {
    const count = batchCounts[position] ?? 0;
    first += count;
    return { cycleId, batchIds: batchIds.slice(first - count, first) };
  });
}

/** `locks`: statements that take them, in this order. */
export async function beginStoring(sql: Sql, locks = POSTGRES.storingLocks): Promise<Transaction> {
  const transaction = await sql.begin('write');
  try {
    for (const lock of locks) await transaction.query(lock);
    return transaction;
  } catch (error) {
    await transaction.rollback();
    throw error;
  }
}

/** If the connection was lost during the commit, the transaction may be stored all the same. */
async function storeOnce(sql: Sql, id: number, store: (query: Query) => Promise<void>): Promise<void> {
  await sql.transaction('write', async (query) => {
    for (const lock of POSTGRES.storingLocks) await query(lock);
    if ((await query('SELECT 1 AS found FROM compactions WHERE id = :id', { id })).length === 0) await store(query);
  });
}

async function sendBlocks(query: Query, blocks: readonly BlockStatement[]): Promise<void> {
  for (const { values } of blocks) await query(INSERT_BLOCK, values);
}

const MARK_APPLIED = "UPDATE compactions SET status = 'applied' WHERE id = :id AND status <> 'erased' RETURNING id";
const LOCK_PREPARED = "SELECT month::text AS month FROM compactions WHERE id = :id AND status = 'prepared' FOR UPDATE";
const LINES = `
SELECT l.id FROM blocks AS k JOIN lines AS l ON l.block_id = k.id AND l.month = k.month
WHERE k.compaction_id = :id AND k.month = :month::date`;
/** Rows of the small tables go with their compaction. */
const DELETE_COMPACTION = [
  'DELETE FROM word_lines WHERE month = :month::date AND compaction_id = :id',
  `DELETE FROM message_words WHERE month = :month::date AND line_id IN (${LINES})`,
  `DELETE FROM message_vectors WHERE line_id IN (${LINES})`,
  `DELETE FROM lines WHERE month = :month::date AND id IN (${LINES})`,
  'DELETE FROM blocks WHERE month = :month::date AND compaction_id = :id',
  'DELETE FROM compactions WHERE id = :id AND month = :month::date',
];

/**
 * Applies or discards a prepared compaction. Two processes may do so at the same time: discarding a missing or applied
 * one does nothing; applying a missing one is damage, because the compacted file then has no archive.
 */
export function createSettling(sql: Sql): Pick<Archive, 'markApplied' | 'discard'> {
  return {
    markApplied: async (id) => {
      const changed = await sql.query(MARK_APPLIED, { id });
      if (changed.length === 0) throw new DamageError(`compaction ${id} was removed before it was applied`);
    },
    discard: (id) =>
      sql.transaction('write', async (query) => {
        const [prepared] = await query(LOCK_PREPARED, { id });
        if (prepared === undefined) return;
        for (const statement of DELETE_COMPACTION) await query(statement, { id, month: readText(prepared, 'month') });
      }),
  };
}
