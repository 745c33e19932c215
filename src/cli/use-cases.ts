import type { ArchiveListReport, ArchiveStatsReport, SearchReport, ShowReport } from '../app/archive-reports.ts';
import type { ArchiveCheckReport } from '../app/check-archive.ts';
import type { Failure, LookupFailure } from '../app/failure.ts';
import type { CompactReport, RestoreReport, ScoreReport, VerifyReport } from '../app/reports.ts';
import type {
  CompactFileRequest,
  RestoreFileRequest,
  ScoreFileRequest,
  SearchRequest,
  ShowRequest,
  VerifyFileRequest,
} from '../app/requests.ts';
import type { ShownOriginal } from '../app/show-archived.ts';
import type { Result } from '../core/result.ts';
import type { Format } from '../ports/codec.ts';
import type { Progress } from '../ports/runtime.ts';
import type { StepListener } from '../ports/steps.ts';

/** What the commands can ask for. Nothing is opened before it is needed. */
export type UseCases = {
  readonly compactFile: (request: CompactFileRequest) => Promise<Result<CompactReport, Failure>>;
  readonly scoreFile: (request: ScoreFileRequest) => Promise<Result<ScoreReport, Failure>>;
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
  readonly listFormats: () => readonly Format[];
  readonly close: () => void;
};

export type Composition = {
  readonly archivePath: string;
  readonly progress: Progress;
  readonly signal: AbortSignal;
  readonly stdout: (bytes: Uint8Array) => void;
  /** Has a file removed when the process ends; gives a function that forgets it. */
  readonly removeAtExit: (path: string) => () => void;
  /** Told of each step of a run. */
  readonly reached?: StepListener;
};

export type CreateUseCases = (composition: Composition) => UseCases;
