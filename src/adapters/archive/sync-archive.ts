import type { Archive } from '../../ports/archive.ts';
import type { RetentionEngine } from './erase/erase.ts';
import type { createShared } from './shared.ts';
import type { Sql } from './sql/query.ts';
import type { TakeTurn } from './turns.ts';

/** A port whose methods return at once: values instead of promises, plain iterators instead of asynchronous ones. */
type Sync<T> = T extends (...args: infer Args) => infer Returned
  ? (...args: Args) => Returned extends PromiseLike<infer Value> ? Value : SyncIterator<Returned>
  : T extends object
    ? { readonly [Key in keyof T]: Sync<T[Key]> }
    : T;

type SyncIterator<T> = T extends AsyncIterable<infer Item> ? IterableIterator<Item> : T;

/** What is made of the database alone. */
type Shared = ReturnType<typeof createShared>;

/** An archive as SQLite has it: synchronous, because a statement is. `createLocalArchive` makes the port of it. */
export type SyncArchive = Sync<Omit<Archive, 'begin' | 'markApplied' | 'discard' | 'inOneState' | keyof Shared>> & {
  /** The database, for what is the same with every engine. */
  readonly connect: (takeTurn: TakeTurn) => { readonly sql: Sql; readonly retention: RetentionEngine };
  /** With the log. */
  readonly fileBytes: () => number;
  /** From here to `leaveState`, every call reads the same state. */
  readonly enterState: () => void;
  readonly leaveState: () => void;
};
