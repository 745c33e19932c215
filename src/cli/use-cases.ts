import type { Failure } from '../app/failure.ts';
import type { CompactReport, RestoreReport, ScoreReport, VerifyReport } from '../app/reports.ts';
import type { CompactFileRequest, RestoreFileRequest, ScoreFileRequest, VerifyFileRequest } from '../app/requests.ts';
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
