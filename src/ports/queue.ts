import type { Count } from '../core/units.ts';
import type { ModelCosts } from './model.ts';

/** Work on one file, for any worker that shares the queue. */
export type NewJob = {
  /** Equal for jobs on the same file: while one of them is open or active, another is not added. */
  readonly key: string;
  /** Plain data. A queue stores it as it is; whoever takes the job checks it. */
  readonly data: object;
};

/** A job that this worker has until it finishes, fails or returns it, or until its signs of life stop. */
export type TakenJob = {
  readonly id: string;
  readonly data: unknown;
  /** How often it was taken, this time included. */
  readonly attempt: number;
  /** After this many attempts it counts as failed. */
  readonly maxAttempts: number;
  /** What its earlier attempts cost, if they asked a model. */
  readonly spent?: ModelCosts;
};

export type FailedJob = {
  readonly data: unknown;
  /** Why the last attempt failed, as a clause. */
  readonly reason: string;
};

export type QueueStatus = {
  /** Waiting for a worker. */
  readonly open: Count;
  /** A worker has them. */
  readonly active: Count;
  /** Done in the last seven days. */
  readonly done: Count;
  readonly failed: Count;
  /** Done per minute, as measured over the last five; null: none was. */
  readonly perMinute: number | null;
  /** What the jobs of the last seven days have cost; null: no model was asked. */
  readonly usage: ModelCosts | null;
};

/** A queue that many workers share. Methods reject with an `ArchiveError` for failures of its database, after waiting for a lost one. */
export type JobQueue = {
  /** Adds jobs and forgets earlier failures of the same key. Returns how many were added. */
  readonly add: (jobs: readonly NewJob[]) => Promise<number>;
  /** The oldest open job; null: there is none now. */
  readonly take: () => Promise<TakenJob | null>;
  /** `usage` here and below: what all its attempts have cost. */
  readonly finish: (job: TakenJob, usage?: ModelCosts) => Promise<void>;
  /** Another attempt follows after a while, unless this was the last one. */
  readonly fail: (job: TakenJob, reason: string, usage?: ModelCosts) => Promise<void>;
  /** Puts a job back as if it had never been taken. Nobody takes it during the delay. */
  readonly giveBack: (job: TakenJob, delaySeconds: number, usage?: ModelCosts) => Promise<void>;
  readonly status: () => Promise<QueueStatus>;
  /** The jobs that failed for good, oldest first, at most `limit`. */
  readonly listFailed: (limit: number) => Promise<readonly FailedJob[]>;
  /** Puts all failed jobs back. Returns how many. */
  readonly retryFailed: () => Promise<number>;
  readonly close: () => Promise<void>;
};
