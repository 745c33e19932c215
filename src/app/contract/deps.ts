import type { Stemmer } from '../../core/extract/terms.ts';
import type { Result } from '../../core/result.ts';
import type { Archive, ArchiveFailure, RunMark } from '../../ports/archive.ts';
import type { FileStore, ProducerIndexes } from '../../ports/files.ts';
import type { FormatRegistry } from '../../ports/codec.ts';
import type { ModelRequest, ModelResponse } from '../../core/model-request.ts';
import type { ModelProvider, Price, Redactor } from '../../ports/model.ts';
import type { Progress, Runtime, StepListener } from '../../ports/runtime.ts';
import type { Breaker, Budget, RateLimiter } from '../summarize/limits.ts';
import type { InFlight, PaidAs } from '../summarize/paid-summaries.ts';

/** existing: a missing archive is not created. */
export type ArchiveMode = 'existing' | 'create';

/** What every use case needs. */
export type AppDeps = {
  readonly files: FileStore;
  readonly formats: FormatRegistry;
  readonly runtime: Runtime;
  readonly progress: Progress;
  readonly signal: AbortSignal;
  /** Null: there is no archive, and the mode does not create one. It is opened once in a run. */
  readonly openArchive: (mode: ArchiveMode) => Promise<Result<Archive | null, ArchiveFailure>>;
  readonly archivePath: string;
  /** When messages get into the search index; by default when somebody searches. */
  readonly indexing?: 'on-search' | 'at-once' | 'never' | undefined;
  /** Called with sentences for the person at the terminal. */
  readonly notice?: ((sentence: string) => void) | undefined;
  /** This run finishes what an interrupted erasure left, unless an attempt in this run has failed. Undefined: it leaves that to other runs. */
  readonly erasures?: { hasFailed: boolean } | undefined;
};

/** What writing a transcript needs in addition. */
export type WritingDeps = AppDeps & {
  readonly stdout: (bytes: Uint8Array) => void;
  readonly reached: StepListener;
  /** Why a missing archive could not be created; null: it could, or it exists. `isLenient` ignores missing permissions and full disks. */
  readonly findArchivePlaceProblem: (options: { readonly isLenient: boolean }) => Promise<ArchiveFailure | null>;
  readonly producerIndexes: ProducerIndexes;
  /** Called before a file is replaced whose compaction makes the disk fuller, by about so many bytes. */
  readonly tellFuller?: (file: string, bytes: number) => void;
  /** What is written belongs to this run. */
  readonly run: RunMark;
};

/** Summarizes the transcripts of one run. */
export type Summarizer = {
  readonly model: ModelProvider;
  /** Stops the run's calls of the model after too many failures in a row. */
  readonly breaker: Breaker;
  /** Undefined: the model runs on this machine and costs nothing. */
  readonly service?: ModelService;
  /** Summarizes when the model cannot; undefined: nothing does. */
  readonly fallback?: ModelProvider;
  /** For the audit of what summaries lose; undefined: there is no audit. */
  readonly stem?: Stemmer;
};

/** What calling a service needs besides the model. */
export type ModelService = {
  readonly paidAs: PaidAs;
  /** Requests that are running now, shared by all transcripts. */
  readonly inFlight: InFlight;
  readonly limiter: RateLimiter;
  /** Undefined: what the model costs is not known. */
  readonly price?: Price | undefined;
  /** What all calls of the run may cost; undefined: any sum. */
  readonly budget?: Budget | undefined;
  /** Creates the redactor of one transcript: masks count from 1 in each. Null: secrets are not masked. */
  readonly createRedactor: (() => Redactor) | null;
  /** Called with sentences for the person at the terminal, for example about waits. */
  readonly notice: (sentence: string) => void;
  /** The answers come from batches; the model is never called. Undefined: it is. */
  readonly later?: LaterAnswers;
};

/** Answers of batches to the requests of one transcript. A request is known by its key in the memory of paid summaries. */
export type LaterAnswers = {
  /** Null: there is no answer yet. Rejects with a `ModelError` if there will be none. */
  readonly find: (key: string) => Promise<ModelResponse | null>;
  /** Writes down a request without an answer, as it is to be sent. */
  readonly defer: (key: string, request: ModelRequest) => void;
  /** Whether a request was written down. */
  readonly isWaiting: () => boolean;
  /** Called before the first request with what was read. */
  readonly onRead: (read: {
    readonly source: { readonly sizeBytes: number };
    readonly recordIndex: { readonly sha256: string };
    readonly settingsSha256: string;
  }) => void;
};

/** Whether the run was interrupted. Most of the work is synchronous, so a signal is only seen after yielding. */
export async function isInterrupted(deps: {
  readonly runtime: Pick<Runtime, 'yieldToEvents'>;
  readonly signal?: AbortSignal;
}): Promise<boolean> {
  await deps.runtime.yieldToEvents();
  return deps.signal?.aborted === true;
}
