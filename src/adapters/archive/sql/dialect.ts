import type { Row } from '../rows.ts';
import type { Query } from './query.ts';

/** What engines write differently. */
export type Dialect = {
  /** A condition: the column is one of the numbers in the array `:name`. */
  readonly isAmong: (column: string, name: string) => string;
  /** A hash as text in hex. */
  readonly hex: (column: string) => string;
  /** Joins blocks AS k and what owns them, compactions AS c and cycles AS y, to lines AS l. */
  readonly lineJoins: string;
  /** Joins cycles AS y and compactions AS c to batches AS b. */
  readonly batchJoins: string;
  /** Joins the table of blocks to that of lines, both under their own names. */
  readonly blockOfLine: string;
  /** A condition: the words of the message in lines AS l are in the search index. */
  readonly isMessageIndexed: string;
  /** The same for the summary in batches AS b. */
  readonly isBatchIndexed: string;
  /** Taken at the beginning of a transaction that stores, so that an erasure waits for it, and the other way round. */
  readonly storingLocks: readonly string[];
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
