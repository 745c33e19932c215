import type Database from 'better-sqlite3';
import { archiveError } from '../failure.ts';
import type { SchemaGuard } from './identity.ts';
import { createStatements, type Row, textColumn } from '../rows.ts';
import {
  type Query,
  quoteNames,
  type Sql,
  type Transaction,
  type TransactionKind,
  type Values,
  workIn,
} from '../sql/query.ts';
import type { TakeTurn } from './turns.ts';
import { SQLITE } from './dialect.ts';

const loaders = new WeakMap<Query, () => boolean>();

/** Lets the connection of a query compare vectors. False: SQLite's extension for them is not installed. */
export function loadVectors(query: Query): boolean {
  return loaders.get(query)?.() ?? false;
}

/**
 * Prepares each statement once. Text with lone surrogates is stored as `textColumn` says, and an array as JSON. `extension`: the file of SQLite's
 * extension for vectors.
 */
export function createQuery(db: Database.Database, extension: string | null = null): Query {
  const prepare = createStatements(db);
  const run = async (sql: string, values: Values = {}): Promise<readonly Row[]> => {
    const statement = prepare(sql);
    const columns = toColumns(values);
    if (statement.reader) return statement.all(columns);
    statement.run(columns);
    return [];
  };
  const plucked = new Map<string, Database.Statement<[object], number>>();
  const numbers: Query['numbers'] = async (sql, values = {}) => {
    const statement = plucked.get(sql) ?? db.prepare<[object], number>(sql).pluck();
    plucked.set(sql, statement);
    return statement.all(toColumns(values));
  };
  const inserts = new Map<string, Database.Statement>();
  const insert: Query['insert'] = async (table, rows) => {
    const names = Object.keys(rows[0] ?? {});
    if (names.length === 0) return;
    const sql = `INSERT INTO ${table} (${quoteNames(names)}) VALUES (${names.map(() => '?').join(', ')})`;
    const statement = inserts.get(sql) ?? db.prepare(sql);
    inserts.set(sql, statement);
    for (const row of rows) statement.run(...names.map((name) => toColumn(row[name])));
  };
  const query = Object.assign(run, { insert, numbers });
  const state = { isLoaded: false };
  loaders.set(query, () => {
    if (extension !== null && !state.isLoaded) db.loadExtension(extension);
    state.isLoaded = extension !== null;
    return state.isLoaded;
  });
  return query;
}

function toColumns(values: Values): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, toColumn(value)]));
}

function toColumn(value: unknown): unknown {
  if (typeof value === 'string') return textColumn(value);
  return Array.isArray(value) ? JSON.stringify(value) : (value ?? null);
}

/** A connection with a guard of its own. */
export type Connection = { readonly db: Database.Database; readonly checkSchema: SchemaGuard };

type Connections = {
  /** Of the archive, for messages. */
  readonly path: string;
  /** The file of SQLite's vector extension; null: it is not installed. */
  readonly extension: string | null;
  /** For statements outside of transactions. */
  readonly db: Database.Database;
  /** Opens another one, for transactions. Null: there is only one, and nothing is written. */
  readonly open: (() => Connection) | null;
  /** A transaction that reads does not keep one that writes from ending. */
  readonly isReadableWhileStoring: boolean;
  /** Writes of this thread wait for each other: SQLite would block the thread until the other one has ended. */
  readonly takeTurn: TakeTurn;
};

/** An archive in a SQLite database. */
export function createSqliteSql({ path, extension, db, open, isReadableWhileStoring, takeTurn }: Connections): Sql {
  const query = createQuery(db, extension);
  const connect = (of: () => Connection) => (): Connection & { readonly query: Query } => {
    const opened = of();
    return { ...opened, query: createQuery(opened.db, extension) };
  };
  const begin =
    open === null
      ? createSharedBegin(db, query, path)
      : createBegin(connect(open), { takeTurn, isReadableWhileStoring });
  return { dialect: SQLITE, query, begin, transaction: (kind, work) => workIn(begin(kind), work) };
}

type Begin = (kind: TransactionKind) => Promise<Transaction>;

/** Each transaction has a connection to itself, so it neither sees nor disturbs what others do meanwhile. */
function createBegin(
  connect: () => Connection & { readonly query: Query },
  { takeTurn, isReadableWhileStoring }: Pick<Connections, 'takeTurn' | 'isReadableWhileStoring'>,
): Begin {
  const idle: ReturnType<typeof connect>[] = [];
  return async (kind) => {
    const release = kind === 'write' || !isReadableWhileStoring ? await takeTurn() : null;
    const state = { isOpen: true };
    const end = (finish: () => void): void => {
      if (!state.isOpen) return;
      state.isOpen = false;
      try {
        finish();
      } finally {
        release?.();
      }
    };
    try {
      const connection = idle.pop() ?? connect();
      const { db } = connection;
      const undo = (): void => {
        if (db.inTransaction) db.exec('ROLLBACK'); // SQLite has ended it where the disk is full
        idle.push(connection);
      };
      try {
        db.exec(kind === 'write' ? 'BEGIN IMMEDIATE' : 'BEGIN');
        if (kind === 'write') connection.checkSchema();
      } catch (error) {
        undo();
        throw error;
      }
      return {
        query: connection.query,
        commit: async () => {
          if (!state.isOpen) throw new Error('this transaction has ended');
          db.exec('COMMIT');
          end(() => idle.push(connection));
        },
        rollback: async () => end(undo),
      };
    } catch (error) {
      end(() => undefined);
      throw error;
    }
  };
}

/** Snapshots that overlap share the first one's. */
function createSharedBegin(db: Database.Database, query: Query, path: string): Begin {
  const state = { depth: 0, isOurs: false };
  return async (kind) => {
    if (kind === 'write')
      throw archiveError({ kind: 'cannot-open', path, reason: 'it is read-only, so nothing can be stored in it' });
    if (state.depth === 0) {
      state.isOurs = !db.inTransaction;
      if (state.isOurs) db.exec('BEGIN');
    }
    state.depth += 1;
    const isQueryOnly = db.pragma('query_only', { simple: true });
    if (kind === 'trial') db.pragma('query_only = OFF'); // temporary tables are not in the archive
    const one = { isOpen: true };
    const end = async (): Promise<void> => {
      if (!one.isOpen) return;
      one.isOpen = false;
      if (kind === 'trial') db.pragma(`query_only = ${String(isQueryOnly)}`);
      state.depth -= 1;
      if (state.depth === 0 && state.isOurs && db.inTransaction) db.exec('ROLLBACK'); // nothing was written
    };
    return { query, commit: end, rollback: end };
  };
}
