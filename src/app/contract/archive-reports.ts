import type { Count, IsoTime, Ordinal, Sha256 } from '../../core/units.ts';
import type { BatchReport } from './reports.ts';
import type { ArchiveRole, Caller, Deed } from '../../ports/archive.ts';

// The plain data of the commands that read the archive. `archive` null: it does not exist yet.

/** The place of a found word, in UTF-16 units of the text; `end` is exclusive. */
type MarkReport = { readonly start: Count; readonly end: Count };

type HitCommon = {
  /** The name for `compact show`: `message:N`, `captured:N`, `batch:N`. */
  readonly show: string;
  /** Absolute path of the source. */
  readonly file: string;
  /** Whose session it is in: 'Claude Code'; or else its format. */
  readonly program: string;
  /** What its session is about: the first line of the first request; null: unknown, or not asked for. */
  readonly title: string | null;
  /** Higher is better; null if sorted by time. A batch's score is on the same scale as a message's. */
  readonly score: number | null;
  /** An excerpt around the words found. */
  readonly text: string;
  readonly marks: readonly MarkReport[];
};

export type MessageHit = HitCommon & {
  readonly kind: 'message';
  /** Its own id in the transcript, or `line:N`. */
  readonly id: string;
  /** The batch that summarizes it. */
  readonly label: string | null;
  readonly conversation: string | null;
  readonly role: string;
  readonly name: string | null;
  readonly at: IsoTime | null;
  /** Position in the conversation since its beginning, from 1. */
  readonly index: Ordinal | null;
  /** Line in the source, from 1. */
  readonly line: Ordinal;
};

export type BatchHit = HitCommon & {
  readonly kind: 'batch';
  /** The same as `label`. */
  readonly id: string;
  readonly label: string;
  readonly conversation: string;
  readonly depth: Count;
  readonly count: Count;
  readonly start: IsoTime | null;
  /** The time of the last message that it summarizes. */
  readonly at: IsoTime | null;
};

export type SearchHit = MessageHit | BatchHit;

/** Archived messages, and captured lines, of which some are messages. */
type BacklogReport = { readonly messages: Count; readonly bytes: Count };

/** What `archive grants` prints. */
export type ArchiveGrantsReport = {
  readonly schema: 'compact/archive-grants@1';
  readonly database: string;
  readonly role: ArchiveRole;
  /** Of the role on the server. */
  readonly name: string;
  readonly sql: readonly string[];
};

/** What `archive index` did. */
export type ArchiveIndexReport = {
  readonly schema: 'compact/archive-index@1';
  /** Null: there is none yet. */
  readonly archive: string | null;
  readonly indexed: BacklogReport;
  readonly left: BacklogReport;
};

export type SearchReport = {
  readonly schema: 'compact/search@1';
  readonly query: string;
  readonly hits: readonly SearchHit[];
  readonly archive: string | null;
  /** What is stored and could not be searched, because it is not in the search index yet; null: everything was searched. */
  readonly unindexed:
    | (BacklogReport & { readonly why: 'more' | 'unreadable' | 'read-only' | 'never' | 'busy' | 'no-space' })
    | null;
  /** Why this query failed; only set if there are several queries. */
  readonly error?: string;
};

export type BatchShown = BatchReport & {
  readonly schema: 'compact/show@1';
  readonly kind: 'batch';
  readonly show: string;
  readonly conversation: string;
  /** Which compaction of the conversation made it, from 1. */
  readonly cycle: Count;
  /** Positions of the first and the last message in the conversation since its beginning, from 1. */
  readonly indices: { readonly first: Count; readonly last: Count } | null;
  readonly file: string;
  readonly format: string;
  readonly archivedAt: IsoTime;
  /** A clip-archive still contains it. */
  readonly isLive: boolean;
  /** The batches that it merges; empty if it was made from messages. */
  readonly sources: readonly BatchReport[];
  /** Labels of the batches that replaced it. */
  readonly replacedBy: readonly string[];
  readonly sha256: Sha256;
  readonly text: string;
};

export type MessageShown = {
  readonly schema: 'compact/show@1';
  readonly kind: 'message';
  readonly show: string;
  readonly id: string | null;
  readonly label: string | null;
  readonly conversation: string | null;
  /** Null: the line is not a message. */
  readonly role: string | null;
  readonly name: string | null;
  readonly at: IsoTime | null;
  readonly index: Ordinal | null;
  readonly file: string;
  readonly format: string;
  readonly line: Ordinal;
  readonly archivedAt: IsoTime;
  readonly sha256: Sha256;
  /** The words of the message, without its format's markup. */
  readonly text: string;
  /** The original line with its line ending; in base64 if it is not valid UTF-8. */
  readonly original: { readonly encoding: 'utf-8' | 'base64'; readonly data: string };
};

/** A compaction, by the key in the last line of its clip-archives. */
export type CompactionShown = {
  readonly schema: 'compact/show@1';
  readonly kind: 'compaction';
  readonly show: string;
  readonly file: string;
  readonly output: string | null;
  readonly format: string;
  readonly archivedAt: IsoTime;
  readonly conversations: readonly { readonly id: string; readonly cycle: Count }[];
  readonly lines: { readonly archived: Count; readonly total: Count };
  /** All batches in its clip-archives, oldest first. */
  readonly batches: readonly BatchReport[];
  /** Hash of the source. */
  readonly sha256: Sha256;
};

export type ShowReport = BatchShown | MessageShown | CompactionShown;

type ArchivedCompactionReport = {
  readonly at: IsoTime;
  readonly file: string;
  /** As `scan` shows it; null: unknown. */
  readonly title: string | null;
  readonly output: string | null;
  readonly format: string;
  readonly conversations: readonly { readonly id: string; readonly cycle: Count }[];
  readonly lines: { readonly archived: Count; readonly total: Count };
  readonly bytes: { readonly before: Count; readonly after: Count };
  /** Hash of the source. */
  readonly sha256: Sha256;
};

export type ArchiveListReport = {
  readonly schema: 'compact/archive-list@1';
  readonly archive: string | null;
  /** Newest first. */
  readonly compactions: readonly ArchivedCompactionReport[];
};

/** What `archive backup` wrote. */
export type ArchiveBackupReport = {
  readonly schema: 'compact/archive-backup@1';
  readonly archive: string | null;
  /** Absolute path; null: there is no archive yet. */
  readonly backup: string | null;
  readonly bytes: Count;
};

/** Who did what to the archive. */
export type ArchiveLogReport = {
  readonly schema: 'compact/archive-log@1';
  readonly archive: string | null;
  /** Oldest first. */
  readonly entries: readonly {
    readonly at: IsoTime;
    readonly by: Caller;
    readonly action: Deed['action'];
    /** Counts, receipts, paths and reasons. */
    readonly details: Readonly<Record<string, unknown>>;
  }[];
};

/** What transcripts of one folder, format or month take: bytes of the search index and of the catalog are shares. */
export type ArchiveGroup = {
  readonly name: string;
  readonly compactions: Count;
  readonly lines: Count;
  readonly bytes: {
    readonly original: Count;
    readonly lines: Count;
    readonly index: Count;
    readonly captures: Count;
    readonly catalog: Count;
  };
};

export type ArchiveStatsReport = {
  readonly schema: 'compact/archive-stats@1';
  readonly archive: string | null;
  readonly compactions: Count;
  /** Started, but neither confirmed nor undone yet. */
  readonly prepared: Count;
  readonly conversations: Count;
  readonly batches: Count;
  readonly lines: Count;
  readonly messages: Count;
  readonly bytes: {
    readonly original: Count;
    readonly compressed: Count;
    readonly file: Count;
    /**
     * Size of the archive's file relative to all originals, captured ones too; null if there are none.
     * @minimum 0
     */
    readonly share: number | null;
  };
  /** What the search index takes of the file, and what it does not have yet. */
  readonly index: { readonly bytes: Count; readonly unindexed: BacklogReport };
  /** Files of `compact capture`: the bytes of their distinct lines. */
  readonly captured: {
    readonly files: Count;
    readonly bytes: { readonly original: Count; readonly compressed: Count };
  };
  /** For search by meaning: how many messages and batches have a vector; null: none. */
  readonly vectors: {
    readonly provider: string;
    readonly model: string;
    readonly dimensions: Count;
    readonly done: Count;
    readonly total: Count;
  } | null;
  readonly oldest: IsoTime | null;
  readonly newest: IsoTime | null;
  /** With --by. */
  readonly groups?: readonly ArchiveGroup[];
  readonly formats: readonly {
    readonly format: string;
    readonly compactions: Count;
    readonly lines: Count;
    readonly bytes: Count;
  }[];
};

export type HoldReport = {
  readonly kind: 'conversation' | 'source';
  /** A conversation's id, or a glob for paths. */
  readonly value: string;
  readonly reason: string | null;
  readonly addedAt: IsoTime;
};

export type ArchiveHoldReport = {
  readonly schema: 'compact/archive-hold@1';
  readonly archive: string | null;
  /** `missing`: there was no such hold to remove. */
  readonly result: 'listed' | 'added' | 'removed' | 'missing';
  /** All holds as they are now. */
  readonly holds: readonly HoldReport[];
  /** What the added hold protects now; null: none was added. */
  readonly protects: { readonly conversations: Count; readonly capturedFiles: Count } | null;
  /** False: an erasure is not finished, so freed space still has the bytes. */
  readonly isPurged: boolean;
};

/** What an erasure removed, in counts and hashes. */
export type ReceiptReport = {
  readonly receipt: string;
  readonly kind: 'erase' | 'prune';
  readonly at: IsoTime;
  readonly reason: string | null;
  readonly compactions: Count;
  readonly lines: Count;
  readonly bytes: Count;
  readonly captured: { readonly files: Count; readonly lines: Count };
  readonly summaries: Count;
  readonly paidSummaries: Count;
  readonly vectors: Count;
  /** Notes that hooks made of a session's rules. */
  readonly notes: Count;
  /** Rules that were dropped for good, and pinned messages. */
  readonly choices: Count;
  /** sha256 of the hashes of all erased lines. */
  readonly sha256: Sha256;
};

export type ArchiveReceiptsReport = {
  readonly schema: 'compact/archive-receipts@1';
  readonly archive: string | null;
  /** Newest first. */
  readonly receipts: readonly ReceiptReport[];
  /** False: an erasure is not finished, so freed space still has the bytes. */
  readonly isPurged: boolean;
};

/** A compaction of which lines go. */
type ErasedPart = {
  readonly file: string;
  readonly conversations: readonly string[];
  readonly archivedAt: IsoTime;
  readonly lines: Count;
  readonly bytes: Count;
};

export type ArchiveEraseReport = {
  readonly schema: 'compact/archive-erase@1';
  readonly archive: string | null;
  /** planned: without --yes nothing is erased. refused: a hold protects it. */
  readonly result: 'nothing' | 'planned' | 'refused' | 'erased';
  readonly kind: 'erase' | 'prune';
  /** Everything that the archive has would go. */
  readonly isEverything: boolean;
  /** Stored model answers that were made before this go too; null: none. */
  readonly paidBefore: IsoTime | null;
  /** Captured files that could not be searched: compressed ones that cannot be decompressed to their end, all if a message is erased by its id, and
   * those that share records of a conversation with others. */
  readonly unsearched: Count;
  readonly parts: readonly ErasedPart[];
  readonly lines: Count;
  readonly bytes: Count;
  readonly captured: { readonly files: Count; readonly lines: Count };
  /** The holds that protect a part of it. For a prune: what they protect stays. */
  readonly held: readonly HoldReport[];
  readonly receipt: ReceiptReport | null;
  /** False: freed space still has the bytes. The next command finishes this. */
  readonly isPurged: boolean;
  /** Why it still has them, and what to do. */
  readonly purgeProblem: string | null;
  /** True: the archive is on a database server, whose write-ahead log, backups and replicas still have the text for a while. */
  readonly isOnServer: boolean;
  /** Transcripts outside the archive that may still have the text. */
  readonly files: readonly string[];
  /** The captured files that go. */
  readonly capturedFiles: readonly string[];
  /** Those of them that are gone from the disk: the archive has the only copy. */
  readonly onlyCopies: readonly string[];
  /** The files with notes of hooks that go. */
  readonly notes: readonly string[];
};

/** How much of one kind was new in the target, already there, or left out. */
export type MergeCount = { readonly new: Count; readonly known: Count; readonly refused: Count };

/** What came from one archive. */
export type MergedArchive = {
  readonly archive: string;
  /** Refused: not finished, erased whole, or pruned in the target. */
  readonly compactions: MergeCount;
  /** Archived lines of new compactions. Refused: erased. One that was erased whole has none. */
  readonly lines: MergeCount;
  /** Captured files. New: with a state that the target lacked. Refused: pruned in the target. */
  readonly captured: MergeCount;
  readonly holds: MergeCount;
  /** Rules that were dropped for good, and pinned messages. */
  readonly choices: MergeCount;
  /** Receipts of erasures. */
  readonly receipts: MergeCount;
  /** Stored model answers. Refused: the target, or another archive, has erased its own since. */
  readonly summaries: MergeCount;
  /** Refused: made by another model, or the extension for vectors is not installed. */
  readonly vectors: MergeCount;
  /** Batches that were sent to a provider and not collected there. They are not merged. */
  readonly uncollectedBatches: Count;
};

export type ArchiveMergeReport = {
  readonly schema: 'compact/archive-merge@1';
  readonly archive: string;
  readonly result: 'merged' | 'unchanged';
  readonly merged: readonly MergedArchive[];
};

export type ArchiveExportReport = {
  readonly schema: 'compact/archive-export@1';
  readonly archive: string;
  readonly folder: string;
  /** Nothing was left out by --conversation, --source, --since or --until. */
  readonly isComplete: boolean;
  readonly compactions: Count;
  /** Archived lines. */
  readonly lines: Count;
  readonly capturedFiles: Count;
};
