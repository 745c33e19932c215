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
import { type FilesAtWork, openFilesAtWork } from './pool/files-at-work.ts';
import { runInOrder } from './pool/in-order.ts';
import { makeFolderFor, type OutputChoice } from '../compose/outputs.ts';
import { renderBug } from './render/problems.ts';
import type { Place } from './reporter.ts';
import type { RunReport } from './run-report.ts';
import type { Session } from './session.ts';
import type { Embeddings } from '../compose/services.ts';
import type { UseCases } from '../compose/use-cases.ts';

/** What the command line asks for every transcript. */
export type JobOptions = {
  readonly format: string | null;
  readonly policy: PolicyRequest;
  readonly output: OutputChoice;
  /** Only transcripts whose last message was earlier; null: any. */
  readonly before: Date | null;
  readonly isDryRun: boolean;
  /** Transcripts at a time; null: chosen for the machine. */
  readonly jobs: number | null;
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

/** Compacts the transcripts and reports them in their order. Returns how many an interruption left undone. */
export async function runJobs(run: Run, jobs: readonly Job[]): Promise<number> {
  const { session, options, summarizer, embeddings } = run;
  const isOffline = summarizer.service === undefined && embeddings === null;
  const files = jobs.map(({ input }) => input);
  const needsMemory = jobs.every(({ output }) => output.kind !== 'stdout');
  const atWork = await openFilesAtWork(session, { files, jobs: options.jobs, isOffline, needsMemory });
  return runInOrder<Job, () => void>({
    items: jobs,
    jobs: atWork.jobs,
    signal: session.terminal.signal,
    work: (job, place) => attemptJob({ ...run, useCases: atWork.useCases }, job, place),
    report: (report) => report(),
  });
}

/** Returns how the outcome is reported; null: it was interrupted. */
async function attemptJob(run: RunAtWork, job: Job, place: Place): Promise<(() => void) | null> {
  const { session, report } = run;
  const { name } = job.input;
  try {
    const result = await runJob(run, job, session.reporter.progress.of(name, place));
    if (result.ok) return () => report.done(result.value);
    const { error } = result;
    if (error.kind !== 'interrupted') return () => reportFailure(run, job.input, error);
    report.interrupted(name);
    return null;
  } catch (error) {
    // Errors while aborting are expected.
    if (session.terminal.signal.aborted) return null;
    // A bug concerns this transcript only, so the run goes on.
    const failed = failedReport(name, { kind: 'bug', message: renderBug(error).trimEnd() });
    return () => report.failed(failed);
  }
}

function reportFailure(
  { report, session }: Run,
  input: ReadyInput,
  failure: Exclude<Failure, { readonly kind: 'interrupted' }>,
): void {
  const skipped = skipUnreadable(failure, input);
  if (skipped === null) report.failed(toFailedReport(input.name, failure));
  else report.skipped(skipped);
  session.explain(failure);
}

type RunAtWork = Run & Pick<FilesAtWork, 'useCases'>;

async function runJob(
  run: RunAtWork,
  { input, output }: Job,
  progress: Progress,
): Promise<Result<CompactReport, Failure>> {
  const { session, options, isSeveral } = run;
  const isIntoFolder = isSeveral || (options.output.kind === 'path' && options.output.path.endsWith('/'));
  if (isIntoFolder && !options.isDryRun) {
    const made = await makeFolderFor(output);
    if (!made.ok) return { ok: false, error: { kind: 'file', failure: made.error } };
  }
  const request = {
    input: { path: input.path, name: input.name, format: options.format, refusesLinks: input.refusesLinks },
    output: options.isDryRun ? ({ kind: 'none' } as const) : output,
    policy: toPolicy(session.settings, options.policy),
    ...toModel(session.settings),
    ...priceOf(session.settings),
    ...(options.before !== null && { before: options.before }),
    ...(!input.isNamed && output.kind === 'in-place' && { minIdleMs: minIdleOf(session.settings) }),
    summarizer: run.summarizer,
    embeddings: run.embeddings,
  } satisfies Parameters<UseCases['compactFile']>[0];
  return run.useCases.compactFile(request, progress);
}

const MINUTE_MS = 60_000;

/** How long a file that nobody named must not have changed before it is replaced. */
export function minIdleOf({ transcript }: ResolvedSettings): number {
  return transcript.min_idle_minutes * MINUTE_MS;
}

/** The configured price of the model that summarizes, if there is one. */
export function priceOf({ prices, summarization }: ResolvedSettings): Pick<CompactFileRequest, 'price'> {
  const { name, provider } = summarization;
  const price = name === null || provider === 'extractive' ? undefined : prices[name];
  return price === undefined ? {} : { price };
}

/** The `--archive` that a later command needs: the path that this command was given, by the flag or by a configuration for this run only. */
export function archiveToName(
  { settings, terminal }: Pick<Session, 'settings' | 'terminal'>,
  { configFlag, project, flags }: SettingsRequest,
): string | null {
  const { path } = settings.archive;
  const isForThisRun = configFlag !== null || project === 'trusted';
  return flags.archive?.path ?? (isForThisRun && path !== defaultArchivePath(terminal.host) ? path : null);
}
