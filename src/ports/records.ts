import type { RawLine } from './files.ts';
import type { Json, LineParse } from './json.ts';

/**
 * A piece of a file that is kept or archived as one: a line or, where conversations are values with lists in them, a record of such a
 * file. `line` is its number among all of them.
 */
export type RawRecord = RawLine & {
  /** The number of the list it belongs to, from 1; undefined: it belongs to no list. */
  readonly list?: number;
  /**
   * For a record that opens a list: the value around the list, with the list emptied. null: the rest of such a value, after the list.
   * undefined: an element, or a value without a list.
   */
  readonly around?: Json;
  /** What is wrong with the file here if the record's own bytes may not show it: the file ends too soon, or something follows the value. */
  readonly fault?: string;
  /** Where the record begins in the file, both from 1; undefined: at the start of line `line`. */
  readonly findPlace?: () => { readonly line: number; readonly column: number };
};

/** Splits a file that is not JSON Lines into records. The records cover the file without gaps. */
export type Records = {
  /** A file may be pretty-printed values, one after another. */
  readonly spansLines?: true;
  /** A file is one value, and its records come when all of it was read. */
  readonly isOne?: true;
  /** `start`: the offset of the first byte of the first piece. */
  readonly open: (start: number) => RecordSplitter;
  /** The record without what separates it from the next one. */
  readonly trim: (bytes: Uint8Array) => Uint8Array;
  /** The value of a trimmed record. */
  readonly parse: (bytes: Uint8Array) => LineParse;
};

/** Takes a file in pieces, in order, and gives its records as they become complete. A record's bytes are valid only until the next one. */
export type RecordSplitter = {
  readonly add: (piece: Uint8Array) => Iterable<RawRecord>;
  /** What is left at the end of the file. */
  readonly end: () => Iterable<RawRecord>;
};
