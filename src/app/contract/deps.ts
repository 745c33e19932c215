import type { Stemmer } from '../../core/extract/lexicon.ts';
import type { Result } from '../../core/result.ts';
import type { Archive, ArchiveFailure } from '../../ports/archive.ts';
import type { FileStore, ProducerIndexes } from '../../ports/files.ts';
import type { FormatRegistry } from '../../ports/formats.ts';
import type { ModelProvider, Redactor } from '../../ports/model.ts';
import type { Progress, Runtime, StepListener } from '../../ports/runtime.ts';
import type { Breaker, RateLimiter } from '../summarize/limits.ts';
import type { InFlight } from '../summarize/paid-summaries.ts';

/** existing: a missing one is not made. */
export type ArchiveMode = 'existing' | 'create';

/** What the use cases work through. */
export type AppDeps = {
  readonly files: FileStore;
  readonly formats: FormatRegistry;
  readonly runtime: Runtime;
  readonly progress: Progress;
  readonly signal: AbortSignal;
  /** Null: there is none (and the mode does not make one). Opened once a run. */
  readonly openArchive: (mode: ArchiveMode) => Promise<Result<Archive | null, ArchiveFailure>>;
  readonly archivePath: string;
};

/** What writing a transcript needs beyond that. */
export type WritingDeps = AppDeps & {
  readonly stdout: (bytes: Uint8Array) => void;
  readonly reached: StepListener;
  /** Why a missing archive could not be created; null: it could, or it exists. `isLenient` overlooks missing permissions and full disks. */
  readonly findArchivePlaceProblem: (options: { readonly isLenient: boolean }) => Promise<ArchiveFailure | null>;
  readonly producerIndexes: ProducerIndexes;
};

/** Summarizes the transcripts of one run. */
export type Summarizer = {
  readonly model: ModelProvider;
  /** Stops the run's calls of the model after too many failures in a row. */
  readonly breaker: Breaker;
  /** Undefined: the model is on this machine and costs nothing. */
  readonly service?: ModelService;
  /** Who summarizes where the model cannot; undefined: nobody. */
  readonly fallback?: ModelProvider;
  /** Looks for what summaries lose; undefined: nobody does. */
  readonly stem?: Stemmer;
};

/** What a model that is a service needs around it. */
export type ModelService = {
  /** What its summaries are remembered under. */
  readonly paidAs: { readonly provider: string; readonly scope: string };
  /** Shared by all transcripts at work. */
  readonly inFlight: InFlight;
  readonly limiter: RateLimiter;
  /** For one transcript: masks count from 1 in each. Null: secrets are not masked. */
  readonly createRedactor: (() => Redactor) | null;
  /** Told of waits and other things that a person at the terminal should know. */
  readonly notice: (sentence: string) => void;
};

/** Whether a signal has come: most of the work is synchronous, so it must be let in before it can be seen. */
export async function isInterrupted(deps: {
  readonly runtime: Pick<Runtime, 'yieldToEvents'>;
  readonly signal?: AbortSignal;
}): Promise<boolean> {
  await deps.runtime.yieldToEvents();
  return deps.signal?.aborted === true;
}
