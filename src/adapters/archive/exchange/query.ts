import type { Query } from '../sql/query.ts';

/** What engines do differently when a unit is stored. */
export type UnitEngine = {
  readonly query: Query;
  /** Everything is stored, or nothing. */
  readonly transaction: <T>(work: (query: Query) => Promise<T>) => Promise<T>;
};
