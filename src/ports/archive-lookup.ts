import type { SummaryBatch, SummaryLevel } from '../core/batch.ts';
import type { Role } from '../core/message.ts';
import type { QueryTerm } from '../core/search/question.ts';
import type { Candidate } from '../core/search/rank.ts';
import type { MessageTraits } from '../core/search/query-hints.ts';

export type StoredBatch = SummaryBatch & {
  readonly id: number;
  readonly label: string;
  /** sha256 (hex) of `content` when it was stored; a different text was changed since. */
  readonly contentSha256: string;
  readonly level: SummaryLevel;
};

export type ArchivedOutcome = 'summarized' | 'other' | 'quoted';

export type BatchQuery = {
  /** Words or phrases (words separated by one space); a batch must contain at least one. */
  readonly terms: readonly string[];
  /** A batch has no role; its time is the span from its first to its last message. */
  readonly filter: SearchFilter;
  /** newest: archived last comes first. */
  readonly order: 'best' | 'newest';
  readonly limit: number;
};

export type ArchiveOrigin = {
  readonly compactionId: number;
  readonly format: string;
  readonly sourcePath: string;
  readonly archivedAt: Date;
};

/** An archived line, or a captured message that is in the search index, without its bytes. No compaction has a captured one: that has 0. */
export type ArchivedLine = ArchiveOrigin & {
  /** Negative: it is captured, as the line with the same id without the sign. */
  readonly lineId: number;
  /** 1-based, in the source. */
  readonly line: number;
  readonly sizeBytes: number;
  /** The first half of its sha256 (hex). */
  readonly sha256: string;
  readonly outcome: ArchivedOutcome;
  readonly conversationId: string | null;
  /** The batch that summarizes it. */
  readonly batchLabel: string | null;
  readonly message: ArchivedMessage | null;
};

export type FoundMessage = ArchivedLine & { readonly message: ArchivedMessage };

export type ArchivedMessage = {
  /** The message's own id, otherwise `line:N`. */
  readonly id: string;
  readonly role: Role;
  readonly name: string | null;
  readonly at: Date | null;
  /** The 1-based position in the whole conversation; null: it has none. */
  readonly index: number | null;
};

export type ArchivedBatch = StoredBatch &
  ArchiveOrigin & {
    readonly conversationId: string;
    readonly cycle: number;
    /** A latest clip-archive still contains it. */
    readonly isLive: boolean;
  };

/** `score`: higher is better, comparable within one search; null: not ordered by score. */
export type Scored<T> = T & { readonly score: number | null };

export type BatchName =
  | { readonly kind: 'id'; readonly id: number }
  | { readonly kind: 'label'; readonly label: string }
  | { readonly kind: 'prefix'; readonly prefix: string };

export type LineName =
  | { readonly kind: 'id'; readonly id: number }
  /** As in `ArchivedMessage`. */
  | { readonly kind: 'message'; readonly messageId: string };

export type CompactionSummary = ArchiveOrigin & {
  readonly outputPath: string | null;
  readonly sourceSha256: string;
  readonly settingsSha256: string;
  readonly sizeBytes: { readonly before: number; readonly after: number };
  readonly lines: { readonly archived: number; readonly total: number };
  readonly conversations: readonly { readonly id: string; readonly cycle: number }[];
  /** Of the session; null: unknown. */
  readonly title: string | null;
};

export type ArchiveFigures = {
  readonly compactions: number;
  /** Unfinished compactions; the other figures do not include them. */
  readonly prepared: number;
  readonly conversations: number;
  readonly batches: number;
  readonly lines: number;
  readonly messages: number;
  /** Bytes of the archived lines, originally and as stored; and of the archive with its log files. */
  readonly bytes: StoredBytes & { readonly file: number };
  /** What the search index takes, and what it does not have yet. */
  readonly index: { readonly bytes: number; readonly unindexed: IndexBacklog };
  /** Whole files that were captured, and the bytes of their distinct lines. */
  readonly captured: { readonly files: number; readonly bytes: StoredBytes };
  readonly oldest: Date | null;
  readonly newest: Date | null;
  readonly formats: readonly {
    readonly format: string;
    readonly compactions: number;
    readonly lines: number;
    /** Of the archived lines, originally. */
    readonly bytes: number;
  }[];
};

type StoredBytes = { readonly original: number; readonly compressed: number };

export type OriginalLine = ArchivedLine & { readonly bytes: Uint8Array };

/** Finds what is archived. Only applied compactions are found, listed and counted. */
export type ArchiveLookup = {
  readonly messages: MessageIndex;
  /** Finds live batches, and replaced ones that contain a term that their replacement lacks; equal texts of a conversation come once. */
  readonly searchBatches: (query: BatchQuery) => Promise<readonly Scored<ArchivedBatch>[]>;
  /** By name, ordered by label. */
  readonly findBatches: (name: BatchName, limit: number) => Promise<readonly ArchivedBatch[]>;
  /** Oldest first; a line that was archived several times for one conversation comes once. */
  readonly findLines: (name: LineName, limit: number) => Promise<readonly ArchivedLine[]>;
  /** Lines by id, in the order of their ids. A captured line may be of several files: `filter` says of which. */
  readonly loadLines: (lineIds: readonly number[], filter?: SearchFilter) => Promise<readonly ArchivedLine[]>;
  /** The labels that share the longest beginning with a text. */
  readonly nearLabels: (text: string, limit: number) => Promise<readonly string[]>;
  /** The batches that a re-summarized one was made from, and the batches that replaced one. */
  readonly loadSources: (batchId: number) => Promise<readonly ArchivedBatch[]>;
  readonly loadReplacements: (batchId: number) => Promise<readonly ArchivedBatch[]>;
  /** The original lines of a batch and of its sources, each once, in their order and in batches. Checked against their hashes. */
  readonly readOriginals: (batchId: number) => AsyncIterable<readonly OriginalLine[]>;
  /** The bytes of a line, checked against its hash. */
  readonly readLine: (lineId: number) => Promise<Uint8Array>;
  /** The beginnings of lines, up to `maxBytes` each. Each block is decompressed once; nothing is checked. */
  readonly readHeads: (lineIds: readonly number[], maxBytes: number) => Promise<ReadonlyMap<number, Uint8Array>>;
  /** The beginning of what a captured file has before a captured line, if that is a part of the same line; null: it is not. */
  readonly readBefore: (lineId: number, maxBytes: number) => Promise<Uint8Array | null>;
  /** Lines with the first messages of users in a conversation, or else in a captured file; empty: they are not known. */
  readonly listOpenings: (session: {
    readonly conversation: string | null;
    readonly file: string;
  }) => Promise<readonly number[]>;
  /** Newest first. */
  readonly listCompactions: () => Promise<readonly CompactionSummary[]>;
  readonly measure: () => Promise<ArchiveFigures>;
};

/** What search may find; null: anything. */
export type SearchFilter = {
  readonly conversationId: string | null;
  readonly role: Role | null;
  /** Inclusive start, exclusive end; messages without a time are never in range. */
  readonly since: Date | null;
  readonly until: Date | null;
  /** The source file: its absolute path, or the end of it. */
  readonly source: string | null;
};

export type StoredCandidate = Candidate & {
  /** Of its line, as in `ArchivedLine`. */
  readonly sha256: string;
};

/** An index of the words in archived and captured messages. Ids are those of lines; neighboring messages have neighboring ids. */
export type MessageIndex = {
  /** The approximate number of messages. */
  readonly countMessages: () => Promise<number>;
  /** The names of everyone, person or model, who said a message. */
  readonly listSpeakers: () => Promise<readonly string[]>;
  /** How many messages contain each word; counting stops at `atMost`. */
  readonly countHits: (words: readonly QueryTerm[], atMost: number) => Promise<readonly number[]>;
  /** The messages that contain each word, ordered by id, including unfinished compactions; the filter only removes what is cheap to check. */
  readonly listHits: (words: readonly QueryTerm[], filter: SearchFilter) => Promise<readonly (readonly number[])[]>;
  /** Those of the given ids (ascending) that contain it. */
  readonly listHitsAmong: (word: QueryTerm, lineIds: readonly number[]) => Promise<readonly number[]>;
  /** The messages from a time, including unfinished compactions; at most `limit`, any of them. */
  readonly listFrom: (
    time: { readonly since: Date; readonly until: Date },
    limit: number,
  ) => Promise<readonly number[]>;
  /** Loads messages by id, in any order: only applied ones that pass the filter. */
  readonly loadCandidates: (lineIds: readonly number[], filter: SearchFilter) => Promise<readonly StoredCandidate[]>;
  /** Messages with any of the words: archived ones, archived last first, and then as many captured ones, captured last first. A line that is there several times for one conversation comes once. */
  readonly listNewest: (
    words: readonly QueryTerm[],
    limits: { readonly filter: SearchFilter; readonly limit: number },
  ) => Promise<readonly FoundMessage[]>;
};

/** What the search index does not have yet. */
export type IndexBacklog = {
  /** Archived messages, and captured lines, which may be messages. */
  readonly messages: number;
  readonly bytes: number;
};

/** A line that may be a message. */
export type UnindexedLine = {
  /** As in a `MessageIndex`. */
  readonly lineId: number;
  readonly format: string;
  /** 1-based, in the source; of a captured line, anything. */
  readonly line: number;
  /** The beginning, as much of it as search looks in. */
  readonly bytes: Uint8Array;
};

/** Lines that are taken into the index together. */
export type IndexSlice = IndexBacklog & {
  readonly lines: readonly UnindexedLine[];
  /** Runs of lines by their first ids. */
  readonly runs: readonly number[];
  /** Where the next slice begins. */
  readonly next: IndexCursor;
};

/** Archived lines come before captured ones, each newest first. `before`: the first id of the last run; null: begin. */
export type IndexCursor = { readonly kind: 'archived' | 'captured'; readonly before: number | null };

/** What is known of a captured message: an archived one has that beside its line. */
export type CapturedFacts = {
  readonly role: Role;
  readonly at: Date | null;
  readonly name: string | null;
  readonly traits: MessageTraits;
};

/** `text`: what search looks in. `captured`: null for an archived line. */
export type IndexedMessage = {
  readonly lineId: number;
  readonly text: string;
  readonly captured: CapturedFacts | null;
};

/** Takes stored lines into the search index, some at a time. What is stored is durable without it. */
export type SearchIndexer = {
  readonly measure: () => Promise<IndexBacklog>;
  /** At least one run of lines, and about `maxBytes`; null: there is nothing after the cursor. Unfinished compactions and damaged blocks are left out. */
  readonly read: (from: IndexCursor, maxBytes: number) => Promise<IndexSlice | null>;
  /** Adds the messages of a slice, all or none: those that nobody else has added or erased since. */
  readonly add: (slice: IndexSlice, messages: readonly IndexedMessage[]) => Promise<void>;
};

/** The model that made vectors. Vectors of different models cannot be compared. */
export type VectorModel = { readonly provider: string; readonly model: string; readonly dimensions: number };

export type MissingVector =
  | ({ readonly kind: 'message' } & Pick<ArchivedLine, 'lineId' | 'line' | 'format'>)
  | { readonly kind: 'batch'; readonly batchId: number; readonly content: string };

export type VectorDraft = {
  readonly kind: 'message' | 'batch';
  readonly id: number;
  /** Null: the text is empty. */
  readonly vector: Float32Array | null;
};

/** The position after which the list of missing vectors continues. */
export type VectorCursor = { readonly lineId: number; readonly batchId: number };

/** Only compactions of this source (sha256, hex); null: all. `isRemade`: list also what has a vector. */
export type MissingScope = { readonly sourceSha256: string | null; readonly isRemade: boolean };

/** Vectors of archived messages and batches. `keep`, `nearest…` and `similarities` need the extension that the archive was opened with. */
export type VectorStore = {
  /** Null: there are no vectors. */
  readonly findModel: () => Promise<VectorModel | null>;
  /** Counts what search can find. */
  readonly count: () => Promise<{ readonly done: number; readonly total: number }>;
  readonly countMissing: (scope: MissingScope) => Promise<number>;
  /** Messages first, then batches, each ordered by id. */
  readonly listMissing: (
    scope: MissingScope,
    page: { readonly after: VectorCursor; readonly limit: number },
  ) => Promise<readonly MissingVector[]>;
  /**
   * Stores vectors in one transaction. Vectors of another model are removed first ('replaced'), or, if `mayReplace` is false, nothing is
   * stored ('other-model').
   */
  readonly keep: (
    model: VectorModel,
    drafts: readonly VectorDraft[],
    options: { readonly mayReplace: boolean },
  ) => Promise<'kept' | 'replaced' | 'other-model'>;
  /** Ids of messages with a similar meaning that pass the filter, in no particular order. */
  readonly nearestMessages: (
    vector: Float32Array,
    limits: { readonly filter: SearchFilter; readonly limit: number },
  ) => Promise<readonly number[]>;
  /** Similarity of messages to a vector (1: the same, 0: nothing in common); messages without a vector are left out. */
  readonly similarities: (vector: Float32Array, lineIds: readonly number[]) => Promise<ReadonlyMap<number, number>>;
  /** Live batches with their similarity, best first; equal texts of one conversation come once. */
  readonly nearestBatches: (
    vector: Float32Array,
    limits: { readonly filter: SearchFilter; readonly limit: number },
  ) => Promise<readonly Scored<ArchivedBatch>[]>;
};
