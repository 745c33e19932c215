/** What a hold protects: one conversation, or every file whose path matches a glob. */
export type HoldScope = { readonly kind: 'conversation' | 'source'; readonly value: string };

/** Whatever it protects is neither pruned nor erased. */
export type Hold = HoldScope & { readonly id: number; readonly reason: string | null; readonly addedAt: Date };

/**
 * What a person chose for a conversation for good.
 * - drop-rule: rules that contain the text are dropped. Any file can claim to be that conversation, so they are dropped only in the transcript
 *   at this path, and in what was compacted or restored beside it
 * - pin: a message stays word for word, in every file of the conversation. `text`: its id, or `sha256:` and the hash of its line
 */
export type Choice = {
  readonly kind: 'drop-rule' | 'pin';
  readonly conversationId: string;
  readonly path: string;
  readonly text: string;
  readonly chosenAt: Date;
};

export type Choices = {
  readonly list: () => Promise<readonly Choice[]>;
  /** False: it was chosen before. */
  readonly add: (choice: Choice) => Promise<boolean>;
  readonly remove: (choice: Choice) => Promise<void>;
};

/** What a hook noted of a session's rules, in a file of its own. */
export type SessionNote = { readonly session: string; readonly path: string; readonly text: string };

export type SessionNotes = {
  readonly list: () => readonly SessionNote[];
  readonly remove: (note: SessionNote) => void;
};

/** Which erasure removed something. */
export type ErasureMark = { readonly receipt: string; readonly at: Date };

/** An applied compaction that was not erased. */
export type ErasableCompaction = {
  readonly id: number;
  /** The name of the transcript's format. */
  readonly format: string;
  readonly sourcePath: string;
  /** Every transcript that it compacted, and every file that it was written to: identical transcripts share a compaction. */
  readonly paths: readonly string[];
  /** When it was made, or a run last used it again. */
  readonly archivedAt: Date;
  /** The archived lines that are left, and their bytes. */
  readonly lines: number;
  readonly bytes: number;
  /** The bytes that they take in the archive. */
  readonly storedBytes: number;
  readonly cycles: readonly {
    readonly id: number;
    readonly parentId: number | null;
    readonly conversationId: string;
  }[];
};

/** A message that is archived as a line of its own. */
export type MessageLine = {
  readonly lineId: number;
  readonly compactionId: number;
  readonly conversationId: string | null;
  readonly sizeBytes: number;
};

/** Usually a line. `bytes`: null if it was erased. */
export type CapturedPiece = { readonly id: number; readonly bytes: Uint8Array | null };

/** `lastFileId`: that of `RetentionStore`, from before anything else was read. */
export type KeptCount = { readonly count: number; readonly lastId: number; readonly lastFileId: number };

/** Ids of what an erasure removes. Summaries made from it, vectors and words in the search index go with it. */
export type ErasedIds = {
  readonly compactionIds: readonly number[];
  /** Single lines of other compactions. */
  readonly lineIds: readonly number[];
  /** Captured lines with the same bytes are erased too. */
  readonly takesCopies: boolean;
  /** Further cycles whose summaries are erased. */
  readonly cycleIds: readonly number[];
  /** Captured files to erase, with all lines that no other captured file has. */
  readonly capturedFileIds: readonly number[];
  readonly capturedLineIds: readonly number[];
};

export type ErasurePlan = ErasedIds & {
  readonly kind: 'erase' | 'prune';
  readonly at: Date;
  readonly reason: string | null;
  /** Some of it is protected by a hold. */
  readonly despiteHold: boolean;
  /** For the receipt: what is removed apart from the plan. */
  readonly aside: { readonly notes: number; readonly choices: number };
  /** Which stored model answers to delete. Nothing records what they were made from. */
  readonly paid: 'all' | 'none' | { readonly before: Date };
  /** The compactions of `listErasable`: if there are others by now, or unfinished ones, or other files that have their output, nothing is erased ('busy'). */
  readonly kept: KeptCount;
  /** The ids of all holds that were considered: if there are others by now, nothing is erased ('busy'). */
  readonly holdIds: readonly number[];
};

/** What an erasure changes, with the summaries and the copies that go beyond what was selected. */
export type ErasureEffect = { readonly compactionIds: readonly number[]; readonly capturedFileIds: readonly number[] };

/** The receipt of an erasure: counts and hashes, and no text. */
export type Erasure = ErasureMark & {
  readonly kind: ErasurePlan['kind'];
  readonly reason: string | null;
  readonly compactions: number;
  readonly lines: number;
  readonly capturedFiles: number;
  readonly capturedLines: number;
  readonly bytes: number;
  readonly summaries: number;
  readonly paidSummaries: number;
  readonly vectors: number;
  readonly notes: number;
  readonly choices: number;
  /** sha256 (hex) of the hashes of all erased lines, in the order of their ids; captured lines follow archived ones. */
  readonly sha256: string;
};

/** Keeps and removes what is archived. Methods fail as those of the archive do. */
export type RetentionStore = {
  readonly listHolds: () => Promise<readonly Hold[]>;
  /** Replaces a hold of the same scope. */
  readonly addHold: (hold: Omit<Hold, 'id'>) => Promise<void>;
  /** False: there is no such hold. */
  readonly removeHold: (scope: HoldScope, at: Date) => Promise<boolean>;
  /** The id of the last file that was recorded; 0: none. */
  readonly lastFileId: () => Promise<number>;
  /** Oldest first, in batches. */
  readonly listErasable: () => AsyncIterable<readonly ErasableCompaction[]>;
  readonly findMessageLines: (messageId: string) => Promise<readonly MessageLine[]>;
  /** The pieces of a captured state's version, in batches and in their order. */
  readonly readPieces: (stateId: number) => AsyncIterable<readonly CapturedPiece[]>;
  /** What `erase` would change. */
  readonly findEffect: (ids: ErasedIds) => Promise<ErasureEffect>;
  /**
   * Removes what the plan names, in one transaction. The freed space still has its bytes until `purge`. An archive with vectors must be
   * opened with their extension.
   */
  readonly erase: (plan: ErasurePlan) => Promise<Erasure>;
  /** Overwrites what erasures have freed. False: another program is using the archive; call it again later. */
  readonly purge: () => Promise<boolean>;
  /** False: freed space may still have the bytes of what was erased. */
  readonly isPurged: () => Promise<boolean>;
  /** Newest first. */
  readonly listErasures: () => Promise<readonly Erasure[]>;
};
