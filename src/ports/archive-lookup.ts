import type { SummaryBatch, SummaryLevel } from '../core/batch.ts';
import type { Role } from '../core/message.ts';
import type { QueryTerm } from '../core/search/question.ts';
import type { Candidate } from '../core/search/rank.ts';

/** A batch as stored. */
export type StoredBatch = SummaryBatch & {
  readonly id: number;
  readonly label: string;
  /** Of `content` (UTF-8) when it was stored, hex: a text that differs from it was changed since. */
  readonly contentSha256: string;
  readonly level: SummaryLevel;
};

export type ArchivedOutcome = 'summarized' | 'other' | 'survived';

/** What is looked for among the batches. */
export type BatchQuery = {
  /** Words, or words that stand together, parted by one space; what is found has one of them at the least. */
  readonly terms: readonly string[];
  /** A batch has no role, and the time from its first message to its last. */
  readonly filter: SearchFilter;
  /** newest: what was archived last comes first. */
  readonly order: 'best' | 'newest';
  readonly limit: number;
};

/** The compaction that something was archived by. */
export type ArchiveOrigin = {
  readonly compactionId: number;
  readonly format: string;
  readonly sourcePath: string;
  readonly archivedAt: Date;
};

/** An archived line, without its bytes. */
export type ArchivedLine = ArchiveOrigin & {
  readonly lineId: number;
  /** In the source, from 1. */
  readonly line: number;
  readonly sizeBytes: number;
  /** hex */
  readonly sha256: string;
  readonly outcome: ArchivedOutcome;
  readonly conversationId: string | null;
  /** The batch that it was summarized in. */
  readonly batchLabel: string | null;
  readonly message: ArchivedMessage | null;
};

/** A line that is a message. */
export type FoundMessage = ArchivedLine & { readonly message: ArchivedMessage };

export type ArchivedMessage = {
  /** Its own in the transcript, else `line:N`. */
  readonly id: string;
  readonly role: Role;
  readonly name: string | null;
  readonly at: Date | null;
  /** 1-based over the conversation's life; null: it has no place there. */
  readonly index: number | null;
};

export type ArchivedBatch = StoredBatch &
  ArchiveOrigin & {
    readonly conversationId: string;
    readonly cycle: number;
    /** The clip-archive of some lineage's latest cycle speaks of it. */
    readonly isLive: boolean;
  };

/** `score`: the higher the better, comparable among those of one search; null where the order is not by score. */
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
};

export type ArchiveFigures = {
  readonly compactions: number;
  readonly conversations: number;
  readonly batches: number;
  readonly lines: number;
  readonly messages: number;
  /** Of the archived lines, as they stood in their transcripts and as they are stored. */
  readonly originalBytes: number;
  readonly compressedBytes: number;
  /** Of the archive and the logs beside it. */
  readonly fileBytes: number;
  readonly oldest: Date | null;
  readonly newest: Date | null;
  /** Compactions that were begun and neither confirmed nor taken back yet; the other figures leave them out. */
  readonly prepared: number;
  readonly formats: readonly {
    readonly format: string;
    readonly compactions: number;
    readonly lines: number;
    readonly originalBytes: number;
  }[];
};

/** Finding things again. Only what belongs to an applied compaction is found, listed and counted. */
export type ArchiveLookup = {
  readonly messages: MessageIndex;
  /** Live ones, and those that a later one replaced where they say a term that it does not; equal texts of one conversation come once. */
  readonly searchBatches: (query: BatchQuery) => readonly Scored<ArchivedBatch>[];
  /** By name, ordered by label. */
  readonly findBatches: (name: BatchName, limit: number) => readonly ArchivedBatch[];
  /** Oldest first; a line that was archived more than once for one conversation comes once. */
  readonly findLines: (name: LineName, limit: number) => readonly ArchivedLine[];
  /** The labels that begin most like a text. */
  readonly nearLabels: (text: string, limit: number) => readonly string[];
  /** What a re-summarized batch was made from, and the batches that replaced one. */
  readonly loadSources: (batchId: number) => readonly ArchivedBatch[];
  readonly loadReplacements: (batchId: number) => readonly ArchivedBatch[];
  /** The lines behind a batch, those of its sources too: each once, in the order in which they stood. Checked against their hashes. */
  readonly readOriginals: (batchId: number) => IterableIterator<ArchivedLine & { readonly bytes: Uint8Array }>;
  /** The bytes of a line, checked against its hash. */
  readonly readLine: (lineId: number) => Uint8Array;
  /** The first bytes of lines, `maxBytes` of each at the most; each block is unpacked once, and nothing is checked. */
  readonly readHeads: (lineIds: readonly number[], maxBytes: number) => ReadonlyMap<number, Uint8Array>;
  /** Newest first. */
  readonly listCompactions: () => readonly CompactionSummary[];
  readonly measure: () => ArchiveFigures;
};

/** What may be found; null: any. */
export type SearchFilter = {
  readonly conversationId: string | null;
  readonly role: Role | null;
  /** From then on, and until before then; what has no time is in neither. */
  readonly since: Date | null;
  readonly until: Date | null;
  /** The file it stood in: its path from the root, or the end of one. */
  readonly source: string | null;
};

export type StoredCandidate = Candidate & {
  /** Of its line, hex. */
  readonly sha256: string;
};

/** The archived messages by their words. Ids are those of lines, and messages near each other have ids near each other. */
export type MessageIndex = {
  /** About as many as there are. */
  readonly countMessages: () => number;
  /** Everybody, people and models, who is named as having said a message. */
  readonly listSpeakers: () => readonly string[];
  /** How many messages have a word; no more than `atMost` are counted. */
  readonly countHits: (word: QueryTerm, atMost: number) => number;
  /** Those that have it, in order of ids, whether they were applied or not; a filter leaves out what it can cheaply. */
  readonly listHits: (word: QueryTerm, filter: SearchFilter) => readonly number[];
  /** Those of some (in order) that have it. */
  readonly listHitsAmong: (word: QueryTerm, lineIds: readonly number[]) => readonly number[];
  /** What can be found of some ids, in any order: applied, let through by the filter, and a message. */
  readonly loadCandidates: (lineIds: readonly number[], filter: SearchFilter) => readonly StoredCandidate[];
  /** What has any of the words, what was archived last first; a line that was archived more than once for one conversation comes once. */
  readonly listNewest: (
    words: readonly QueryTerm[],
    limits: { readonly filter: SearchFilter; readonly limit: number },
  ) => readonly FoundMessage[];
  /** Does several of these in one state of the archive. */
  readonly inOneState: <T>(work: () => T) => T;
};
