import type { Decoded, Entry } from '../core/transcript.ts';
import type { Json } from './json.ts';
import type { Records } from './records.ts';
export type { Json } from './json.ts';

/** How sure a codec is that a file is of its format, and the sentence that says why (or why not). */
export type Detection = { readonly confidence: number; readonly reason: string };

/** A line that is valid JSON but cannot be a record of this format (for instance a role that is a number). */
export type RecordProblem = { readonly problem: string };

/** Folders in which a producer keeps its transcripts. */
export type Place = {
  /** The producer's environment variable; what it names stands in the place of `base`. */
  readonly variable?: string;
  /** Below the home folder, parted by `/`; empty: the home folder itself. */
  readonly base: string;
  /** Below `base`: transcripts stand in it and in its folders. `*` is any one folder, by which a project may be told. */
  readonly folder: string;
  /** Only files of this name, or with this ending (`*.json`). Undefined: of any name that a transcript may have. */
  readonly file?: string;
};

export type Format = {
  /** As `--format` names it. */
  readonly name: string;
  readonly title: string;
  /** For lists of the formats: what it is, who writes it and where. */
  readonly summary: string;
  /** How it is known to work: what was done with compacted files, by which version of the producer. */
  readonly checked: string;
  /** Where `compact scan` looks; undefined: nobody knows where such files are kept. */
  readonly places?: readonly Place[];
  /**
   * True: records name their parents, so that a line cannot stand alone without being changed. Survivors then stand as text in the
   * clip-archive, and something must be kept for the summary to hang on.
   */
  readonly isChain: boolean;
  /**
   * True: the producer forgets what stands before a summary when it reads the file. Our lines then stand before everything that
   * stays (after the header), so that leading instructions are still read.
   */
  readonly summaryStandsFirst?: boolean;
  /** True: the file is one JSON value and not lines of JSON. Nothing can be appended to it. */
  readonly isDocument?: boolean;
  /** True: the last message of a conversation always stays, since nothing may follow the comma behind the one before it. */
  readonly lastStays?: boolean;
};

/** What of a transcript the producer still has in its context, per conversation. */
export type ContextView = {
  /** The line of the summary that stands for everything before it; null: never compacted. */
  readonly priorLine: number | null;
  /** True for a line of the conversation that the producer no longer sends: archived as `other`, never summarized. */
  readonly isStale: (entry: Entry) => boolean;
  /** True for a stale message that the summary stands for. Without it: for those of the main thread that need not go. */
  readonly isInSummary?: (entry: Entry) => boolean;
  /** The line of the message that a record goes and stays with, wherever it stands; null: the record goes by its place. */
  readonly companionOf?: (entry: Entry) => number | null;
  /** Of a file whose records do not stand in the order in which they were said: the place of a message, ascending. */
  readonly orderOf?: (entry: Entry) => number;
  /** True for a record that a producer would misread in a compacted file: it goes, wherever it stands. */
  readonly mustGo?: (entry: Entry) => boolean;
};

/** Why no cut may stand before a line; null: it may. */
export type CutProblem = string | null;

/** What the record of a clip-archive is rendered from. Records are parsed lines; null where there is none. */
export type SummaryInput = {
  /** The clip-archive, whole. */
  readonly text: string;
  readonly conversationId: string;
  /** The first kept message of the conversation. */
  readonly firstKept: Json | null;
  /** The first message that left. */
  readonly firstDropped?: Json | null;
  /** The last message that left. */
  readonly lastDropped: Json | null;
  /** The last record, of any kind, that left and stood before the place of the summary. */
  readonly lastDroppedBefore?: Json | null;
  /** The summary that this one takes the place of. */
  readonly prior?: Json | null;
  /** The record at which the main thread ends: its last message in the kept part (chain formats). */
  readonly lastKeptId: string | null;
  readonly tokensBefore: number;
  /** The summary may quote results of tools: web pages, files. It must not stand where a system speaks. */
  readonly quotesTools: boolean;
  /** A UUID that is the same for the same input, settings and label. */
  readonly uuid: (label: string) => string;
};

/**
 * A transcript being read. A session sees every line of one file in order (its state may depend on them) and then answers for the whole.
 * It never throws on any JSON value.
 */
export type CodecSession = {
  /** `value` is the parsed line. The message's id is its own or `line:N`. Conversation id: the record's own or ''. */
  readonly decode: (value: Json, line: number) => Decoded | RecordProblem;
  /** Of a format with `records`: the value around a list that begins here, the list emptied, and the conversation's own id where it has one. */
  readonly openList?: (around: Json, line: number) => { readonly conversation?: string } | RecordProblem;
  /** `entries` are those of one conversation, in file order. */
  readonly readContext: (entries: readonly Entry[]) => ContextView;
  /** Whether the kept part may begin at a line (of a message). Groups are not the codec's matter: the plan keeps them whole. */
  readonly legalCuts: (entries: readonly Entry[]) => (line: number) => CutProblem;
  /** The lines, without line endings, that stand for what left. They go right before the first kept message of the conversation (or
   * before all that stays, see Format). The last of them is the clip-archive's line: the one whose sha256 identifies the compaction. */
  readonly renderSummary: (input: SummaryInput) => readonly string[];
};

export type Codec = {
  readonly format: Format;
  /** How a file is taken apart that is no JSON Lines; undefined: it is. */
  readonly records?: Records;
  /** From the first parseable records (about 50) of a file; of a document, from its beginning alone, with the brackets that are missing. */
  readonly detect: (sample: readonly Json[]) => Detection;
  /** The folder that was worked in, as the first records of a file have it; null: they do not say. */
  readonly readProject?: (sample: readonly Json[]) => string | null;
  readonly open: () => CodecSession;
};
