import type { ConversationMessage, Role } from './message.ts';
import type { ScoreFeatures } from './scoring.ts';

/**
 * What a line of a transcript is.
 * message: said in the conversation. instruction: a system or developer message. summary: what a compaction left, ours or
 * the producer's. header: what a producer must find first; it always stays, and nothing of ours is written before it. meta: a record of
 * the producer that is no message (valid JSON of an unknown type too). opaque: no JSON. blank: white space only.
 */
type EntryKind = 'message' | 'instruction' | 'summary' | 'header' | 'meta' | 'opaque' | 'blank';

/** What a producer's own compaction says of the records before it. */
export type ProducerBoundary = {
  /** It kept these in its context (record ids, both included). */
  readonly keptFrom?: string;
  readonly keptTo?: string;
  /** It kept what persons typed. */
  readonly keepsPrompts?: boolean;
};

/**
 * Which message a record that says nothing itself goes and stays with. call: the one that makes or answers a call. words: the one with the
 * same words (`wordsKey`), near it. answer: the model's words or call that follow. next: the message that follows. turn: the
 * last message of the turn that begins here. last: the message before it.
 */
export type Attachment =
  | { readonly kind: 'call'; readonly id: string }
  | { readonly kind: 'words'; readonly key: string }
  | { readonly kind: 'answer' | 'next' | 'turn' | 'last' };

/** What a codec reads in one line, beside the message itself. */
export type EntryFacts = {
  readonly kind: EntryKind;
  /** The id that the record itself gives its conversation. */
  readonly conversation?: string;
  /** The record's own id, in formats whose records name each other: by their parents, or a summary what it answers. */
  readonly recordId?: string;
  /** Undefined: not a part of the chain. Null: a root. */
  readonly parentId?: string | null;
  /** The record at which the thread ends, if none follows: a person went back to it. */
  readonly tipId?: string;
  /** Belongs to a side thread (a subagent's), which the producer does not send with the main one. */
  readonly isSide?: boolean;
  /** Said while a turn was at work, outside the chain of turns: no cut may stand before it, and the thread does not end at it. */
  readonly isAside?: boolean;
  /** Ids of the calls made, and of the calls answered, in this record. */
  readonly calls?: readonly string[];
  readonly results?: readonly string[];
  /** Records with the same key are one answer of the model and are never parted. */
  readonly groupKey?: string;
  /** A person typed it: the preferred place for a cut. */
  readonly isPrompt?: boolean;
  /** A summary that is known by its first words alone: its record is one that a person could have typed. */
  readonly isUnmarked?: boolean;
  /** Of a meta record: the latest of each name stays in the transcript. */
  readonly pin?: string;
  /** The producer's own compaction stands here. */
  readonly boundary?: ProducerBoundary;
  readonly attachedTo?: Attachment;
  /** Equal for messages and records that repeat their words. */
  readonly wordsKey?: string;
  /** What a producer that can take turns back makes of a message. opens: a turn is counted from here. update: it leaves with the turn that follows. */
  readonly turnPart?: 'opens' | 'update';
  /** So many turns before this record were taken back. */
  readonly turnsTakenBack?: number;
  /** It says how large the context was: wrong as soon as the conversation is compacted. */
  readonly statesContextSize?: boolean;
  /** It would hide a summary before it: of what is older than the recent messages it is the first that goes. */
  readonly hidesBefore?: boolean;
  /** Why nothing of this file can be compacted. */
  readonly obstacle?: string;
};

/** A decoded line: its facts, and its message where it has one (kinds message, instruction, summary). */
export type Decoded = EntryFacts & { readonly message?: ConversationMessage };

/** One line, or record of a document, as the first pass keeps it: where it stands and what the plan needs; never its text. */
export type Entry = EntryFacts & {
  /** 1-based, among all lines; where conversations stand in lists, among all records. */
  readonly line: number;
  /** Byte offset in the file, a BOM counted. */
  readonly start: number;
  /** Which of the file's lists it stands in, from 1, where each conversation is one. */
  readonly list?: number;
  /** Bytes, line ending included. */
  readonly length: number;
  readonly id?: string;
  readonly role?: Role;
  readonly features?: ScoreFeatures;
  /** Estimated tokens of the message's content. */
  readonly tokens?: number;
  /** Estimated tokens of what a person typed in it; undefined where nobody did. */
  readonly typedTokens?: number;
  /** Of a clip-archive of ours: sha256 of its line without the line ending, hex. */
  readonly sha256?: string;
  /** What a clip-archive of ours is still known by where its producer wrote its record anew. */
  readonly clip?: ClipMark;
};

/** `textSha256`: of its text with its white space made even, hex. `key`: the archive key in its last line; null: it has none. */
export type ClipMark = { readonly textSha256: string; readonly key: string | null };
