import { readInteger, type Row } from '../rows.ts';

/** Values for the `:name` places of a statement. Text goes in and comes out as it is, whatever the engine needs for that. */
export type Values = Readonly<Record<string, unknown>>;

/** Runs one statement and gives its rows. Each engine has the same tables, so most statements are the same for all. */
export type Query = {
  (sql: string, values?: Values): Promise<readonly Row[]>;
  /** The numbers in the only column of all rows: of hundreds of thousands, if need be. */
  readonly numbers: (sql: string, values?: Values) => Promise<readonly number[]>;
  /** Inserts rows, whose values are named as the columns. All have those of the first one. */
  readonly insert: (table: string, rows: readonly Values[]) => Promise<void>;
};

/** The number in the only column of the first row. Throws a `DamageError` if there is none. */
export async function readNumber(query: Query, sql: string, values: Values = {}): Promise<number> {
  const [row = {}] = await query(sql, values);
  return readInteger(row, Object.keys(row)[0] ?? 'number');
}

/** Counts rows. `from`: what follows FROM. */
export function countRows(query: Query, from: string, values: Values = {}): Promise<number> {
  return readNumber(query, `SELECT count(*) FROM ${from}`, values);
}

/** A condition: lines AS l are those of block `:id`. They are found by their ids, so that there is one index less for each line. */
export const OF_BLOCK = `
l.block_id = :id AND l.id BETWEEN (SELECT first_line_id FROM blocks WHERE id = :id) AND (SELECT last_line_id FROM blocks WHERE id = :id)`;

/** A condition: lines AS l are those that batches AS b summarize. Without the plus, SQLite would read all lines to index them by their batches. */
export const OF_BATCH = '+l.batch_id = b.id AND l.id BETWEEN b.first_line_id AND b.last_line_id';

/** A condition: the hash in a column is `:name`. SQLite has its beginning in an index, which takes a third of the room. */
export const hasHash = (column: string, name: string): string =>
  `${column} = :${name} AND substr(${column}, 1, 8) = substr(:${name}, 1, 8)`;

/** The pages of a statement that lists some of the rows behind `:after` by `id`. Each has a statement of its own. */
export async function* listPages(query: Query, sql: string, values: Values = {}): AsyncGenerator<readonly Row[]> {
  for (let after: unknown = 0; ;) {
    const rows = await query(sql, { ...values, after });
    if (rows.length === 0) return;
    after = rows.at(-1)?.['id'];
    yield rows;
  }
}

/** Does work for each of these rows. */
export async function forRows(query: Query, sql: string, work: (row: Row) => Promise<void> | void): Promise<void> {
  for await (const rows of listPages(query, sql)) for (const row of rows) await work(row);
}

export function quoteNames(names: readonly string[]): string {
  return names.map((name) => `"${name}"`).join(', ');
}

/**
 * snapshot: only reads, all of it one state of the archive.
 * trial: writes to temporary tables alone, and is rolled back.
 */
export type TransactionKind = 'write' | 'snapshot' | 'trial';

export type Transaction = {
  readonly query: Query;
  readonly commit: () => Promise<void>;
  /** Never throws. Does nothing after the end. */
  readonly rollback: () => Promise<void>;
};

/** Does work in a transaction, which is rolled back if it throws. */
export async function workIn<T>(begun: Promise<Transaction>, work: (query: Query) => Promise<T>): Promise<T> {
  const { query, commit, rollback } = await begun;
  try {
    const result = await work(query);
    await commit();
    return result;
  } catch (error) {
    await rollback();
    throw error;
  }
}

/** A database with an archive. */
export type Sql = {
  readonly dialect: Dialect;
  /** Outside any transaction. */
  readonly query: Query;
  /** Runs `work` in one transaction, which is rolled back if it throws. It may be repeated if the connection was lost. */
  readonly transaction: <T>(kind: TransactionKind, work: (query: Query) => Promise<T>) => Promise<T>;
  /** Begins a transaction. Whoever calls this must end it. */
  readonly begin: (kind: TransactionKind) => Promise<Transaction>;
};

/** The database as a transaction sees it. */
export function within(sql: Sql, query: Query): Sql {
  const end = async (): Promise<void> => undefined;
  return {
    ...sql,
    query,
    transaction: (_, work) => work(query),
    begin: async () => ({ query, commit: end, rollback: end }),
  };
}

/** What engines write differently. */
export type Dialect = {
  readonly name: 'sqlite' | 'postgres';
  /** A condition: the column is one of the numbers in the array `:name`. */
  readonly isAmong: (column: string, name: string) => string;
  /** A condition: the text is one of those in the array `:name`. */
  readonly isAmongTexts: (text: string, name: string) => string;
  /** A hash as text in hex. */
  readonly hex: (column: string) => string;
  /** Joins blocks AS k and what owns them, compactions AS c and cycles AS y, to lines AS l. */
  readonly lineJoins: string;
  /** Joins cycles AS y and compactions AS c to batches AS b. */
  readonly batchJoins: string;
  /** Joins blocks AS k to lines AS l. */
  readonly onBlock: string;
  /** Joins packs AS p to blocks AS k. */
  readonly onPack: string;
  /** Joins blocks AS k to compactions AS c. */
  readonly onCompaction: string;
  /** Joins the table of blocks to that of lines, both under their own names. */
  readonly blockOfLine: string;
  /** What the search indexes of messages and of batches are, and their columns of ids. */
  readonly words: Readonly<Record<'messages' | 'batches', { readonly table: string; readonly id: string }>>;
  /** What these take on disk, as `size`. */
  readonly wordBytes: string;
  /** A condition: the words of the message in lines AS l are in the search index. */
  readonly isMessageIndexed: string;
  /** The same for the summary in batches AS b. */
  readonly isBatchIndexed: string;
  /** Taken at the beginning of a transaction that stores, so that an erasure waits for it, and the other way round. */
  readonly storingLocks: readonly string[];
  /** The end of a statement that lists packs AS p in an order: those of the partition, which nobody else can join. */
  readonly lockPacks: (order: string) => string;
  /** Gives the columns that name the partition of pack `:id`. */
  readonly partitionOfPack: string;
  readonly capturing: {
    /** At the beginning of a transaction that captures: captures take turns, and lines come before their block. */
    readonly begin: readonly string[];
    /** The last ids of captured lines and blocks, as `line` and `block`. */
    readonly lastIds: string;
    /** Keeps `:line` and `:block` as the last ids. Null: the engine does so by itself. */
    readonly keepIds: string | null;
    /** The captured lines with these hashes whose bytes were not erased, newest first. */
    readonly findLines: (query: Query, hashes: readonly Uint8Array[]) => Promise<readonly Row[]>;
  };
  /** Names this machine, for an archive that several share; null: only one uses it. */
  readonly thisMachine: () => string | null;
  /** The bytes that the committed content takes, as `size`. */
  readonly usedBytes: string;
};

/** The bytes that the committed content takes, without free pages where the engine knows them. */
export function readUsedBytes({ query, dialect }: Pick<Sql, 'query' | 'dialect'>): Promise<number> {
  return readNumber(query, dialect.usedBytes);
}
