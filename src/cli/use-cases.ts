import type {
  ArchiveListReport,
  ArchiveStatsReport,
  SearchReport,
  ShowReport,
} from '../app/contract/archive-reports.ts';
import type { Failure, LookupFailure } from '../app/contract/failure.ts';
import type { CompactReport, RestoreReport, ScoreReport, VerifyReport } from '../app/contract/reports.ts';
import type {
  CompactFileRequest,
  RestoreFileRequest,
  ScoreFileRequest,
  SearchRequest,
  ShowRequest,
  VerifyFileRequest,
} from '../app/contract/requests.ts';
import type { ArchiveCheckReport } from '../app/search/check-archive.ts';
import type { ArchiveEmbedReport } from '../app/search/embeddings/embed-archive.ts';
import type { Outage } from '../app/search/embeddings/query-vectors.ts';
import type { ShownOriginal } from '../app/search/show-archived.ts';
import type { RateLimits } from '../app/summarize/limits.ts';
import type { ScanReport, SurveyFileRequest } from '../app/survey/scan-file.ts';
import type { EmbeddingAccess, ModelAccess } from '../config/access.ts';
import type { Result } from '../core/result.ts';
import type { Format } from '../ports/codec.ts';
import type { Progress, StepListener } from '../ports/runtime.ts';

/** What the commands can ask for. Nothing is opened before it is needed. */
export type UseCases = {
  /**
   * Before anything is compacted by a model that is a service: gives sentences about what will not work as it was configured. The error is
   * one about what makes it useless.
   */
  readonly chooseModel: (choice: ModelChoice) => Promise<Result<readonly string[], string>>;
  /**
   * Before anything is to be searched by meaning, or made ready for that. The error is a sentence about why that cannot be; all else goes on
   * without it.
   */
  readonly chooseEmbedder: (choice: EmbedderChoice) => Promise<Result<readonly string[], string>>;
  /** Has searches and what is shown mask secrets; gives warnings about the rules. The error says why they cannot be used. */
  readonly chooseMask: (redactRulesPath: string | null) => Promise<Result<readonly string[], string>>;
  /** Several may be at work at a time; `progress` is that of this one. */
  readonly compactFile: (request: CompactFileRequest, progress: Progress) => Promise<Result<CompactReport, Failure>>;
  readonly scoreFile: (request: ScoreFileRequest) => Promise<Result<ScoreReport, Failure>>;
  /** Reads only. Null: it is not one that is asked for. */
  readonly surveyFile: (request: SurveyFileRequest, progress: Progress) => Promise<Result<ScanReport | null, Failure>>;
  readonly restoreFile: (request: RestoreFileRequest) => Promise<Result<RestoreReport, Failure>>;
  readonly verifyFile: (request: VerifyFileRequest) => Promise<Result<VerifyReport, Failure>>;
  readonly searchArchive: (request: SearchRequest) => Promise<Result<SearchReport, Failure>>;
  readonly showArchived: (request: ShowRequest) => Promise<Result<ShowReport, LookupFailure>>;
  /** `onLine` says whether to go on; gives the number of lines. */
  readonly showOriginals: (
    request: ShowRequest,
    onLine: (line: ShownOriginal) => boolean,
  ) => Promise<Result<number, LookupFailure>>;
  readonly listArchive: () => Promise<Result<ArchiveListReport, Failure>>;
  readonly measureArchive: () => Promise<Result<ArchiveStatsReport, Failure>>;
  readonly checkArchive: () => Promise<Result<ArchiveCheckReport, Failure>>;
  /** After an embedder was chosen. */
  readonly embedArchive: () => Promise<Result<ArchiveEmbedReport, Failure>>;
  readonly listFormats: () => readonly Format[];
  readonly close: () => void;
};

/** A model that is a service, and how it is to be asked. */
export type ModelChoice = ModelAccess & {
  readonly limits: RateLimits;
  /** Null: by the host. */
  readonly maxTokensField: 'max_tokens' | 'max_completion_tokens' | null;
  readonly fallsBack: boolean;
  /** It will not be asked, only what would be asked of it is told. */
  readonly isDryRun: boolean;
  /** gitleaks' rules; null: our own alone. */
  readonly redactRulesPath: string | null;
  /** Told of waits and the like. */
  readonly notice: (sentence: string) => void;
  /** What the vendor's library has to say, without keys. */
  readonly log?: (line: string) => void;
};

/** Who turns texts into vectors, and how that is to be asked. */
export type EmbedderChoice = EmbeddingAccess &
  Pick<ModelChoice, 'limits' | 'redactRulesPath' | 'notice'> & {
    /** Of the searches of all use cases that are given it. */
    readonly outage?: Outage | undefined;
  };

export type Composition = {
  readonly archivePath: string;
  readonly maxUnpackedBytes?: number | undefined;
  readonly progress: Progress;
  readonly signal: AbortSignal;
  readonly stdout: (bytes: Uint8Array) => void;
  /** Has a file removed when the process ends; gives a function that forgets it. */
  readonly removeAtExit: (path: string) => () => void;
  /** Told of each step of a run. */
  readonly reached?: StepListener;
};

export type CreateUseCases = (composition: Composition) => UseCases;
