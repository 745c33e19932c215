import type { CompactionOutline } from '../../../ports/archive.ts';
import type { Query, Transaction, Values } from '../sql/query.ts';

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
  /** Begins a transaction that stores a compaction. Its rows may come in any order. */
  readonly begin: (outline: CompactionOutline) => Promise<Transaction & { readonly ids: Ids }>;
  /** Does all of `work` in such a transaction. A lost connection repeats it, unless it was stored all the same. Gives the id. */
  readonly once: (outline: CompactionOutline, work: (query: Query, ids: Ids) => Promise<void>) => Promise<number>;
  /** Inside a transaction that stores, before its rows, which may then come in any order. Gives the columns that go into every partition. */
  readonly prepare: (query: Query) => Promise<Values>;
  /** Hands out ids of new rows, ascending. */
  readonly reserve: (query: Query, table: string, count: number) => Promise<readonly number[]>;
  /** What the search index takes of a message, in one or more parts. Needs no database. */
  readonly toEntry: (text: string) => readonly string[];
  readonly indexMessages: (
    query: Query,
    messages: readonly { readonly id: number; readonly entry: readonly string[] }[],
    partition: Values,
  ) => Promise<void>;
  readonly indexBatch: (query: Query, id: number, content: string) => Promise<void>;
  /** Further columns of the row of a compaction with these lines. */
  readonly headColumns: (lines: { readonly first: number | null; readonly last: number | null }) => Values;
  /** After all rows of a compaction. */
  readonly finish: (query: Query, compactionId: number) => Promise<void>;
  /** Until the end of the transaction, nobody else takes a label that begins with `:label`. Null: nobody can. */
  readonly lockLabel: string | null;
  /** Finds compaction `:id` if it is prepared, so that nobody else applies or discards it. */
  readonly findPrepared: string;
  /** Removes compaction `:id`; the values are its row of `findPrepared`. */
  readonly deletePrepared: readonly string[];
};

/** Gives out the ids of a compaction's rows. */
export async function reserveIds(
  { reserve }: Pick<StoreEngine, 'reserve'>,
  query: Query,
  { batchCounts }: CompactionOutline,
): Promise<Omit<Ids, 'partition'>> {
  const [compactionId = 0] = await reserve(query, 'compactions', 1);
  const cycleIds = await reserve(query, 'cycles', batchCounts.length);
  const total = batchCounts.reduce((sum, count) => sum + count, 0);
  const batchIds = await reserve(query, 'batches', total);
  let first = 0;
  const cycles = cycleIds.map((cycleId, position) => {
    const count = batchCounts[position] ?? 0;
    first += count;
    return { cycleId, batchIds: batchIds.slice(first - count, first) };
  });
  return { compactionId, cycles };
}
