import type { ModelCosts } from '../../src/ports/model.ts';
import type { JobQueue, NewJob, TakenJob } from '../../src/ports/queue.ts';

type Entry = {
  readonly job: NewJob;
  state: 'open' | 'active' | 'done' | 'failed';
  attempts: number;
  reason: string;
  usage?: ModelCosts | undefined;
  /** The delays with which it was given back. */
  readonly delays: number[];
};

export type FakeQueue = JobQueue & {
  readonly entries: readonly Entry[];
  readonly isClosed: () => boolean;
};

const MAX_ATTEMPTS = 3;

/** A queue in memory that keeps what became of its jobs. A job that fails or is given back is open again at once. */
export function createFakeQueue(datas: readonly object[] = []): FakeQueue {
  const entries: Entry[] = [];
  const state = { isClosed: false };
  const add = (jobs: readonly NewJob[]): number => {
    const fresh = jobs.filter(
      ({ key }) => !entries.some((one) => one.job.key === key && (one.state === 'open' || one.state === 'active')),
    );
    entries.push(...fresh.map((job): Entry => ({ job, state: 'open', attempts: 0, reason: '', delays: [] })));
    return fresh.length;
  };
  const entryOf = ({ id }: TakenJob): Entry => {
    const entry = entries[Number(id)];
    if (entry === undefined) throw new Error(`no job ${id}`);
    return entry;
  };
  const count = (wanted: Entry['state']): number => entries.filter((entry) => entry.state === wanted).length;
  add(datas.map((data, at) => ({ key: `${at}`, data })));
  return {
    entries,
    isClosed: () => state.isClosed,
    add: async (jobs) => add(jobs),
    take: async () => {
      const id = entries.findIndex((entry) => entry.state === 'open');
      const entry = entries[id];
      if (entry === undefined) return null;
      entry.state = 'active';
      entry.attempts += 1;
      const { attempts: attempt, usage: spent } = entry;
      return { id: `${id}`, data: entry.job.data, attempt, maxAttempts: MAX_ATTEMPTS, ...(spent && { spent }) };
    },
    finish: async (job, usage) => {
      Object.assign(entryOf(job), { state: 'done', usage });
    },
    fail: async (job, reason, usage) => {
      const entry = entryOf(job);
      entry.usage = usage;
      entry.state = entry.attempts < MAX_ATTEMPTS ? 'open' : 'failed';
      entry.reason = reason;
    },
    giveBack: async (job, delaySeconds, usage) => {
      const entry = entryOf(job);
      entry.usage = usage;
      entry.delays.push(delaySeconds);
      entry.state = 'open';
      entry.attempts -= 1;
    },
    status: async () => ({
      open: count('open'),
      active: count('active'),
      done: count('done'),
      failed: count('failed'),
      perMinute: count('done') === 0 ? null : count('done'),
      usage: entries.findLast(({ usage }) => usage !== undefined)?.usage ?? null,
    }),
    listFailed: async (limit) =>
      entries
        .filter((entry) => entry.state === 'failed')
        .slice(0, limit)
        .map(({ job, reason }) => ({ data: job.data, reason })),
    retryFailed: async () => {
      const failed = entries.filter((entry) => entry.state === 'failed');
      for (const entry of failed) Object.assign(entry, { state: 'open', attempts: 0 });
      return failed.length;
    },
    close: async () => {
      state.isClosed = true;
    },
  };
}
