import { err, ok, type Result } from '../../core/result.ts';
import type { ArchiveFailure } from '../../ports/archive.ts';
import type { JobQueue, NewJob, QueueStatus, TakenJob } from '../../ports/queue.ts';
import type { Runtime } from '../../ports/runtime.ts';
import type { ArchiveMode } from '../contract/deps.ts';
import { attempt, type Failure } from '../contract/failure.ts';
import { addPriced, type PricedUsage } from '../summarize/usage.ts';

export type QueueDeps = {
  /** Null: there is no queue, and the mode does not create one. */
  readonly openQueue: (mode: ArchiveMode, waiting: Waiting) => Promise<Result<JobQueue | null, ArchiveFailure>>;
  readonly runtime: Pick<Runtime, 'sleep'>;
  readonly signal: AbortSignal;
  readonly archivePath: string;
};

/** How long to wait for a server that is away now, unless aborted. */
type Waiting = { readonly maxWaitMs: number; readonly signal?: AbortSignal };

export type JobOutcome =
  | { readonly kind: 'done'; readonly usage?: PricedUsage | undefined }
  /** It is tried again, here or elsewhere, until its last attempt. `reason`: a sentence. */
  | { readonly kind: 'failed'; readonly reason: string; readonly usage?: PricedUsage | undefined }
  /** This worker can do no jobs like it, so it returns this one and stops. */
  | { readonly kind: 'unable'; readonly reason: string; readonly usage?: PricedUsage | undefined }
  /** Another worker may be able to do it, or this one later. It counts no attempt. */
  | { readonly kind: 'deferred'; readonly delaySeconds: number }
  | { readonly kind: 'interrupted' };

export type WorkRequest = {
  /** Jobs at a time. */
  readonly concurrency: number;
  /** Whether to wait for more jobs when all are done. */
  readonly keepsRunning: boolean;
  /** How long to wait for a database server that is away at the beginning. */
  readonly maxWaitMs: number;
  /** When aborted, jobs in work are finished, and no more are taken. */
  readonly stopping: AbortSignal;
  readonly onOpen: (queue: Pick<JobQueue, 'status'>) => void;
  readonly perform: (job: TakenJob) => Promise<JobOutcome>;
  /** Called while there is nothing to take and nothing in work; true: there is more to do meanwhile. */
  readonly whenIdle: () => Promise<boolean>;
  /** Called when there is nothing to take, but some jobs are not done, once until the next job or another reason. */
  readonly onWaiting: (waitsFor: WaitsFor) => void;
};

/** Numbers of jobs. `later`: their next try is due later; 0 while this worker has jobs itself. */
export type WaitsFor = { readonly others: number; readonly later: number };

/** `stopped`: why the worker stopped before the queue was empty; null: it did not. */
export type WorkSummary = { readonly stopped: string | null };

const POLL_MS = 1000;

/** Takes jobs until all are done, by this worker or another one: until then, the job of a worker that died may come back. */
export async function workJobs(deps: QueueDeps, request: WorkRequest): Promise<Result<WorkSummary, Failure>> {
  const { maxWaitMs, stopping } = request;
  const signal = AbortSignal.any([stopping, deps.signal]);
  const opening = { mode: 'create', maxWaitMs, signal, otherwise: { stopped: null } } as const;
  return withQueue<WorkSummary>(deps, opening, async (queue) => {
    request.onOpen(queue);
    const state: { stopped: string | null; waitsFor: string | null; working: number } = {
      stopped: null,
      waitsFor: null,
      working: 0,
    };
    const isOver = (): boolean => signal.aborted || state.stopped !== null;
    const takeTurns = async (): Promise<void> => {
      while (!isOver()) {
        const job = await queue.take();
        if (job !== null) {
          state.waitsFor = null;
          state.working += 1;
          const outcome = isOver() ? ({ kind: 'interrupted' } as const) : await request.perform(job);
          const stopped = await settle(queue, job, outcome);
          state.working -= 1;
          state.stopped ??= stopped;
          continue;
        }
        if (state.working === 0) {
          state.working += 1;
          const isBusy = await request.whenIdle().finally(() => (state.working -= 1));
          if (isBusy) continue;
        }
        const { open, active } = await queue.status();
        if (open + active === 0 && !request.keepsRunning) return;
        const waitsFor = { others: Math.max(0, active - state.working), later: state.working === 0 ? open : 0 };
        const reason = `${waitsFor.others > 0} ${waitsFor.later > 0}`;
        if (reason !== state.waitsFor && waitsFor.others + waitsFor.later > 0) {
          state.waitsFor = reason;
          request.onWaiting(waitsFor);
        }
        await deps.runtime.sleep(POLL_MS, signal).catch(() => undefined); // interrupted: the loop ends
      }
    };
    // If one of them fails, the others finish their jobs before the queue is closed.
    const ended = await Promise.allSettled(
      Array.from({ length: request.concurrency }, async () => {
        try {
          await takeTurns();
        } catch (error) {
          state.stopped ??= 'the queue cannot be used';
          throw error;
        }
      }),
    );
    for (const one of ended) if (one.status === 'rejected') throw one.reason;
    return { stopped: state.stopped };
  });
}

/** Returns why the worker must stop; null: it goes on. */
async function settle(queue: JobQueue, job: TakenJob, outcome: JobOutcome): Promise<string | null> {
  const usage = 'usage' in outcome && outcome.usage ? addPriced(job.spent, outcome.usage) : job.spent;
  if (outcome.kind === 'done') await queue.finish(job, usage);
  else if (outcome.kind === 'failed') await queue.fail(job, outcome.reason, usage);
  else await queue.giveBack(job, outcome.kind === 'deferred' ? outcome.delaySeconds : 0, usage);
  return outcome.kind === 'unable' ? outcome.reason : null;
}

/** Returns how many were added: files that have an open job already are not. */
export async function addJobs(deps: QueueDeps, jobs: readonly NewJob[]): Promise<Result<number, Failure>> {
  return withQueue(deps, { mode: 'create', otherwise: 0 }, (queue) => queue.add(jobs));
}

/** Puts the jobs back that failed for good. Returns how many. */
export async function retryJobs(deps: QueueDeps): Promise<Result<number, Failure>> {
  return withQueue(deps, { mode: 'create', otherwise: 0 }, (queue) => queue.retryFailed());
}

/** What `compact work --status` reports. */
export type QueueReport = QueueStatus & {
  readonly schema: 'compact/work@1';
  readonly archive: string;
  /** False: no job was ever added, so there is no queue, and every count is 0. */
  readonly exists: boolean;
  /** At the present rate; null: nothing was done in the last five minutes. */
  readonly minutesLeft: number | null;
  /** The oldest failed jobs, at most a thousand. */
  readonly failures: readonly { readonly file: string; readonly reason: string }[];
};

const MAX_LISTED = 1000;

/** `nameOf` gives the file of a job's data. */
export async function readQueue(
  deps: QueueDeps,
  nameOf: (data: unknown) => string,
): Promise<Result<QueueReport, Failure>> {
  const head = { schema: 'compact/work@1', archive: deps.archivePath } as const;
  const counts = { open: 0, active: 0, done: 0, failed: 0, perMinute: null, usage: null };
  const otherwise: QueueReport = { ...head, exists: false, ...counts, minutesLeft: 0, failures: [] };
  return withQueue(deps, { mode: 'existing', otherwise }, async (queue): Promise<QueueReport> => {
    const status = await queue.status();
    const { open, active, failed, perMinute } = status;
    const failures = failed === 0 ? [] : await queue.listFailed(MAX_LISTED);
    return {
      ...head,
      exists: true,
      ...status,
      minutesLeft: open + active === 0 ? 0 : perMinute === null ? null : (open + active) / perMinute,
      failures: failures.map(({ data, reason }) => ({ file: nameOf(data), reason })),
    };
  });
}

/** Opens the queue for `work` and closes it; `otherwise` is the result if there is none. */
async function withQueue<T>(
  { openQueue, archivePath }: QueueDeps,
  { mode, otherwise, maxWaitMs = 0, signal }: Partial<Waiting> & { mode: ArchiveMode; otherwise: T },
  work: (queue: JobQueue) => Promise<T>,
): Promise<Result<T, Failure>> {
  return attempt({ file: archivePath }, async () => {
    const opened = await openQueue(mode, { maxWaitMs, ...(signal !== undefined && { signal }) });
    if (!opened.ok) return err({ kind: 'archive', failure: opened.error });
    const queue = opened.value;
    if (queue === null) return ok(otherwise);
    try {
      return ok(await work(queue));
    } finally {
      await queue.close();
    }
  });
}
