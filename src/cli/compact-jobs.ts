import type { Summarizer } from '../app/contract/deps.ts';
import type { Failure } from '../app/contract/failure.ts';
import type { CompactReport } from '../app/contract/reports.ts';
import type { CompactFileRequest, OutputTarget } from '../app/contract/requests.ts';
import { defaultArchivePath } from '../config/find.ts';
import { type PolicyRequest, type ResolvedSettings, toModel, toPolicy } from '../config/resolve.ts';
import type { Result } from '../core/result.ts';
import type { Progress } from '../ports/runtime.ts';
import { failedReport, skipUnreadable, toFailedReport } from './failed-and-skipped.ts';
import type { ReadyInput } from './gather.ts';
import type { SettingsRequest } from './invocation.ts';
import { makeFolderFor, type OutputChoice } from './outputs.ts';
import { renderBug } from './render/problems.ts';
import type { Place } from './reporter.ts';
import type { RunReport } from './run-report.ts';
import type { Session } from './session.ts';
import type { Embeddings, UseCases } from './use-cases.ts';

/** What the command line asks for, for every transcript alike. */
export type JobOptions = {
  readonly format: string | null;
  readonly policy: PolicyRequest;
  readonly output: OutputChoice;
  readonly isDryRun: boolean;
  /** Transcripts at a time. */
  readonly jobs: number;
};

export type Job = { readonly input: ReadyInput; readonly output: OutputTarget };
type Run = {
  readonly session: Session;
  readonly options: JobOptions;
  readonly isSeveral: boolean;
  readonly report: RunReport;
  readonly summarizer: Summarizer;
  readonly embeddings: Embeddings | null;
};

/** As many at a time as was asked for; each is told as it is done. Gives how many an interruption left undone. */
export async function runJobs(run: Run, jobs: readonly Job[]): Promise<number> {
  const { signal } = run.session.terminal;
  const waiting = jobs.entries();
  const counts = { told: 0, isOver: false };
  const work = async (): Promise<void> => {
    for (const [index, job] of waiting) {
      if (signal.aborted || counts.isOver) return;
      if (await reportJob(run, job, { index, count: jobs.length })) counts.told += 1;
      else counts.isOver = true;
    }
  };
  await Promise.all(Array.from({ length: Math.min(run.options.jobs, jobs.length) }, work));
  return jobs.length - counts.told;
}

/** Does one and tells of it; false: it was interrupted, and there is nothing to tell. */
async function reportJob(run: Run, job: Job, place: Place): Promise<boolean> {
  const { name } = job.input;
  try {
    const result = await runJob(run, job, run.session.reporter.progress.of(name, place));
    if (result.ok) run.report.done(result.value);
    else if (result.error.kind === 'interrupted') return false;
    else tellFailure(run, job.input, result.error);
  } catch (error) {
    // Errors while aborting are expected.
    if (run.session.terminal.signal.aborted) return false;
    // A bug is of this transcript alone, and a run over many goes on.
    run.report.failed(failedReport(name, { kind: 'bug', message: renderBug(error).trimEnd() }));
  }
  return true;
}

function tellFailure(
  { report, session }: Run,
  input: ReadyInput,
  failure: Exclude<Failure, { readonly kind: 'interrupted' }>,
): void {
  const skipped = skipUnreadable(failure, input);
  if (skipped === null) report.failed(toFailedReport(input.name, failure));
  else report.skipped(skipped);
  session.explain(failure);
}

async function runJob(run: Run, { input, output }: Job, progress: Progress): Promise<Result<CompactReport, Failure>> {
  const { session, options, isSeveral } = run;
  const isIntoFolder = isSeveral || (options.output.kind === 'path' && options.output.path.endsWith('/'));
  if (isIntoFolder && !options.isDryRun) {
    const made = await makeFolderFor(output);
    if (!made.ok) return { ok: false, error: { kind: 'file', failure: made.error } };
  }
  const request = {
    input: { path: input.path, name: input.name, format: options.format },
    output: options.isDryRun ? ({ kind: 'none' } as const) : output,
    policy: toPolicy(session.settings, options.policy),
    ...toModel(session.settings),
    ...priceOf(session.settings),
    summarizer: run.summarizer,
    embeddings: run.embeddings,
  } satisfies Parameters<UseCases['compactFile']>[0];
  return session.useCases.compactFile(request, progress);
}

/** Of the model that summarizes, where the configuration has it. */
export function priceOf({ prices, summarization }: ResolvedSettings): Pick<CompactFileRequest, 'price'> {
  const { name, provider } = summarization;
  const price = name === null || provider === 'extractive' ? undefined : prices[name];
  return price === undefined ? {} : { price };
}

/** What a later command has to be told, because this one was told it: by `--archive`, or by a configuration that it was pointed to or told to trust. */
export function archiveToName(
  { settings, terminal }: Pick<Session, 'settings' | 'terminal'>,
  { configFlag, project, flags }: SettingsRequest,
): string | null {
  const { path } = settings.archive;
  const isForOnce = configFlag !== null || project === 'trusted';
  return flags.archive?.path ?? (isForOnce && path !== defaultArchivePath(terminal.host) ? path : null);
}
