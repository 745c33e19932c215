import type { CompactionOutline } from '../../../ports/archive.ts';
import type { Dialect, Query, Sql, Transaction, Values } from '../sql/query.ts';

/** The ids of a cycle's rows, which are given out before the rows are stored. */
export type CycleIds = {
  readonly cycleId: number;
  /** By position in `newBatches`. */
  readonly batchIds: readonly number[];
};

/** The ids of a compaction's rows. */
export type Ids = {
  readonly compactionId: number;
  readonly cycles: readonly CycleIds[];
  /** Columns that an engine adds to compactions, blocks and lines. */
  readonly partition: Values;
};

/** What engines do differently when they store a compaction. */
export type StoreEngine = {
  readonly dialect: Dialect;
  /** Before the rows of a compaction, which may then come in any order. Gives the columns that go into every partition. */
  readonly prepare: (query: Query) => Promise<Values>;
  /** What has to be there before a transaction begins that stores into a partition. Null: nothing, and ids are given out within the transaction. */
  readonly prepareAhead: ((partition: Values) => Promise<void>) | null;
  /** Hands out ids of new rows, ascending. */
  readonly reserve: (query: Query, table: string, count: number) => Promise<readonly number[]>;
  readonly indexBatch: (query: Query, id: number, content: string) => Promise<void>;
  /** Further columns of the row of a compaction. */
  readonly headColumns: Values;
  /** Until the end of the transaction, nobody else takes a label in conversation `:conversationId`. Null: nobody can. */
  readonly lockLabels: string | null;
  /** Finds compaction `:id` if it is prepared, so that nobody else applies or discards it. */
  readonly findPrepared: string;
  /** Removes compaction `:id`; the values are its row of `findPrepared`. */
  readonly deletePrepared: readonly string[];
};

/** Gives out the ids of a compaction's rows. */
export async function reserveIds(
  { prepare, reserve }: Pick<StoreEngine, 'prepare' | 'reserve'>,
  query: Query,
  { batchCounts }: CompactionOutline,
): Promise<Ids> {
  const partition = await prepare(query);
  const [compactionId = 0] = await reserve(query, 'compactions', 1);
  const cycleIds = await reserve(query, 'cycles', batchCounts.length);
  const total = batchCounts.reduce((sum, count) => sum + count, 0);
  const batchIds = (await reserve(query, 'batches', total)).values();
  const take = (position: number): readonly number[] => [...batchIds.take(batchCounts[position] ?? 0)];
  const cycles = cycleIds.map((cycleId, position) => ({ cycleId, batchIds: take(position) }));
  return { compactionId, cycles, partition };
}

async function reserveAhead(sql: Sql, engine: StoreEngine, outline: CompactionOutline): Promise<Ids | null> {
  if (engine.prepareAhead === null) return null;
  const ids = await reserveIds(engine, sql.query, outline);
  await engine.prepareAhead(ids.partition);
  return ids;
}

export type Storing = Transaction & { readonly ids: Ids };

/** Begins a transaction that stores a compaction. */
export async function beginStoring(sql: Sql, engine: StoreEngine, outline: CompactionOutline): Promise<Storing> {
  const ahead = await reserveAhead(sql, engine, outline);
  const transaction = await sql.begin('write');
  try {
    for (const lock of sql.dialect.storingLocks) await transaction.query(lock);
    return { ...transaction, ids: ahead ?? (await reserveIds(engine, transaction.query, outline)) };
  } catch (error) {
    await transaction.rollback();
    throw error;
  }
}

/** Does all of `work` in such a transaction. A lost connection repeats it, unless it was stored all the same. Gives the id. */
export async function storeOnce(
  sql: Sql,
  engine: StoreEngine,
  outline: CompactionOutline,
  work: (query: Query, ids: Ids) => Promise<void>,
): Promise<number> {
  const ahead = await reserveAhead(sql, engine, outline);
  return sql.transaction('write', async (query) => {
    for (const lock of sql.dialect.storingLocks) await query(lock);
    const ids = ahead ?? (await reserveIds(engine, query, outline));
    const { compactionId: id } = ids;
    const isStored = ahead !== null && (await query('SELECT 1 FROM compactions WHERE id = :id', { id })).length > 0;
    if (!isStored) await work(query, ids);
    return id;
  });
}

/** The steps of a writer. At the end, and after an error, `leave` is called, and no step can follow. */
export function createSteps(leave: () => Promise<void>) {
  const state = { hasEnded: false };
  const end = async (): Promise<void> => {
    if (state.hasEnded) return;
    state.hasEnded = true;
    await leave();
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
  return { step, end };
}
