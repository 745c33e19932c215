import type { Codec, Format } from './codec.ts';
import type { Json, LineParse } from './json.ts';
export type { LineParse } from './json.ts';

/** `looksLike`: a format that is known and not read, as a noun phrase ("a Qwen Code session"). `near`: why it is of none of the others. */
export type FormatSearch =
  | { readonly kind: 'found'; readonly codec: Codec }
  | {
      readonly kind: 'unknown';
      readonly looksLike: string | null;
      readonly near: readonly { readonly format: string; readonly reason: string }[];
    };

/** What a file that is no JSON Lines looks like ("one JSON document"), and what to try. */
export type ForeignBytes = { readonly looksLike: string; readonly advice: string };

/** The formats that are known, and how bytes are told to be none of them. */
export type FormatRegistry = {
  readonly list: () => readonly Format[];
  readonly find: (name: string) => Codec | null;
  readonly detect: (sample: readonly Json[]) => FormatSearch;
  /** From the first bytes of a file that may be one JSON value (`isWhole`: all of them); null: it is none, or lines of JSON. */
  readonly detectDocument: (head: Uint8Array, isWhole: boolean) => FormatSearch | null;
  /** The format whose message a record is, where it is nothing that the file's own format knows; null: nobody's. */
  readonly findClaimant: (value: Json, own: Codec) => string | null;
  /** From the first bytes of a file; null: nothing against its being JSON Lines. */
  readonly describeBytes: (head: Uint8Array) => ForeignBytes | null;
  readonly parseLine: (bytes: Uint8Array) => LineParse;
};
