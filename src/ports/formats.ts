import type { Codec, Format, Json, LineParse } from './codec.ts';

/**
 * The codec of a file, or what is known if there is none. `looksLike`: a format that we recognize but do not read, as a noun phrase ("a Qwen
 * Code session"). `near`: for each format that we read, why the file is not one.
 */
export type FormatSearch =
  | { readonly kind: 'found'; readonly codec: Codec }
  | {
      readonly kind: 'unknown';
      readonly looksLike: string | null;
      readonly near: readonly { readonly format: string; readonly reason: string }[];
    };

/** What a file that is not JSON Lines looks like ("one JSON document"), and what to try. */
export type ForeignBytes = { readonly looksLike: string; readonly advice: string };

/** The formats that we read, and how to recognize files that have none of them. */
export type FormatRegistry = {
  readonly list: () => readonly Format[];
  /** The codec of the format with this name; null: there is none. */
  readonly load: (name: string) => Promise<Codec | null>;
  readonly detect: (sample: readonly Json[]) => Promise<FormatSearch>;
  /** From the first bytes of a file that may be one JSON value (`isWhole`: all its bytes). null: it is not one value, or it is lines of JSON. */
  readonly detectDocument: (head: Uint8Array, isWhole: boolean) => Promise<FormatSearch | null>;
  /** The other format whose message this record is, if the file's own format does not know it; null: no other format claims it. */
  readonly findClaimant: (value: Json, own: Codec) => Promise<string | null>;
  /** False: no other format claims this record. A quick answer, where `findClaimant` loads codecs. */
  readonly mayBeClaimed: (value: Json, own: Codec) => boolean;
  /** From the first bytes of a file. null: it may be JSON Lines. */
  readonly describeBytes: (head: Uint8Array) => ForeignBytes | null;
  readonly parseLine: (bytes: Uint8Array) => LineParse;
};
