import type { ModelService, Summarizer, WritingDeps } from '../app/contract/deps.ts';
import { attempt, type Failure } from '../app/contract/failure.ts';
import type { BatchDeps } from '../app/jobs/records.ts';
import { ModelError } from '../core/model-request.ts';
import { err, ok, type Result } from '../core/result.ts';
import type { BatchService } from '../ports/batch.ts';
import type { BatchRun, Created, ModelChoice, SummarizerChoice, UseCases } from './use-cases.ts';

type Deps = WritingDeps & {
  readonly createSummarizer: (choice: SummarizerChoice) => Promise<Result<Created<Summarizer>, string>>;
};

type BatchUseCases = Pick<UseCases, 'submitBatches' | 'collectBatches' | 'cancelBatches' | 'batchStatus'>;

/** The use cases around batches. A vendor's library is loaded when one of them asks its service. */
export function createBatchUseCases(deps: Deps): BatchUseCases {
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
    submitBatches: (run, files) =>
      inRun(run, async (batch) => (await import('../app/jobs/submit.ts')).submitBatches(batch, files)),
    collectBatches: (run) =>
      inRun(run, async (batch) => (await import('../app/jobs/collect.ts')).collectBatches(batch)),
    cancelBatches: (run) => inRun(run, async (batch) => (await import('../app/jobs/submit.ts')).cancelBatches(batch)),
    batchStatus: async (run) => {
      const { batchStatus } = await import('../app/jobs/submit.ts');
      const { refreshBatches } = await import('../app/jobs/refresh.ts');
      const existing = await deps.openArchive('existing');
      if (!existing.ok) return err({ kind: 'archive', failure: existing.error });
      const archive = existing.value;
      if (archive === null) return ok(null);
      const refreshed = run === null ? ok([]) : await inRun(run, refreshBatches);
      return refreshed.ok ? ok(await batchStatus(archive, deps.runtime.now())) : refreshed;
    },
  };
}

type Prepared = Omit<BatchDeps, keyof WritingDeps | 'archive'>;

async function prepare(deps: Deps, run: BatchRun): Promise<Result<Prepared, Failure>> {
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
    return ok({
      ...listeners,
      ask,
      onStep: () => undefined,
      service: await createService(model, deps),
      provider: model.provider,
      summarizer: withService(summarizer, service),
    });
  } catch (error) {
    if (error instanceof ModelError) return refuse(error.message);
    throw error;
  }
}

function withService(summarizer: Summarizer, service: ModelService): Summarizer & { readonly service: ModelService } {
  return { ...summarizer, service };
}

async function createService(choice: ModelChoice, { runtime, signal }: Deps): Promise<BatchService> {
  const { provider, apiKey, baseUrl, maxTokensField, log } = choice;
  const options = { apiKey, baseUrl, now: runtime.now, signal, ...(log === undefined ? {} : { log }) };
  if (provider === 'anthropic')
    return (await import('../adapters/model/anthropic-batch.ts')).createAnthropicBatches(options);
  return (await import('../adapters/model/openai-batch.ts')).createOpenAiBatches({ ...options, maxTokensField });
}
