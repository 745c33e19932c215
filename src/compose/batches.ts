import type { Summarizer, WritingDeps } from '../app/contract/deps.ts';
import { attempt, type Failure } from '../app/contract/failure.ts';
import type { BatchDeps } from '../app/jobs/records.ts';
import type { BatchStatusReport, SubmittedFile } from '../app/jobs/submit.ts';
import { ModelError } from '../core/model-request.ts';
import { err, ok, type Result } from '../core/result.ts';
import type { BatchService } from '../ports/batch.ts';
import type { Created, ModelChoice, SummarizerChoice } from './services.ts';

type Deps = WritingDeps & {
  readonly createSummarizer: (choice: SummarizerChoice) => Promise<Result<Created<Summarizer>, string>>;
};

export type BatchRun = Pick<BatchDeps, 'priceOf' | 'onFile' | 'onWarning' | 'onProblem'> & {
  readonly model: ModelChoice;
  readonly compaction: SummarizerChoice['compaction'];
};

/** The use cases around batches. A vendor's library is loaded when one of them asks its service. */
export function createBatchUseCases(deps: Deps) {
  const inRun = <T>(run: BatchRun, work: (deps: BatchDeps) => Promise<T>): Promise<Result<T, Failure>> =>
    attempt({ file: deps.archivePath, progress: deps.progress }, async () => {
      const opened = await deps.openArchive('create');
      if (!opened.ok) return err({ kind: 'archive', failure: opened.error });
      if (opened.value === null) throw new Error('the archive was not created');
      const ready = await prepare(deps, run);
      if (!ready.ok) return err(ready.error);
      return ok(await work({ ...deps, ...ready.value, archive: opened.value }));
    });
  return {
    /** Plans transcripts, and sends their requests as batches. */
    submitBatches: (run: BatchRun, files: readonly SubmittedFile[]) =>
      inRun(run, async (batch) => (await import('../app/jobs/submit.ts')).submitBatches(batch, files)),
    /** Fetches results, compacts what has its answers, and sends what is still needed. */
    collectBatches: (run: BatchRun) =>
      inRun(run, async (batch) => (await import('../app/jobs/collect.ts')).collectBatches(batch)),
    /** Gives the number of batches. */
    cancelBatches: (run: BatchRun) =>
      inRun(run, async (batch) => (await import('../app/jobs/submit.ts')).cancelBatches(batch)),
    /** `run`: the provider is asked first; null: only what the archive knows. Null: there is no archive. */
    batchStatus: async (run: BatchRun | null): Promise<Result<BatchStatusReport | null, Failure>> => {
      const { batchStatus } = await import('../app/jobs/submit.ts');
      const { refreshBatches } = await import('../app/jobs/collect.ts');
      const existing = await deps.openArchive('existing');
      if (!existing.ok) return err({ kind: 'archive', failure: existing.error });
      const archive = existing.value;
      if (archive === null) return ok(null);
      const refreshed = run === null ? ok([]) : await inRun(run, refreshBatches);
      return refreshed.ok ? ok(await batchStatus(archive, deps.runtime.now())) : refreshed;
    },
  };
}

async function prepare(
  deps: Deps,
  run: BatchRun,
): Promise<Result<Omit<BatchDeps, keyof WritingDeps | 'archive'>, Failure>> {
  const { model, compaction, ...listeners } = run;
  const refuse = (problem: string): Result<never, Failure> =>
    err({ kind: 'no-batch-api', provider: model.provider, problem });
  // Answers come from batches, so no model is called.
  const created = await deps.createSummarizer({ model: { ...model, isDryRun: true }, compaction });
  if (!created.ok) return refuse(created.error);
  const { service, ...summarizer } = created.value.value;
  if (service === undefined) return refuse('it has no batch API');
  const ask = async <T>(call: () => Promise<T>): Promise<T | null> => {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof ModelError)) throw error;
      listeners.onProblem(error.message);
      return null;
    }
  };
  try {
    const { provider } = model;
    const made = { service: await createService(model, deps), summarizer: { ...summarizer, service } };
    return ok({ ...listeners, ...made, ask, onStep: () => undefined, provider });
  } catch (error) {
    if (error instanceof ModelError) return refuse(error.message);
    throw error;
  }
}

async function createService(choice: ModelChoice, { runtime, signal }: Deps): Promise<BatchService> {
  const { provider, apiKey, baseUrl, maxTokensField, log } = choice;
  const options = { apiKey, baseUrl, now: runtime.now, signal, ...(log === undefined ? {} : { log }) };
  if (provider === 'anthropic')
    return (await import('../adapters/model/anthropic-batch.ts')).createAnthropicBatches(options);
  return (await import('../adapters/model/openai-batch.ts')).createOpenAiBatches({ ...options, maxTokensField });
}
