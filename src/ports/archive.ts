import type { SummaryBatch, SummaryLevel } from '../core/batch.ts';
import type { ModelUsage } from '../core/model-request.ts';
import type { MessageTraits } from '../core/search/query-hints.ts';
import type {
  ArchivedMessage,
  ArchivedOutcome,
  ArchiveLookup,
  StoredBatch,
  SearchIndexer,
  VectorStore,
} from './archive-lookup.ts';
import type { ArchiveWriter, CaptureStore } from './captures.ts';
import type { BatchRecords } from './batch.ts';
import type { Choices, ErasureMark, RetentionStore } from './retention.ts';
import type { Count } from '../core/units.ts';

/** A batch of this compaction (by its position in `newBatches`), or one of an earlier one. */
export type BatchRef =
  | { readonly kind: 'new'; readonly position: number }
  | { readonly kind: 'stored'; readonly id: number };

export type BatchDraft = SummaryBatch & {
  /** The batches that a re-summarized one replaces; empty at depth 0. */
  readonly sources: readonly BatchRef[];
  /** By default plain. */
  readonly level?: SummaryLevel;
};

/** What one compaction does to one conversation. */
export type CycleDraft = {
  readonly conversationId: string;
  /** 1 for a conversation's first compaction. */
  readonly cycle: number;
  /** The cycle that this one continues (lineage). */
  readonly parentCycleId: number | null;
  /** sha256, hex, of the clip-archive's line without its line ending. */
  readonly clipSha256: string;
  /** Messages that have left the transcript over all cycles. */
  readonly messagesCompressed: number;
  readonly newBatches: readonly BatchDraft[];
  /** The live batches, oldest first. */
  readonly live: readonly BatchRef[];
  /** What people call the session of the file: the first conversation of a compaction has it; null or absent: there is none. */
  readonly title?: string | null;
};

/** The message of an archived line, for search. */
export type MessageDraft = ArchivedMessage & { readonly traits: MessageTraits };

export type LineDraft = {
  /** 1-based, in the source. */
  readonly line: number;
  /** Exact, line ending included. */
  readonly bytes: Uint8Array;
  readonly outcome: ArchivedOutcome;
  /** Position in the compaction's `cycles`; null: belongs to no conversation. */
  readonly cycle: number | null;
  /** Of a summarized line: position in its cycle's `newBatches`. */
  readonly batch: number | null;
  readonly message: MessageDraft | null;
};

/** A line quoted verbatim in an earlier clip-archive that is summarized now. */
export type CarriedLine = { readonly lineId: number; readonly cycle: number; readonly batch: number };

/** Our own bytes, line ending included; they go before source line `beforeLine`, or to the end (`lineCount` + 1). */
export type InsertedLine = { readonly beforeLine: number; readonly bytes: Uint8Array };

/**
 * One invocation of the program; `token` is different for each. Up to its first hyphen it names the user and the machine. `command`: its command
 * line without secrets; null: another program called it.
 */
export type RunMark = {
  readonly token: string;
  readonly begunAt: Date;
  readonly by: Caller;
  readonly command: string | null;
};

/** Everything that one compaction of one file stores, except its lines. */
export type CompactionDraft = {
  readonly format: string;
  /** The run that writes its output; null: no file is involved. */
  readonly run: RunMark | null;
  /** Absolute, like the output's path. */
  readonly sourcePath: string;
  /** Where links in it lead: what is decided about that path concerns the compaction too. */
  readonly realPath?: string;
  /** Null: standard output. */
  readonly outputPath: string | null;
  readonly source: {
    readonly sha256: string;
    readonly sizeBytes: number;
    readonly lineCount: number;
    readonly hasBom: boolean;
  };
  readonly output: { readonly sha256: string; readonly sizeBytes: number };
  /** sha256 of `settings`. */
  readonly settingsSha256: string;
  /** The settings that the result depends on, as JSON. */
  readonly settings: string;
  readonly createdAt: Date;
  readonly processId: number;
  readonly cycles: readonly CycleDraft[];
  readonly inserted: readonly InsertedLine[];
  readonly carried: readonly CarriedLine[];
  /** The kept lines, as runs of source lines, in order. */
  readonly kept: readonly KeptRun[];
};

export type KeptRun = {
  readonly firstLine: number;
  readonly lineCount: number;
  readonly sizeBytes: number;
  /** The first half of each, in hex. */
  readonly lineSha256: readonly string[];
};

export type StoredCycle = {
  readonly id: number;
  readonly compactionId: number;
  readonly conversationId: string;
  readonly cycle: number;
  readonly parentCycleId: number | null;
  readonly parentCompactionId: number | null;
  readonly clipSha256: string;
  readonly messagesCompressed: number;
  /** Null: there is none, or it is the one that was stored before for this conversation. */
  readonly title: string | null;
  /** A summary in its clip-archive was erased. */
  readonly isErased: boolean;
  readonly live: readonly StoredBatch[];
  /** The batches of this cycle, in the order in which they were made. */
  readonly made: readonly (StoredBatch & { readonly sources: readonly number[] })[];
};

/** `erasedSha256`: sha256 (hex) of a line whose bytes were erased; null: it has its bytes. */
export type StoredInsertedLine = InsertedLine & { readonly erasedSha256: string | null };

export type StoredCompaction = Omit<CompactionDraft, 'cycles' | 'carried' | 'run' | 'inserted'> & {
  readonly id: number;
  /** erased: only what is needed to recognize its output is left. */
  readonly status: 'prepared' | 'applied' | 'erased';
  /** The last erasure that removed anything of it; null: it is complete. */
  readonly erased: ErasureMark | null;
  readonly inserted: readonly StoredInsertedLine[];
  readonly cycles: readonly StoredCycle[];
};

export type StoredLine = {
  readonly id: number;
  readonly line: number;
  readonly outcome: ArchivedOutcome;
  readonly cycleId: number | null;
  readonly batchId: number | null;
  /** Empty if the line was erased. */
  readonly bytes: Uint8Array;
  readonly messageIndex: number | null;
  /** Null: it was not erased. */
  readonly erased: ErasureMark | null;
};

export type ArchiveFailure =
  /** advice: what to try; by default, another archive. */
  | { readonly kind: 'cannot-open'; readonly path: string; readonly reason: string; readonly advice?: string }
  | { readonly kind: 'not-ours'; readonly path: string; readonly reason: string }
  /** reason: what its engine cannot do, as a clause. */
  | { readonly kind: 'unsupported'; readonly path: string; readonly reason: string; readonly advice: string }
  | { readonly kind: 'newer'; readonly path: string; readonly version: number; readonly supported: number }
  | { readonly kind: 'damaged'; readonly path: string; readonly reason: string }
  /** It was there, and was erased on purpose. */
  | ({ readonly kind: 'erased'; readonly path: string } & ErasureMark)
  /** An export that was changed, is incomplete, or cannot be written. `path`: of the file; `line`: or row, from 1. */
  | {
      readonly kind: 'bad-export';
      readonly path: string;
      readonly line: number | null;
      readonly reason: string;
      readonly advice: string;
    }
  | { readonly kind: 'busy'; readonly path: string }
  /** needs: what rewriting the file without erased bytes would take on a disk. Then nothing was erased. */
  | { readonly kind: 'no-space'; readonly path: string; readonly needs?: NeededRoom };

type NeededRoom = { readonly folder: string; readonly neededBytes: number; readonly freeBytes: number };

/** Thrown by a method of an open archive; carries the failure as data. */
export type ArchiveError = Error & { readonly failure: ArchiveFailure };

/**
 * Stores everything that leaves a transcript. Methods reject with an `ArchiveError` for failures of the database; `attempt` in
 * `app/contract/failure.ts` turns them into results. Writes wait for each other.
 */
export type Archive = ArchiveLookup & {
  readonly path: string;
  /** The file or its folder is read-only: nothing can be stored or settled. */
  readonly isReadOnly: boolean;
  /** False: others cannot read while something is being stored. SQLite needs its write-ahead log for that, which some network file systems lack. */
  readonly isReadableWhileStoring: boolean;
  /** Applied or erased cycles that wrote this clip-archive line, newest first. */
  readonly findCycles: (clipSha256: string) => Promise<readonly StoredCycle[]>;
  readonly loadCompaction: (id: number) => Promise<StoredCompaction | null>;
  /** An applied and complete compaction of the same bytes under the same settings. */
  readonly findSame: (sourceSha256: string, settingsSha256: string) => Promise<StoredCompaction | null>;
  readonly summaries: SummaryCache;
  readonly providerBatches: BatchRecords;
  readonly runs: RunLog;
  readonly log: AuditLog;
  readonly vectors: VectorStore;
  readonly index: SearchIndexer;
  readonly captures: CaptureStore;
  readonly retention: RetentionStore;
  readonly choices: Choices;
  /** Begins to store a compaction. Whoever calls this must end it with `commit` or `abandon`, because other writes wait for that. */
  readonly begin: (outline: CompactionOutline) => Promise<CompactionWriter>;
  readonly markApplied: (id: number) => Promise<void>;
  /** Removes a prepared compaction with everything that it stored. */
  readonly discard: (id: number) => Promise<void>;
  /** The bytes that the committed content takes, without free pages: how much a compaction adds is a difference of two. */
  readonly usedBytes: () => Promise<number>;
  readonly listPrepared: () => Promise<readonly PreparedCompaction[]>;
  /** Archived lines of a compaction in order, in batches; each block is decompressed once and each line checked against its hash. */
  readonly readLines: (compactionId: number) => AsyncIterable<readonly StoredLine[]>;
  /** The lines that a cycle's clip-archive quotes verbatim. */
  readonly readSurvivors: (cycleId: number) => Promise<readonly StoredLine[]>;
  /**
   * Checks everything that is stored, in one state of the archive and in bounded memory, and changes nothing. The caller may stop between two
   * steps.
   */
  readonly check: () => AsyncIterable<ArchiveCheckStep>;
  /** Runs several calls on one state of the archive: those of the archive that `work` gets. They must only read. */
  readonly inOneState: <T>(work: (state: ArchiveState) => Promise<T>) => Promise<T>;
  /** Copies the archive, as it is at this moment, into a new file at a path, and reads that back. Only where an archive is a file. */
  readonly backup: (path: string, onProgress: (done: number, total: number) => void) => Promise<void>;
  readonly close: () => Promise<void>;
};

/** One state of an archive, for reading. */
export type ArchiveState = ArchiveLookup & Pick<Archive, 'vectors'>;

type PreparedCompaction = Pick<StoredCompaction, 'id' | 'sourcePath' | 'outputPath' | 'source' | 'output'> & {
  readonly processId: number;
  /** Begun on this machine. On another one, its paths may name other files. */
  readonly isLocal: boolean;
};

/** What must be known of a compaction before its first line is stored. */
export type CompactionOutline = {
  readonly batchCounts: readonly number[];
};

/**
 * Stores one compaction as `prepared`, with its lines in ascending order, and gives its id. The cycles must have as many batches as the outline
 * says.
 */
export type CompactionWriter = ArchiveWriter<Iterable<LineDraft>, CompactionDraft, StoredAs>;

/** A compaction in the archive. `archiveBytes`: by how much the archive grew for it. */
export type StoredAs = { readonly id: number; readonly archiveBytes: number };

/** A file that a run wrote, or is about to write. */
type RunFile = {
  readonly compactionId: number;
  /** Absolute, like the output's path. */
  readonly sourcePath: string;
  /** Null: standard output. */
  readonly outputPath: string | null;
};

export type StoredRunFile = RunFile & {
  readonly id: number;
  /** Of the session; null: unknown. */
  readonly title: string | null;
  readonly sizeBytes: { readonly before: number; readonly after: number };
  readonly undoneAt: Date | null;
};

export type StoredRun = RunMark & {
  readonly id: number;
  /** When it was undone, except the files that had to be left alone. */
  readonly undoneAt: Date | null;
  /** In the order of their paths. */
  readonly files: readonly StoredRunFile[];
};

/** Which files each run wrote, so that it can be undone. The files of a new compaction are recorded with it. */
type RunLog = {
  /** Records a file that gets the output of a compaction that was stored before. Gives its id; null: that compaction was erased or removed. */
  readonly record: (run: RunMark, file: RunFile) => Promise<number | null>;
  /** Notes that the file at a path is an output of an applied compaction, unless that is known. */
  readonly notePath: (compactionId: number, path: string) => Promise<void>;
  /** When an applied compaction was written to this path, unless that was undone; null: never. */
  readonly findOutput: (path: string) => Promise<Date | null>;
  /** Removes the record of a file that was not written after all. */
  readonly forget: (fileId: number) => Promise<void>;
  /** Newest first; only applied compactions. */
  readonly list: () => Promise<readonly StoredRun[]>;
  readonly markFileUndone: (fileId: number, at: Date) => Promise<void>;
  readonly markUndone: (runId: number, at: Date) => Promise<void>;
};

export type CachedSummary = {
  readonly provider: string;
  readonly model: string;
  readonly text: string;
  readonly usage: ModelUsage;
  readonly createdAt: Date;
};

/** Summaries by the hash of their request, so that nobody pays twice. */
export type SummaryCache = {
  readonly find: (requestSha256: string) => Promise<CachedSummary | null>;
  /** Does nothing if there is one already. */
  readonly keep: (requestSha256: string, summary: CachedSummary) => Promise<void>;
  /** The same for several, at once. */
  readonly keepAll: (
    summaries: readonly { readonly request: string; readonly summary: CachedSummary }[],
  ) => Promise<void>;
};

export type OpenArchiveOptions = {
  readonly path: string;
  /** False: a missing archive is a failure, and nothing is created. */
  readonly create?: boolean;
  /** How long to wait for another process that writes. */
  readonly busyTimeoutMs?: number;
  /** The file of SQLite's vector extension; without it no vectors are stored or compared. */
  readonly vectorExtension?: string;
};

/**
 * What is damaged. structure: SQLite's own checks of pages and indexes. unreadable: something cannot be read. reference: a row refers to
 * another one that is gone or not its own. block: a block of lines cannot be decompressed or split. wrong-hash: lines, batches, settings or
 * clip-archives differ from what was stored. hole: source lines are missing or stored twice. wrong-count: sizes or counts disagree. order: a
 * predecessor is not older. search: words that cannot be found, or that lead nowhere.
 */
export type ArchiveDamageKind =
  | 'structure'
  | 'unreadable'
  | 'reference'
  | 'block'
  | 'wrong-hash'
  | 'hole'
  | 'wrong-count'
  | 'order'
  | 'search';

export type ArchiveDamage = {
  readonly kind: ArchiveDamageKind;
  /** For people: where in the archive, and what. */
  readonly message: string;
  /** The affected transcripts: sources and outputs of its compactions, and of later ones that continue them. Empty: none, or unknown. */
  readonly files: readonly string[];
};

/** What was checked. */
export type ArchiveCheckCounts = {
  readonly compactions: Count;
  readonly batches: Count;
  /** Captured files; lines, blocks and bytes are those of compactions and captures together. */
  readonly captured: Count;
  readonly lines: Count;
  readonly blocks: Count;
  readonly bytes: { readonly original: Count; readonly compressed: Count; readonly file: Count };
};

export type ArchiveCheckStep =
  | { readonly kind: 'progress'; readonly stage: string; readonly done: number; readonly total: number }
  | { readonly kind: 'damage'; readonly damage: ArchiveDamage }
  /** An unfinished compaction. This is not damage. */
  | { readonly kind: 'prepared'; readonly files: readonly string[] }
  | { readonly kind: 'counted'; readonly counts: ArchiveCheckCounts };

/** Who uses an archive on a database server. The owner also makes, upgrades and erases it; a reader stores nothing. */
export type ArchiveRole = 'owner' | 'writer' | 'reader';

/** Who uses the program, where, and which version of it. */
export type Caller = { readonly user: string; readonly host: string; readonly version: string };

export const DEEDS = ['prune', 'erase', 'hold', 'release', 'merge', 'trust', 'remove', 'import'] as const;

/** What a person did to the archive as a whole. `details`: counts, receipts, paths and reasons as a JSON object, and no text of conversations. */
export type Deed = { readonly action: (typeof DEEDS)[number]; readonly doneAt: Date; readonly details: string };

/** `token`: the same in every archive that has the entry. */
export type LogEntry = Deed & { readonly token: string; readonly by: Caller };

/** Nothing changes or removes an entry. Holds, erasures and removals of captured files are logged together with what they do. */
export type AuditLog = {
  /** Oldest first. */
  readonly list: () => Promise<readonly LogEntry[]>;
  readonly add: (deed: Deed) => Promise<void>;
};
