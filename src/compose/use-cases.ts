import type { RemoveAtExit } from '../ports/files.ts';
import type {
  ArchiveListReport,
  ArchiveStatsReport,
  CapturedSearchReport,
  SearchReport,
  ShowReport,
} from '../app/contract/archive-reports.ts';
import type { GoneRequest } from '../app/archive/captured.ts';
import type { EraseRequest } from '../app/archive/erase-archived.ts';
import type { HoldRequest } from '../app/archive/holds.ts';
import type { ExportRequest } from '../app/archive/export-archive.ts';
import type { ImportRequest } from '../app/archive/import-archive.ts';
import type { MergeRequest } from '../app/archive/merge-archives.ts';
import type { PruneRequest } from '../app/archive/prune-archive.ts';
import type { CapturedFileReport, CaptureReport, RestoreCapturedReport } from '../app/contract/capture-reports.ts';
import type { Summarizer } from '../app/contract/deps.ts';
import type {
  ArchiveEraseReport,
  ArchiveExportReport,
  ArchiveHoldReport,
  ArchiveMergeReport,
  ArchiveReceiptsReport,
} from '../app/contract/retention-reports.ts';
import type { BatchDeps } from '../app/jobs/records.ts';
import type { CollectReport } from '../app/jobs/collect.ts';
import type { BatchStatusReport, SubmitReport, SubmittedFile } from '../app/jobs/submit.ts';
import type { Failure, LookupFailure } from '../app/contract/failure.ts';
import type { FileReport } from '../app/contract/file-report.ts';
import type { CompactReport, RestoreReport, ScoreReport, VerifyReport } from '../app/contract/reports.ts';
import type {
  CaptureFileRequest,
  CompactFileRequest,
  RestoreCapturedRequest,
  RestoreFileRequest,
  ScoreFileRequest,
  SearchRequest,
  ShowRequest,
  VerifyFileRequest,
} from '../app/contract/requests.ts';
import type { SearchCapturedRequest } from '../app/archive/search-captured.ts';
import type { QueueReport, WorkRequest, WorkSummary } from '../app/jobs/work.ts';
import type { StoredRuns, UndoFileRequest } from '../app/restore/undo.ts';
import type { UndoneFile } from '../app/contract/undo-reports.ts';
import type { ArchiveCheckReport } from '../app/search/check-archive.ts';
import type { ArchiveEmbedReport } from '../app/search/embeddings/embed-archive.ts';
import type { EmbeddingService } from '../app/search/embeddings/embed-texts.ts';
import type { Outage, QueryVectors } from '../app/search/embeddings/query-vectors.ts';
import type { ShownOriginal } from '../app/search/show-archived.ts';
import type { ListRulesRequest, RulesReport } from '../app/survey/list-rules.ts';
import type { RateLimits } from '../app/summarize/limits.ts';
import type { ReportFileRequest } from '../app/survey/report-file.ts';
import type { DiffFileRequest, DiffReport } from '../app/survey/diff-file.ts';
import type { ScanFileRequest, ScanReport } from '../app/survey/scan-file.ts';
import type { InstallOutcome, InstallRequest } from '../app/install/install-client.ts';
import type { NewPage } from '../app/write/write-output.ts';
import type { EmbeddingAccess, ModelAccess } from '../config/access.ts';
import type { HostEnvironment } from '../config/find.ts';
import type { CompactionConfig } from '../core/policy.ts';
import type { Result } from '../core/result.ts';
import type { RunMark, StoredRun } from '../ports/archive.ts';
import type { Client, LaunchCommand } from '../ports/clients.ts';
import type { Format } from '../ports/codec.ts';
import type { ModelProvider } from '../ports/model.ts';
import type { NewJob } from '../ports/queue.ts';
import type { Progress, StepListener } from '../ports/runtime.ts';

/** What the commands can call. Nothing is opened before it is needed. */
export type UseCases = {
  /** The error says why the model cannot be used. */
  readonly createSummarizer: (choice: SummarizerChoice) => Promise<Result<Created<Summarizer>, string>>;
  /** The error says why embeddings cannot be used; everything else works without them. */
  readonly createEmbeddings: (choice: EmbedderChoice) => Promise<Result<Created<Embeddings>, string>>;
  /** A function that masks secrets in texts. The error says why the rules at this path cannot be used. */
  readonly createMask: (redactRulesPath: string | null) => Promise<Result<Created<Mask>, string>>;
  /** May be called several times at once; `progress` belongs to this call. */
  readonly compactFile: (
    request: CompactFileRequest & WithEmbeddings,
    progress: Progress,
  ) => Promise<Result<CompactReport, Failure>>;
  readonly scoreFile: (request: ScoreFileRequest) => Promise<Result<ScoreReport, Failure>>;
  /** The user's standing rules in a transcript, as text; '' without any. */
  readonly listRules: (request: ListRulesRequest) => Promise<Result<RulesReport, Failure>>;
  /** Only reads. Null: the file does not match the request. */
  readonly scanFile: (request: ScanFileRequest, progress: Progress) => Promise<Result<ScanReport | null, Failure>>;
  /** Everything that a page about a transcript shows. */
  readonly reportFile: (
    request: ReportFileRequest & WithMask,
    progress: Progress,
  ) => Promise<Result<FileReport, Failure>>;
  readonly writePage: (page: NewPage) => Promise<Result<void, Failure>>;
  readonly captureFile: (request: CaptureFileRequest, progress: Progress) => Promise<Result<CaptureReport, Failure>>;
  readonly recordGone: (request: GoneRequest) => Promise<Result<readonly CaptureReport[], Failure>>;
  readonly listCaptured: (of: {
    readonly file: string | null;
  }) => Promise<Result<readonly CapturedFileReport[], LookupFailure>>;
  readonly restoreCaptured: (
    request: RestoreCapturedRequest,
    progress: Progress,
  ) => Promise<Result<RestoreCapturedReport, LookupFailure>>;
  readonly restoreFile: (request: RestoreFileRequest, progress: Progress) => Promise<Result<RestoreReport, Failure>>;
  readonly diffFile: (request: DiffFileRequest, progress: Progress) => Promise<Result<DiffReport, Failure>>;
  /** The runs that an archive knows, newest first. */
  readonly listRuns: () => Promise<Result<StoredRuns, Failure>>;
  /** The first of these that `undo` should take. */
  readonly findRunToUndo: (newestFirst: readonly StoredRun[]) => Promise<StoredRun | null>;
  readonly undoFile: (request: UndoFileRequest, progress: Progress) => Promise<Result<UndoneFile, Failure>>;
  /** Records that a run was undone, as far as it could be. */
  readonly endUndo: (runId: number) => Promise<Result<null, Failure>>;
  readonly verifyFile: (request: VerifyFileRequest, progress: Progress) => Promise<Result<VerifyReport, Failure>>;
  readonly searchArchive: (
    request: SearchRequest & WithEmbeddings & WithMask,
  ) => Promise<Result<SearchReport, Failure>>;
  readonly searchCaptured: (
    request: SearchCapturedRequest,
    progress: Progress,
  ) => Promise<Result<CapturedSearchReport, Failure>>;
  readonly showArchived: (request: ShowRequest & WithMask) => Promise<Result<ShowReport, LookupFailure>>;
  /** `onLine` returns whether to go on. The result is the number of lines. */
  readonly showOriginals: (
    request: ShowRequest & WithMask,
    onLine: (line: ShownOriginal) => boolean | Promise<boolean>,
  ) => Promise<Result<number, LookupFailure>>;
  readonly listArchive: () => Promise<Result<ArchiveListReport, Failure>>;
  readonly measureArchive: () => Promise<Result<ArchiveStatsReport, Failure>>;
  readonly checkArchive: () => Promise<Result<ArchiveCheckReport, Failure>>;
  readonly changeHolds: (request: HoldRequest) => Promise<Result<ArchiveHoldReport, Failure>>;
  readonly eraseArchived: (request: EraseRequest) => Promise<Result<ArchiveEraseReport, Failure>>;
  readonly pruneArchive: (request: PruneRequest) => Promise<Result<ArchiveEraseReport, Failure>>;
  readonly listReceipts: () => Promise<Result<ArchiveReceiptsReport, Failure>>;
  readonly exportArchive: (request: ExportRequest) => Promise<Result<ArchiveExportReport, Failure>>;
  readonly importArchive: (request: ImportRequest) => Promise<Result<ArchiveMergeReport, Failure>>;
  readonly mergeArchives: (request: MergeRequest) => Promise<Result<ArchiveMergeReport, Failure>>;
  /** Plans transcripts, and sends their requests as batches. */
  readonly submitBatches: (run: BatchRun, files: readonly SubmittedFile[]) => Promise<Result<SubmitReport, Failure>>;
  /** Fetches results, compacts what has its answers, and sends what is still needed. */
  readonly collectBatches: (run: BatchRun) => Promise<Result<CollectReport, Failure>>;
  /** Gives the number of batches. */
  readonly cancelBatches: (run: BatchRun) => Promise<Result<number, Failure>>;
  /** `run`: the provider is asked first; null: only what the archive knows. Null: there is no archive. */
  readonly batchStatus: (run: BatchRun | null) => Promise<Result<BatchStatusReport | null, Failure>>;
  readonly embedArchive: (embeddings: Embeddings) => Promise<Result<ArchiveEmbedReport, Failure>>;
  /** The queue of jobs needs an archive in Postgres. */
  readonly workJobs: (request: WorkRequest) => Promise<Result<WorkSummary, Failure>>;
  readonly addJobs: (jobs: readonly NewJob[]) => Promise<Result<number, Failure>>;
  readonly retryJobs: () => Promise<Result<number, Failure>>;
  readonly readQueue: (nameOf: (data: unknown) => string) => Promise<Result<QueueReport, Failure>>;
  /** The run that everything written here belongs to. */
  readonly run: RunMark;
  /** Finishes and removes what a run that died left beside a path. */
  readonly clearLeftovers: (path: string) => Promise<void>;
  readonly listFormats: () => readonly Format[];
  readonly close: () => Promise<void>;
};

/** Something that was created, with warnings about the parts of its configuration that will not work. */
export type Created<T> = { readonly value: T; readonly warnings: readonly string[] };

export type Mask = (text: string, before?: string) => string;
type WithMask = { readonly mask?: Mask };

/** Makes vectors of archived texts and of queries, during one run. */
export type Embeddings = {
  readonly service: EmbeddingService;
  readonly queryVectors: QueryVectors;
  /** The path of SQLite's extension for vectors. */
  readonly vectorExtension: string;
  /** After a failure, the service is not called again in this run. */
  readonly run: { hasFailed: boolean };
};
type WithEmbeddings = { readonly embeddings: Embeddings | null };

export type SummarizerChoice = {
  /** Null: summaries are made on this machine. */
  readonly model: ModelChoice | null;
  readonly compaction: Pick<CompactionConfig, 'maxConsecutiveFailures' | 'minRetention'>;
};

/** A model that is a service, and how to call it. */
export type ModelChoice = Omit<ModelAccess, 'provider'> & {
  readonly provider: ModelAccess['provider'] | 'custom';
  /** The model of a library's caller. */
  readonly custom?: ModelProvider;
  readonly limits: RateLimits;
  /** Null: decided by the host. */
  readonly maxTokensField: 'max_tokens' | 'max_completion_tokens' | null;
  readonly fallsBack: boolean;
  /** The model is never called; the run only reports what it would be sent. */
  readonly isDryRun: boolean;
  /** The path of rules in gitleaks' format; null: only ours. */
  readonly redactRulesPath: string | null;
  /** Called with sentences for people, for example about waits. */
  readonly notice: (sentence: string) => void;
  /** Receives the log of the vendor's library, without keys. */
  readonly log?: (line: string) => void;
};

/** A run that works with batches. */
export type BatchRun = Pick<BatchDeps, 'priceOf' | 'onFile' | 'onWarning' | 'onProblem'> & {
  readonly model: ModelChoice;
  readonly compaction: SummarizerChoice['compaction'];
};

/** The service that turns texts into vectors, and how to call it. */
export type EmbedderChoice = EmbeddingAccess &
  Pick<ModelChoice, 'limits' | 'redactRulesPath' | 'notice'> & {
    /** Shared by the searches of all use cases that get it. */
    readonly outage?: Outage | undefined;
  };

export type Composition = {
  readonly archivePath: string;
  readonly maxUnpackedBytes?: number | undefined;
  readonly progress: Progress;
  readonly signal: AbortSignal;
  readonly stdout: (bytes: Uint8Array) => void;
  /** Tells people something that does not concern a single file. */
  readonly notice?: ((sentence: string) => void) | undefined;
  /** Has a file removed when the process ends; returns a function that forgets it. */
  readonly removeAtExit: RemoveAtExit;
  /** What is written belongs to this run; by default to one of its own. */
  readonly run?: RunMark | undefined;
  /** Called at each step of a run. */
  readonly reached?: StepListener;
  /** From this size of a file on, the archive works in a thread of its own. */
  readonly minBytesForArchiveThread?: number;
  /** False: another composition of the run does it. */
  readonly finishesErasures?: boolean;
};

export type CreateUseCases = (composition: Composition) => UseCases;

export type InstallerOptions = {
  readonly host: HostEnvironment;
  readonly launch: LaunchCommand;
  /** What clients load. */
  readonly extensionsFolder: string;
  readonly removeAtExit: Composition['removeAtExit'];
};

/** Installs this program in others. */
export type Installer = {
  readonly clients: readonly Client[];
  readonly install: (request: InstallRequest) => Promise<Result<InstallOutcome, Failure>>;
};
