import type { RawLine } from './files.ts';
import type { Json, LineParse } from './json.ts';

/**
 * A part of a file that is kept or archived as one: a line, or what stands for one where conversations are values with lists in them. `line`
 * is its number among all of them.
 */
export type RawRecord = RawLine & {
  /** Which of the file's lists it belongs to, from 1; undefined: none. */
  readonly list?: number;
  /** It holds a list: the value around that, the list emptied. null: the rest of such a value. undefined: an element, or no such value. */
  readonly around?: Json;
  /** Why it is no part of a sound file, where its own bytes may not tell: it ends too soon, or something follows it. */
  readonly fault?: string;
  /** The place in the file at which it begins, both from 1; undefined: it is the beginning of line `line`. */
  readonly findPlace?: () => { readonly line: number; readonly column: number };
};

/** How a file that is no JSON Lines is taken apart into records, which tile it. */
export type Records = {
  /** `start`: the offset of the first piece's first byte. A record's bytes are only valid until the next one is asked for. */
  readonly split: (pieces: Iterable<Uint8Array>, start: number) => IterableIterator<RawRecord>;
  /** A record without what parts it from the next. */
  readonly trim: (bytes: Uint8Array) => Uint8Array;
  /** The value of a trimmed record. */
  readonly parse: (bytes: Uint8Array) => LineParse;
};
