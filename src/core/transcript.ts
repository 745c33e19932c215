import type { ConversationMessage, Role } from './message.ts';
import type { ScoreFeatures } from './scoring.ts';

/**
 * What a record is.
 * message: part of the conversation. instruction: a system or developer message. summary: what a compaction left, ours or the producer's.
 * header: the producer must find it first; it always stays, and nothing of ours goes before it. meta: any other record of the producer,
 * including valid JSON of an unknown type. opaque: not JSON. blank: white space only.
 */
export type EntryKind = 'message' | 'instruction' | 'summary' | 'header' | 'meta' | 'opaque' | 'blank';

/** What a codec reads in a record, apart from the message itself. */
export type EntryFacts = {
  readonly kind: EntryKind;
  /** The conversation id that the record itself carries. */
  readonly conversation?: string;
  /** The record's own id, in formats whose records refer to each other. */
  readonly recordId?: string;
  /** The id of the record before it in the thread. Null: it is a root. Undefined: it is not part of a thread. */
  readonly parentId?: string | null;
  /** Part of a side thread (a subagent's), which the producer does not send with the main one. */
  readonly isSide?: boolean;
  /** Said during a turn but outside the chain of turns: the recent part cannot begin here, and the thread does not end here. */
  readonly isAside?: boolean;
  /** Ids of the tool calls that this record makes, and of the calls that it answers. */
  readonly calls?: readonly string[];
  readonly results?: readonly string[];
  /** Records with the same key form one answer of the model and are never separated. */
  readonly groupKey?: string;
  /** A person typed it: the preferred place for a cut. */
  readonly isPrompt?: boolean;
  /** A summary recognized only by its first words: a person could have typed the same record. */
  readonly isUnmarked?: boolean;
  /** For meta records: of all records with this key, the latest stays in the transcript. */
  readonly latestKey?: string;
  /** It would hide a summary that stands before it, so among the older messages it is the first to leave. */
  readonly hidesBefore?: boolean;
};

/** A decoded record: its facts, and its message if it has one (kinds message, instruction and summary). */
export type Decoded = EntryFacts & { readonly message?: ConversationMessage };

/** A line of the file, or a record of a document, as the first pass keeps it: its place and what the plan needs, but never its text. */
export type Entry = EntryFacts & {
  /** From 1, counted over all lines, or over all records where conversations are lists. */
  readonly line: number;
  /** Byte offset in the file, counting a BOM. */
  readonly start: number;
  /** Where each conversation is a list: the number of the list it belongs to, from 1. */
  readonly list?: number;
  /** In bytes, with the line ending. */
  readonly length: number;
  readonly id?: string;
  readonly role?: Role;
  readonly features?: ScoreFeatures;
  /** Estimated tokens of the message's content. */
  readonly tokens?: number;
  /** Estimated tokens of what a person typed in it; undefined if nobody did. */
  readonly typedTokens?: number;
  /** For one of our clip-archives: the sha256 of its line without the line ending, in hex. */
  readonly sha256?: string;
  /** For one of our clip-archives: how to recognize it after its producer has rewritten the record. */
  readonly clip?: ClipMark;
};

/** `textSha256`: of its text with white space normalized, in hex. `key`: the archive key in its last line, or null. */
export type ClipMark = { readonly textSha256: string; readonly key: string | null };
