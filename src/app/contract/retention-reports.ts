import type { Count, IsoTime, Sha256 } from '../../core/units.ts';

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
  /** Rules that were dropped for good, as `compact rules` notes them. */
  readonly droppedRules: Count;
  /** sha256 of the sha256s of all erased lines. */
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
export type ErasedPart = {
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
  /** Rules that were dropped for good. */
  readonly droppedRules: MergeCount;
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
