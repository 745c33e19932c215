import type { Role } from '../core/message.ts';
import type {
  Archive,
  ArchiveFailure,
  CachedSummary,
  CompactionDraft,
  KeptRun,
  RunMark,
  StoredCycle,
  StoredInsertedLine,
  Deed,
  LogEntry,
} from './archive.ts';
import type { ArchivedOutcome, StoredBatch, VectorModel } from './archive-lookup.ts';
import type { Result } from '../core/result.ts';
import type { CapturedFile, CapturedState } from './captures.ts';
import type { Choice, Hold } from './retention.ts';

/** Names a compaction in every archive that has it: made from what never changes of it. */
export type UnitKey = string;

/** Positions are those within the compaction and within the cycle. */
export type CycleName = { readonly unit: UnitKey; readonly cycle: number };
type BatchPlace = { readonly cycle: number; readonly batch: number };
export type BatchName = BatchPlace & { readonly unit: UnitKey };

type UnitHead = Pick<
  CompactionDraft,
  'format' | 'sourcePath' | 'outputPath' | 'source' | 'output' | 'settingsSha256' | 'settings' | 'processId'
> & { readonly createdAtMs: number };

/** `content` is empty if it was erased. */
export type UnitBatch = Pick<
  StoredBatch,
  'label' | 'content' | 'contentSha256' | 'depth' | 'messageCount' | 'level'
> & {
  readonly startMs: number | null;
  readonly endMs: number | null;
  readonly firstIndex: number | null;
  readonly lastIndex: number | null;
  readonly sources: readonly BatchName[];
};

export type UnitCycle = Pick<
  StoredCycle,
  'conversationId' | 'cycle' | 'clipSha256' | 'messagesCompressed' | 'title'
> & {
  readonly parent: CycleName | null;
  readonly batches: readonly UnitBatch[];
  readonly live: readonly BatchName[];
};

/** A file that was compacted, or found to be an output. `run`: the one that wrote it. */
type UnitFile = {
  readonly run:
    | (Pick<RunMark, 'token' | 'by' | 'command'> & { readonly begunAtMs: number; readonly undoneAtMs: number | null })
    | null;
  readonly sourcePath: string;
  readonly outputPath: string | null;
  readonly undoneAtMs: number | null;
};

/** An applied or erased compaction without its archived lines. It means the same in every archive. */
export type Unit = UnitHead & {
  readonly key: UnitKey;
  /** The receipt of the last erasure that removed anything of it; null: it is complete. */
  readonly receipt: string | null;
  /** Only what is needed to recognize its output is left. */
  readonly isErased: boolean;
  readonly cycles: readonly UnitCycle[];
  readonly inserted: readonly StoredInsertedLine[];
  readonly kept: readonly KeptRun[];
  /** Lines of earlier compactions that a batch of this one summarizes. */
  readonly carried: readonly (BatchPlace & { readonly unit: UnitKey; readonly line: number })[];
  readonly files: readonly UnitFile[];
};

/** An archived line. `bytes` are empty, and `message` is null, if it was erased under `receipt`. */
export type UnitLine = {
  readonly line: number;
  readonly bytes: Uint8Array;
  /** Its first half. */
  readonly sha256: string;
  readonly sizeBytes: number;
  readonly receipt: string | null;
  readonly outcome: ArchivedOutcome;
  /** Of a summarized line; otherwise `cycle` says to which conversation it belongs. */
  readonly batch: BatchPlace | null;
  readonly cycle: number | null;
  /** id: null where it is `line:N`. */
  readonly message: {
    readonly role: Role;
    readonly atMs: number | null;
    readonly index: number | null;
    readonly id: string | null;
    readonly name: string | null;
    readonly traits: number;
  } | null;
};

/** Lines of a unit, in order, that an archive keeps together. `pack`: what it keeps them in; null: they come from elsewhere. */
export type UnitPage = { readonly lines: readonly UnitLine[]; readonly pack: UnitPack | null };

/** `data` are the compressed bytes, of which `raw` was made just now. It may have more than the lines of one page. */
export type UnitPack = { readonly data: Uint8Array; readonly raw: Uint8Array };

/** An erasure with its report as it is stored. */
export type Receipt = {
  readonly receipt: string;
  readonly atMs: number;
  /** JSON */
  readonly report: string;
};

/** A line of a captured file; `bytes` is null if it was erased under `receipt`. */
export type CapturedPiece = {
  /** Its first half. */
  readonly sha256: string;
  readonly sizeBytes: number;
  readonly bytes: Uint8Array | null;
  readonly receipt: string | null;
};

/** What a captured state was that was erased with its file. */
export type ErasedState = {
  readonly receipt: string;
  /** Of all bytes. */
  readonly sha256: string;
  /** The same for all states of one path that begin with the same line. */
  readonly originSha256: string;
};

export type ExchangedState = Omit<CapturedState, 'id'>;

export type ExchangedCapture = Pick<CapturedFile, 'path' | 'format' | 'stamp' | 'sessions' | 'readAt'> & {
  /** Oldest first. */
  readonly states: readonly ExchangedState[];
};

/** A stored answer of a model; `request`: the hash of what it answers. */
type ExchangedSummary = CachedSummary & { readonly request: string };

/** The vector of an archived message (`line`) or of a batch, as the archive stores it; null: there is no text. */
export type UnitVector = { readonly unit: UnitKey; readonly vector: Uint8Array | null } & (
  | { readonly kind: 'message'; readonly line: number }
  | ({ readonly kind: 'batch' } & BatchPlace)
);

/** Reads captured files, and what is known of those that were erased. */
export type CaptureReader = {
  /** By path. */
  readonly captures: () => AsyncIterable<ExchangedCapture>;
  readonly findCapture: (path: string) => Promise<ExchangedCapture | null>;
  /** Whether a captured file has a state with these bytes. */
  readonly hasState: (sha256: string) => Promise<boolean>;
  /** As in `ErasedState`; null: a version without lines. */
  readonly originOf: (path: string, version: number) => Promise<string | null>;
  /** The lines of a state, in order. Each that is left is checked against its hash. */
  readonly pieces: (path: string, state: ExchangedState) => AsyncIterable<readonly CapturedPiece[]>;
  /** Those captured lines of these that are there and were not erased. */
  readonly findLines: (sha256s: readonly string[]) => Promise<ReadonlySet<string>>;
  /** The paths of captured files that have a line which was not erased. */
  readonly filesWith: (sha256: string) => Promise<readonly string[]>;
  readonly erasedStates: () => AsyncIterable<readonly ErasedState[]>;
  /** Erased states with these bytes or of this origin; null: of any. */
  readonly findErasedStates: (of: {
    readonly sha256: string;
    readonly originSha256: string | null;
  }) => Promise<readonly ErasedState[]>;
};

/** Reads one state of an archive as units that mean the same in every other one. Methods fail as those of the archive do. */
export type UnitReader = CaptureReader & {
  readonly receipts: () => Promise<readonly Receipt[]>;
  /** Those that a merge brought which is still at work, or was interrupted: what they erased may not all be known. */
  readonly unfinishedReceipts: () => Promise<ReadonlySet<string>>;
  /** Oldest first, so a unit comes after those that it refers to. `touchedOnly`: only those from which something was erased. */
  readonly units: (options?: {
    readonly touchedOnly: boolean;
  }) => AsyncIterable<{ readonly id: number; readonly unit: Unit }>;
  /** The id of a compaction; null: this archive does not have it. */
  readonly findUnit: (key: UnitKey) => Promise<number | null>;
  readonly loadUnit: (unitId: number) => Promise<Unit>;
  /** In order. Each line is checked against its hash. */
  readonly lines: (unitId: number) => AsyncIterable<UnitPage>;
  /** The hash of every archived line that was not erased, with the compaction that it belongs to. */
  readonly lineHashes: () => AsyncIterable<readonly { readonly unitId: number; readonly sha256: string }[]>;
  /** Hashes of the lines that were erased under a receipt. */
  readonly erasedHashes: (kind: 'archived' | 'captured', receipt: string) => AsyncIterable<readonly string[]>;
  readonly summaries: () => AsyncIterable<readonly ExchangedSummary[]>;
  readonly vectorModel: () => Promise<VectorModel | null>;
  readonly vectors: () => AsyncIterable<readonly UnitVector[]>;
};

/** Equal as long as nobody has added an erasure (`erasures`), a compaction or a captured state (`contents`). */
export type StoreStamp = { readonly erasures: number; readonly contents: string };

/** An archive that others are merged into. Each method stores all or nothing, and may be repeated. */
export type UnitStore = UnitReader & {
  /**
   * Says for each unit, in order, whether it is new here. Of one that is not, the files that runs wrote are added. Its receipts must be there,
   * and the units that it refers to, unless they come before it. `lines` is called again if all of it has to be repeated. A pack is taken over
   * as it is if it has what this archive would compress.
   */
  readonly storeUnits: (
    units: readonly { readonly unit: Unit; readonly lines: () => AsyncIterable<UnitPage> }[],
  ) => Promise<readonly boolean[]>;
  /** Gives how many were new. The summary that was made first stays. */
  readonly storeSummaries: (summaries: readonly ExchangedSummary[]) => Promise<number>;
  readonly stamp: () => Promise<StoreStamp>;
  /**
   * Adds receipts of erasures that change nothing here, unfinished, and the erased states, all of whose receipts are known then. False: the archive has changed since it had this stamp, and nothing was added. If there
   * are no receipts to add, only erasures count as changes. From then on, a method that stores fails ('busy') if another program has erased
   * something, or has added receipts.
   */
  readonly storeReceipts: (
    receipts: readonly Receipt[],
    erasedStates: readonly CaptureReader['erasedStates'][],
    stamp: StoreStamp,
  ) => Promise<boolean>;
  /** Everything that was erased under these receipts is known now. */
  readonly finishReceipts: (receipts: readonly string[]) => Promise<void>;
  /** Gives how many were new; null: this archive has vectors of another model, or cannot store any. */
  readonly storeVectors: (model: VectorModel, vectors: readonly UnitVector[]) => Promise<number | null>;
  /** Gives how many were new. Of two holds of one scope, the earlier stays. */
  readonly storeHolds: (holds: readonly Omit<Hold, 'id'>[]) => Promise<number>;
  readonly storeChoices: (choices: readonly Choice[]) => Promise<number>;
  readonly storeLog: (entries: readonly LogEntry[]) => Promise<void>;
  /** Logs this together with the first that is new here, so that it is known after a kill too; never, if nothing is. */
  readonly logWithFirst: (deed: Deed) => Promise<void>;
  /**
   * Replaces what is known of a captured file; `versions` are the states of each of its versions, with their lines. False: it is not as in
   * `known` by now, and nothing was stored.
   */
  readonly storeCapture: (
    capture: Omit<ExchangedCapture, 'states'>,
    change: { readonly known: ExchangedCapture | null; readonly versions: readonly MergedVersion[] },
  ) => Promise<boolean>;
};

/** A version of a captured file: its states, oldest first, and the lines of the last one. */
export type MergedVersion = {
  readonly states: readonly ExchangedState[];
  readonly pieces: () => AsyncIterable<readonly CapturedPiece[]>;
};

/** An archive that is only read, in one state. */
export type OpenSource = {
  readonly path: string;
  /** The same for every name of the same archive. */
  readonly identity: string;
  readonly archive: Archive;
  readonly reader: UnitReader;
  readonly close: () => Promise<void>;
};

export type OpenTarget = {
  readonly identity: string;
  readonly store: UnitStore;
  readonly close: () => Promise<void>;
};

export type ArchiveExchange = {
  readonly openSource: (place: string) => Promise<Result<OpenSource, ArchiveFailure>>;
  /** Null: there is no archive yet. */
  readonly identify: (place: string) => Promise<string | null>;
  /** The archive must exist. */
  readonly openTarget: (place: string) => Promise<Result<OpenTarget, ArchiveFailure>>;
};

/** The records of an export, by kind. The lines of a compaction follow its order, as the pieces of a captured file follow that of its versions. */
export type ExportRecords = {
  readonly receipt: Receipt;
  readonly erasedState: ErasedState;
  readonly hold: Omit<Hold, 'id'>;
  readonly choice: Choice;
  readonly log: LogEntry;
  readonly compaction: Unit;
  readonly line: UnitLine & { readonly unit: UnitKey };
  readonly capture: ExchangedCapture;
  readonly piece: CapturedPiece & { readonly path: string; readonly version: number };
  readonly summary: ExchangedSummary;
  readonly model: VectorModel;
  readonly vector: UnitVector;
};
export type ExportKind = keyof ExportRecords;

/** How records are written: `jsonl` is one JSON object a line; `parquet` is tables with typed columns. */
export type ExportEncoding = 'jsonl' | 'parquet';

/** A folder that is being filled. It is complete after `commit`; until then nothing in it has its name. */
export type ExportWriter = {
  readonly write: <Kind extends ExportKind>(kind: Kind, record: ExportRecords[Kind]) => void;
  readonly commit: () => void;
  /** Removes what was written. Does nothing after `commit`. */
  readonly abandon: () => void;
};

/** `maxLineBytes`: the longest line, or group of rows, that is read; undefined: the usual limit. Reading rejects when aborted. */
export type ReadLimits = { readonly maxLineBytes?: number | undefined; readonly signal?: AbortSignal | undefined };

/** Methods that read throw an `ArchiveError` if a file was changed or cut off. */
export type ExportFolders = {
  /** Creates the folder, or takes an empty one. Throws an `ArchiveError` if it cannot. */
  readonly create: (folder: string, encoding: ExportEncoding) => Promise<ExportWriter>;
  /** The records of one kind, in their order. The folder knows its encoding. */
  readonly read: <Kind extends ExportKind>(
    folder: string,
    kind: Kind,
    limits?: ReadLimits,
  ) => AsyncIterable<ExportRecords[Kind]>;
  /** Throws that records of this kind are left. */
  readonly refuseRest: (folder: string, kind: ExportKind) => never;
  /** A new, private archive in a temporary folder. */
  readonly openScratch: () => Promise<OpenTarget & { readonly place: string; readonly remove: () => void }>;
};
