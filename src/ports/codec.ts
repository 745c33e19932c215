import type { Decoded, Entry, EntryKind } from '../core/transcript.ts';
import type { OpenSign, RawLine } from './files.ts';

/** A value as JSON.parse returns it. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** The value of a line, or where it stops being JSON (`column` from 1, in characters) and why. */
export type LineParse =
  | { readonly ok: true; readonly value: Json }
  | { readonly ok: false; readonly column: number; readonly problem: string };

/** How sure a codec is (0 to 1) that a file has its format, and a sentence that says why or why not. */
export type Detection = { readonly confidence: number; readonly reason: string };

/** The record is valid JSON but cannot belong to this format (for example, its role is a number). */
export type RecordProblem = { readonly problem: string };

/** A folder in which a producer keeps its transcripts. */
export type Place = {
  /** The producer's environment variable; if it is set, its value replaces `base`. */
  readonly variable?: string;
  /** Relative to the home folder, with `/` between folders; empty: the home folder itself. */
  readonly base: string;
  /** Relative to `base`; transcripts are in it and in the folders below. `*` is any one folder and may name a project. */
  readonly folder: string;
  /** Only files with this name, or with this ending (`*.json`). Undefined: any name that a transcript can have. */
  readonly file?: string;
};

/**
 * How a file is laid out, which decides where a summary can stand.
 * lines: one record a line. lists: one conversation a line, a value with a list of messages in it. document: the file is one JSON value, so
 * nothing can be appended to it.
 *
 * `links: 'parents'`: records name their parents, or roles must take turns, so a line cannot stand alone without being rewritten. Messages that survive are then
 * quoted in the clip-archive, and at least one message is kept for the summary to attach to. In lists and documents the last message
 * always stays too, since the comma before it needs something to follow.
 *
 * `summaryPlace: 'start'`: on reading the file, the producer forgets everything before a summary. Our lines then stand before everything
 * that stays (after the header), so that it still reads its first instructions.
 */
type Layout =
  | { readonly kind: 'lines'; readonly links: 'order'; readonly summaryPlace: 'before-kept' | 'start' }
  | { readonly kind: 'lines'; readonly links: 'parents' }
  | { readonly kind: 'lists'; readonly links: 'order' }
  | { readonly kind: 'document'; readonly links: 'order' | 'parents' };

export type Format = {
  /** As `--format` takes it. */
  readonly name: string;
  readonly title: string;
  /** For lists of formats: what it is, who writes it and where. */
  readonly summary: string;
  /** What was tried with compacted files, and with which version of the producer. */
  readonly checked: string;
  /** Where `compact scan` looks; undefined: there is no known folder for such files. */
  readonly places?: readonly Place[];
  /** Undefined: the producer leaves no sign. */
  readonly openSigns?: readonly OpenSign[];
  readonly layout: Layout;
  /**
   * Its records say by their own fields what a person typed, so standing rules are found in it. Undefined: a program, a page or a tool may have
   * written the same record, and rules are only those that the user adds.
   */
  readonly marksTyped?: true;
  /** Why its files are read, scored, captured and searched, but never compacted: a clause. Undefined: they are compacted. */
  readonly whyReadOnly?: string;
};

/** Which records of a conversation the producer still has in its context. */
export type ContextView = {
  /** The line of the summary that replaces everything before it; null: the conversation was never compacted. */
  readonly priorLine: number | null;
  /** The producer no longer sends this line: it is archived as `other` and never summarized. */
  readonly isStale: (entry: Entry) => boolean;
  /** The prior summary covers this stale message. If undefined, it covers those of the main thread that need not be dropped. */
  readonly isInSummary?: (entry: Entry) => boolean;
  /** The line of the message that this record goes or stays with, wherever that is; null: its own place decides. */
  readonly anchorOf?: (entry: Entry) => number | null;
  /** Where records are not in the order of the conversation: the position of a message, ascending. */
  readonly orderOf?: (entry: Entry) => number;
  /** The producer would misread this record in a compacted file, so it leaves wherever it stands. */
  readonly mustDrop?: (entry: Entry) => boolean;
};

/** Why the recent part cannot begin at a line; null: it can. */
export type CutProblem = string | null;

/** What a codec needs to write the clip-archive's record. Records are parsed lines; null: there is no such record. */
export type SummaryInput = {
  /** The complete clip-archive. */
  readonly text: string;
  readonly conversationId: string;
  /** The line before which the record goes. */
  readonly beforeLine?: number;
  /** The first message that is kept. */
  readonly firstKept: Json | null;
  /** The first message that leaves. */
  readonly firstDropped?: Json | null;
  /** The last message that leaves. */
  readonly lastDropped: Json | null;
  /** The last record of any kind that leaves and stood before the place of the summary. */
  readonly lastDroppedBefore?: Json | null;
  /** The summary that this one replaces. */
  readonly prior?: Json | null;
  /** The id of the last message of the main thread in the kept part (formats with parents). */
  readonly lastKeptId: string | null;
  readonly tokensBefore: number;
  /** The summary may quote tool results (web pages, files), so it must not be written as a system message. */
  readonly quotesTools: boolean;
  /** Without a record that says so, the producer's list would no longer show the session under this title. */
  readonly listedAs?: string;
  /** A UUID that is the same for the same input, settings and label. */
  readonly uuid: (label: string) => string;
};

/**
 * Reads one transcript. `observe` sees every record once, in the order of the file; after that the session answers for the whole file.
 * No JSON value makes it throw.
 */
export type CodecSession = {
  /**
   * The first pass. A session may note what its later answers need. The message's id is the record's own or `line:N`, the conversation id the
   * record's own or ''.
   */
  readonly observe: (value: Json, line: number) => Decoded | RecordProblem;
  /** Reads a record again, in any order and as often as needed. It changes nothing. */
  readonly decode: (value: Json, line: number) => Decoded | RecordProblem;
  /**
   * First pass, for formats with `records`: a list begins here. `around` is the value around it, with the list emptied. The answer has the
   * conversation's own id if there is one.
   */
  readonly openList?: (around: Json, line: number) => { readonly conversation?: string } | RecordProblem;
  /** `entries` are those of one conversation, in file order. */
  readonly readContext: (entries: readonly Entry[]) => ContextView;
  /** Whether the kept part may begin at a message's line. The codec need not consider groups: the plan keeps them together. */
  readonly legalCuts: (entries: readonly Entry[]) => (line: number) => CutProblem;
  /**
   * The lines, without line endings, that replace what leaves. They go right before the first kept message of the conversation, or where
   * `Layout` says. The last one is the clip-archive's line: its sha256 identifies the compaction.
   */
  readonly renderSummary: (input: SummaryInput) => readonly string[];
};

/** A line of a file, as a list of sessions finds it. */
export type ListedRecord = {
  /** Byte offsets in the file; `end` is behind the line ending. */
  readonly start: number;
  readonly end: number;
  /** Undefined: we have written it and have not read it back. */
  readonly kind?: EntryKind;
  /** null: it is not JSON. */
  readonly read: () => Json | null;
};

/** A file as a list of sessions finds it, from its first or from its last line on. */
export type ListedFile = {
  readonly sizeBytes: number;
  readonly records: (from: 'start' | 'end') => Iterable<ListedRecord>;
};

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

export type Codec = {
  readonly format: Format;
  /** How to split a file that is not JSON Lines; undefined: it is JSON Lines. */
  readonly records?: Records;
  /**
   * For documents: what of an element stays when its program writes the document anew, then what the element may have been before the program
   * went on in it, the longest first. Undefined: all of it stays.
   */
  readonly formsOf?: (element: Json) => Iterable<Json>;
  /** From the first parseable records of a file (about 50), or from the beginning of a document with its missing brackets added. */
  readonly detect: (sample: readonly Json[]) => Detection;
  /** The folder that was worked in; null: this record does not say. */
  readonly readProject?: (record: Json) => string | null;
  /** The model that answered or that is to answer, as its vendor names it; null: this record does not say. */
  readonly readModel?: (record: Json) => string | null;
  /**
   * The title under which the producer's list of sessions shows a file, up to the longest that we write; null: it hides the file. Undefined: the
   * title does not depend on what leaves.
   */
  readonly listedTitle?: (file: ListedFile) => string | null;
  readonly open: () => CodecSession;
};

/** The program whose sessions are of this format: 'Claude Code'; null: it is not that of one program's sessions. */
export function programOf(formats: readonly Format[], name: string): string | null {
  const title = formats.find((format) => format.name === name)?.title ?? '';
  return /^(.*) session(?:, older)?$/.exec(title)?.[1] ?? null;
}

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
