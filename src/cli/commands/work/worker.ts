import { existsSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import type { Summarizer } from '../../../app/contract/deps.ts';
import type { FailedReport } from '../../../app/contract/reports.ts';
import type { JobOutcome } from '../../../app/jobs/work.ts';
import { planOutputs } from '../../../compose/outputs.ts';
import type { Embeddings } from '../../../compose/services.ts';
import { resolveSettings, toModel, toPolicy } from '../../../config/resolve.ts';
import type { Result } from '../../../core/result.ts';
import type { QueueStatus, TakenJob } from '../../../ports/queue.ts';
import { readPolicy, readSettings, readTime } from '../../line/flags.ts';
import {
  type AllowedFile,
  type AllowedFolder,
  isMissingInside,
  leadsOutside,
  openAllowed,
  resolveFolders,
} from '../../mcp/compact-context.ts';
import { defaultJobs } from '../../pool/work-on-files.ts';
import type { FileUseCases } from '../../pool/worker.ts';
import { failedReport, renderFailure, toFailedReport } from '../../../messages/failure.ts';
import { describeOutputProblem, renderBug } from '../../../messages/problems.ts';
import { countOf, formatDuration } from '../../../messages/quantities.ts';
import { safeText } from '../../../messages/text.ts';
import { archiveToName, minIdleOf } from '../../runs/compact.ts';
import { skipUnreadable } from '../../runs/outcomes.ts';
import { createRunReport, type RunReport } from '../../runs/run-report.ts';
import { createEmbeddingsIfAny, createSummarizer } from '../../runs/services.ts';
import type { Session } from '../../session.ts';
import { EXIT_CODES, type ExitCode, interruptionCode } from '../../terminal/exit-codes.ts';
import { fileOfJob, type JobData, type JobOptions, parseJob } from './queue.ts';

type Worker = {
  readonly session: Session;
  readonly report: RunReport;
  /** Where it may read and write transcripts. */
  readonly folders: readonly AllowedFolder[];
  readonly useCases: Pick<FileUseCases, 'compactFile'>;
  readonly embeddings: Embeddings | null;
  readonly summarizerFor: (settings: ReturnType<typeof settingsOf>) => Promise<Result<Summarizer, string>>;
  /** How often each job was left to other workers, by its id. */
  readonly deferrals: Map<string, number>;
};

type WorkerOptions = {
  readonly folder?: readonly string[] | undefined;
  /** Jobs at a time; by default chosen for the machine. */
  readonly concurrency?: number | undefined;
  readonly keepRunning?: boolean | undefined;
  /** The most that this worker may spend, in the currency of the prices. */
  readonly maxCost?: number | undefined;
  /** Where Prometheus asks: '127.0.0.1:9464'. */
  readonly metrics?: string | undefined;
  /** Milliseconds to wait for a database that is away when the worker starts. */
  readonly archiveWait?: number | undefined;
  /** Milliseconds that the files in work have left after a SIGTERM. */
  readonly grace?: number | undefined;
};

const DEFAULT_WAIT_MS = 5 * 60_000;
const DEFAULT_GRACE_MS = 30_000;

/** Works on jobs until the queue is empty. What the line says holds for all of them; jobs have options of their own over it. */
export async function runWorker(session: Session, options: WorkerOptions): Promise<ExitCode> {
  const { reporter, terminal } = session;
  const folders = resolveFolders(options.folder ?? [], terminal.host.workingFolder);
  if (!folders.ok) return session.refuse(folders.error);
  const summarizerFor = createSummarizers(session, options.maxCost);
  // A missing key is reported before a job is taken.
  const first = await summarizerFor(settingsOf(session, {}));
  if (!first.ok) return session.refuse(first.error);
  const embeddings = await createEmbeddingsIfAny(session, { instead: 'archived texts get none' });
  const isOffline = first.value.service === undefined && embeddings === null;
  const concurrency = options.concurrency ?? defaultJobs(isOffline);
  const kind = { isDryRun: false, isInPlace: false, names: null, failures: [] };
  const report = createRunReport(session, { ...kind, archiveFlag: archiveToName(session) });
  const graceMs = options.grace ?? DEFAULT_GRACE_MS;
  const stopping = terminal.stopGently(graceMs);
  stopping.addEventListener('abort', () => {
    if (terminal.signal.aborted) return;
    reporter.report([`Stopping: the files in work have ${formatDuration(graceMs)} left, and no others are begun.`]);
  });
  const queue: { status: (() => Promise<QueueStatus>) | null } = { status: null };
  const metrics =
    options.metrics === undefined
      ? null
      : await (
          await import('./metrics.ts')
        ).serveMetrics(options.metrics, {
          totals: report.totals,
          status: async () => (await queue.status?.()) ?? null,
          archive: async () => {
            const gauges = await session.useCases.gaugeArchive();
            return gauges.ok ? gauges.value : null;
          },
        });
  if (metrics?.ok === false) return session.refuse(metrics.error);
  if (metrics !== null) {
    session.atEnd(metrics.value.close);
    reporter.report([`Metrics: ${metrics.value.address}/metrics`]);
  }
  // Other processes leave this one free to say that the worker is alive.
  const useCases = isOffline ? await session.startProcesses(concurrency) : session.useCases;
  const worker: Worker = {
    session,
    report,
    folders: folders.value,
    useCases,
    embeddings,
    summarizerFor,
    deferrals: new Map(),
  };
  const done = await session.useCases.workJobs({
    concurrency,
    keepsRunning: options.keepRunning === true,
    maxWaitMs: options.archiveWait ?? DEFAULT_WAIT_MS,
    stopping,
    onOpen: ({ status }) => {
      queue.status = status;
    },
    perform: async (job) => {
      const begunMs = performance.now();
      const outcome = await perform(worker, job);
      metrics?.value.jobEnded(outcome.kind, (performance.now() - begunMs) / 1000);
      return outcome;
    },
    whenIdle: async () => {
      if (session.settings.archive.index === 'never') return false;
      // A search, or the next turn, tells what is wrong.
      const done = await session.useCases.indexArchive({ maxBytes: IDLE_BYTES });
      return done.ok && done.value.indexed.bytes > 0 && done.value.left.bytes > 0;
    },
    onWaiting: ({ others, later }) =>
      reporter.report([
        ...(others > 0 ? [`Waiting for ${countOf(others, 'job')} of other workers, in case one of them dies.`] : []),
        ...(later > 0
          ? [`Waiting for ${countOf(later, 'job')} to be tried again later. Ctrl-C ends this worker.`]
          : []),
      ]),
  });
  const { failed } = report.end(0);
  // After a signal, errors are expected.
  if (!done.ok) return terminal.signal.aborted ? EXIT_CODES.failed : session.fail(done.error);
  if (done.value.stopped !== null)
    return session.fail(`${done.value.stopped} This worker has stopped and put its jobs back in the queue.`);
  // There may be open jobs.
  if (stopping.aborted) return interruptionCode(stopping);
  return failed > 0 ? EXIT_CODES.failed : EXIT_CODES.done;
}

/** What goes into the search index before the worker looks for a job again. */
const IDLE_BYTES = 4 * 1024 * 1024;

/** One summarizer asks a model for all jobs, so that its limits hold for all of them together; offline, the share to keep makes a difference. */
function createSummarizers(session: Session, maxCost: number | undefined): Worker['summarizerFor'] {
  const known = new Map<number | undefined, Promise<Result<Summarizer, string>>>();
  const isOffline = session.settings.summarization.provider === 'extractive';
  return ({ policy: { compaction } }) => {
    const key = isOffline ? compaction.minRetention : undefined;
    const summarizer = known.get(key) ?? createSummarizer(session, { isDryRun: false, compaction, maxCost });
    known.set(key, summarizer);
    return summarizer;
  };
}

/** The settings of this machine, and over them the options of the job. */
function settingsOf({ config, terminal, asked }: Session, jobOptions: JobOptions) {
  const { flags } = asked.settings;
  const job = readSettings(jobOptions).flags;
  const settings = resolveSettings({
    config,
    flags: {
      summarization: { ...flags.summarization, ...job.summarization },
      transcript: { ...flags.transcript, ...job.transcript },
      archive: flags.archive ?? {},
    },
    host: terminal.host,
  });
  const before = readTime(jobOptions.olderThan);
  return {
    policy: toPolicy(settings, readPolicy(jobOptions)),
    ...toModel(settings),
    ...(before !== null && { before }),
  };
}

async function perform(worker: Worker, job: TakenJob): Promise<JobOutcome> {
  const parsed = parseJob(job.data);
  const path = fileOfJob(job.data);
  if (!parsed.ok) {
    const message = `${safeText(path)}: ${safeText(parsed.error)}`;
    return failAttempt(worker, job, failedReport(path, { kind: 'bad-job', message }));
  }
  try {
    return await compactJob(worker, job, parsed.value);
  } catch (error) {
    // Errors while aborting are expected.
    if (worker.session.terminal.signal.aborted) return { kind: 'interrupted' };
    return failAttempt(worker, job, failedReport(path, { kind: 'bug', message: renderBug(error).trimEnd() }));
  }
}

async function compactJob(worker: Worker, job: TakenJob, data: JobData): Promise<JobOutcome> {
  const { path } = data;
  const { session, folders } = worker;
  const summarizer = await worker.summarizerFor(settingsOf(session, data.options));
  if (!summarizer.ok) return { kind: 'unable', reason: `${summarizer.error}.` };
  const file = openAllowed(path, folders);
  if (!file.ok)
    return isMissingInside(path, folders)
      ? settleMissing(worker, job, path)
      : failAttempt(worker, job, failedReport(path, { kind: 'bad-job', message: file.error }));
  try {
    return await compactAllowed(worker, job, { ...data, file: file.value, summarizer: summarizer.value });
  } finally {
    file.value.close();
  }
}

type AllowedJob = JobData & { readonly file: AllowedFile; readonly summarizer: Summarizer };

async function compactAllowed(
  worker: Worker,
  job: TakenJob,
  { path, isNamed, options, file, summarizer }: AllowedJob,
): Promise<JobOutcome> {
  const { session, report, folders } = worker;
  const choice = { kind: options.inPlace === true ? 'in-place' : 'default' } as const;
  const files = [{ path: file.path, pathInFolder: basename(file.path) }];
  const planned = planOutputs({ files, isSeveral: false, choice });
  if (!planned.ok) {
    const message = describeOutputProblem(planned.error);
    return failAttempt(worker, job, failedReport(path, { kind: 'output-exists', message }));
  }
  const [output = { kind: 'none' } as const] = planned.value;
  if (output.kind === 'default' && leadsOutside(output.path, folders)) {
    const message = `${safeText(output.path)}: it is a link that leads out of the folders of this worker. Remove it.`;
    return failAttempt(worker, job, failedReport(path, { kind: 'bad-job', message }));
  }
  const request = {
    input: { path: file.path, name: path, format: options.format ?? null, identity: file.identity },
    output,
    ...settingsOf(session, options),
    ...(!isNamed && output.kind === 'in-place' && { minIdleMs: minIdleOf(session.settings) }),
    summarizer,
    embeddings: worker.embeddings,
  };
  const progress = session.reporter.progress.of(path, { index: 0, count: 1 });
  const done = await worker.useCases.compactFile(request, progress);
  if (done.ok) {
    const isInUse = done.value.reason === 'in-use';
    const deferred = isInUse ? defer(worker, job, { file: path, why: `${safeText(path)}: it is in use.` }) : null;
    if (deferred === null) report.done(done.value);
    return deferred ?? { kind: 'done', usage: done.value.usage };
  }
  const failure = done.error;
  if (failure.kind === 'interrupted') return { kind: 'interrupted' };
  // The next job would fail too, unless what is damaged is what the archive has of this file alone.
  if (failure.kind === 'archive' && failure.failure.kind !== 'damaged')
    return { kind: 'unable', reason: renderFailure(failure) };
  const skipped = skipUnreadable(failure, { name: path, isNamed });
  if (skipped !== null) {
    report.skipped(skipped);
    return { kind: 'done' };
  }
  const failed = toFailedReport(path, failure);
  if (failure.kind === 'cost-limit' || (failure.kind === 'no-summary' && summarizer.breaker.isOpen())) {
    report.spent(failed.usage);
    return { kind: 'unable', reason: failed.error.message, usage: failed.usage };
  }
  return failed.error.kind === 'not-found' ? settleMissing(worker, job, path) : failAttempt(worker, job, failed);
}

function settleMissing(worker: Worker, job: TakenJob, path: string): JobOutcome {
  const message = `${safeText(path)}: not found on this machine. Workers need the file under the same path.`;
  const missing = failedReport(path, { kind: 'not-found', message });
  // If its folder is here, the file was removed or renamed; otherwise a disk is not mounted here.
  const deferred = existsSync(dirname(path)) ? null : defer(worker, job, { file: path, why: message });
  return deferred ?? failAttempt(worker, job, missing);
}

/** Time enough to mount a disk again, or to end another run. */
const DEFERRALS_SECONDS = [10, 60, 300, 900];

/** Null: it was deferred often enough. */
function defer(
  worker: Worker,
  job: TakenJob,
  { file, why }: { readonly file: string; readonly why: string },
): JobOutcome | null {
  const times = worker.deferrals.get(job.id) ?? 0;
  const delaySeconds = DEFERRALS_SECONDS[times];
  if (delaySeconds === undefined) return null;
  worker.deferrals.set(job.id, times + 1);
  worker.session.reporter.report([`${why} The job goes back for ${delaySeconds} s.`], { file, result: 'deferred' });
  return { kind: 'deferred', delaySeconds };
}

function failAttempt({ report, session }: Worker, job: TakenJob, failed: FailedReport): JobOutcome {
  const { attempt, maxAttempts } = job;
  const { message } = failed.error;
  if (attempt >= maxAttempts) report.failed(failed);
  else {
    const retried = `${message} Attempt ${attempt} of ${maxAttempts} failed; the job will be retried.`;
    session.reporter.report([retried], { file: failed.file, result: 'retried' });
    report.spent(failed.usage);
  }
  return { kind: 'failed', reason: message, usage: failed.usage };
}
