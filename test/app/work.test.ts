import assert from 'node:assert/strict';
import { test } from 'node:test';
import { archiveError } from '../../src/adapters/archive/failure.ts';
import { addJobs, type QueueDeps, readQueue, retryJobs, workJobs, type WorkRequest } from '../../src/app/jobs/work.ts';
import { NO_USAGE } from '../../src/app/summarize/usage.ts';
import { err, ok } from '../../src/core/result.ts';
import { createFakeQueue, type FakeQueue } from '../support/fake-queue.ts';

/** `onSleep`: what happens elsewhere while the worker waits. */
function depsFor(queue: FakeQueue | null, onSleep: () => void = () => undefined) {
  const interruption = new AbortController();
  const deps: QueueDeps = {
    openQueue: async () => ok(queue),
    runtime: { sleep: async () => onSleep() },
    signal: interruption.signal,
    archivePath: 'postgres://db/logs',
  };
  return { deps, interrupt: () => interruption.abort() };
}

const QUIET = {
  concurrency: 1,
  keepsRunning: false,
  maxWaitMs: 0,
  stopping: new AbortController().signal,
  onOpen: () => undefined,
  whenIdle: async () => false,
  onWaiting: () => undefined,
} as const;
const DONE: WorkRequest['perform'] = async () => ({ kind: 'done' });

const statesOf = ({ entries }: FakeQueue): readonly string[] => entries.map(({ state }) => state);

test('a worker does every job once, and ends when all are done', async () => {
  const queue = createFakeQueue([{ n: 1 }, { n: 2 }, { n: 3 }]);
  const performed: unknown[] = [];
  const perform: WorkRequest['perform'] = async ({ data }) => {
    performed.push(data);
    return { kind: 'done' };
  };
  const result = await workJobs(depsFor(queue).deps, { ...QUIET, perform });
  assert.deepEqual(result, ok({ stopped: null }));
  assert.deepEqual(performed, [{ n: 1 }, { n: 2 }, { n: 3 }]);
  assert.deepEqual(statesOf(queue), ['done', 'done', 'done']);
  assert.equal(queue.isClosed(), true);
});

test('no more jobs are at work at a time than asked for', async () => {
  const queue = createFakeQueue(Array.from({ length: 9 }, () => ({})));
  const counts = { now: 0, most: 0 };
  const perform: WorkRequest['perform'] = async () => {
    counts.now += 1;
    counts.most = Math.max(counts.most, counts.now);
    await Promise.resolve();
    counts.now -= 1;
    return { kind: 'done' };
  };
  await workJobs(depsFor(queue).deps, { ...QUIET, concurrency: 3, perform });
  assert.equal(counts.most, 3);
});

test('a job that fails is tried three times, and then named with its reason', async () => {
  const queue = createFakeQueue([{ path: '/a' }, { path: '/b' }]);
  const { deps } = depsFor(queue);
  const usage = { ...NO_USAGE, calls: 2, inputTokens: 300, outputTokens: 40, cost: 0.5 };
  const perform: WorkRequest['perform'] = async ({ id, attempt }) =>
    id === '0' ? { kind: 'failed', reason: `attempt ${attempt}` } : { kind: 'done', usage };
  assert.deepEqual(await workJobs(deps, { ...QUIET, perform }), ok({ stopped: null }));
  const report = await readQueue(deps, (data) => JSON.stringify(data));
  assert.deepEqual(
    report,
    ok({
      schema: 'compact/work@1',
      archive: 'postgres://db/logs',
      exists: true,
      open: 0,
      active: 0,
      done: 1,
      failed: 1,
      perMinute: 1,
      usage,
      minutesLeft: 0,
      failures: [{ file: '{"path":"/a"}', reason: 'attempt 3' }],
    }),
  );
  assert.deepEqual(await retryJobs(deps), ok(1));
  assert.deepEqual(await workJobs(deps, { ...QUIET, perform: DONE }), ok({ stopped: null }));
  assert.deepEqual(statesOf(queue), ['done', 'done']);
});

test('an interrupted worker returns its job without counting an attempt, and takes no other', async () => {
  const queue = createFakeQueue([{}, {}]);
  const { deps, interrupt } = depsFor(queue);
  const perform: WorkRequest['perform'] = async () => {
    interrupt();
    return { kind: 'interrupted' };
  };
  await workJobs(deps, { ...QUIET, perform });
  assert.deepEqual(statesOf(queue), ['open', 'open']);
  assert.equal(queue.entries[0]?.attempts, 0);
  assert.equal(queue.isClosed(), true);
});

test('a worker that is to stop finishes its job, and takes no other', async () => {
  const queue = createFakeQueue([{}, {}]);
  const stopping = new AbortController();
  const perform: WorkRequest['perform'] = async () => {
    stopping.abort();
    return { kind: 'done' };
  };
  await workJobs(depsFor(queue).deps, { ...QUIET, keepsRunning: true, stopping: stopping.signal, perform });
  assert.deepEqual([statesOf(queue), queue.isClosed()], [['done', 'open'], true]);
});

test('a worker waits for its database as long as it is told, until it is to stop', async () => {
  const asked: unknown[] = [];
  const stopping = new AbortController();
  const openQueue: QueueDeps['openQueue'] = async (mode, { maxWaitMs, signal }) => {
    stopping.abort();
    asked.push(mode, maxWaitMs, signal?.aborted);
    return ok(null);
  };
  const deps = { ...depsFor(null).deps, openQueue };
  await workJobs(deps, { ...QUIET, maxWaitMs: 7000, stopping: stopping.signal, perform: DONE });
  assert.deepEqual(asked, ['create', 7000, true]);
});

test('a worker that can do no such job returns it and stops, once the jobs beside it are done', async () => {
  const queue = createFakeQueue([{}, {}, {}, {}]);
  const perform: WorkRequest['perform'] = async ({ id }) =>
    id === '0' ? { kind: 'unable', reason: 'no key' } : { kind: 'done' };
  const result = await workJobs(depsFor(queue).deps, { ...QUIET, concurrency: 2, perform });
  assert.deepEqual(result, ok({ stopped: 'no key' }));
  assert.equal(queue.entries[0]?.state, 'open');
  assert.equal(statesOf(queue).includes('active'), false);
});

test('a worker waits for the jobs of others, because they come back if those die', async () => {
  const queue = createFakeQueue([{}]);
  const other = await queue.take();
  assert.ok(other !== null);
  const waited: number[] = [];
  const { deps } = depsFor(queue, () => {
    const [entry] = queue.entries;
    if (entry?.state === 'active' && waited.length > 0) entry.state = 'open';
  });
  await workJobs(deps, {
    ...QUIET,
    perform: DONE,
    whenIdle: async () => false,
    onWaiting: ({ others }) => waited.push(others),
  });
  assert.deepEqual([waited, statesOf(queue)], [[1], ['done']]);
});

test('a worker says once that it waits for a job that it put off, and does it when its time has come', async () => {
  const queue = createFakeQueue([{}, {}]);
  const clock = { seconds: 0 };
  const delayed: typeof queue = {
    ...queue,
    take: async () => ((queue.entries[0]?.delays[0] ?? 0) > clock.seconds ? null : queue.take()),
  };
  const { deps } = depsFor(delayed, () => {
    clock.seconds += 1;
  });
  const waited: object[] = [];
  const perform: WorkRequest['perform'] = async () =>
    queue.entries[0]?.delays.length === 0 ? { kind: 'deferred', delaySeconds: 900 } : { kind: 'done' };
  await workJobs(deps, {
    ...QUIET,
    perform,
    whenIdle: async () => false,
    onWaiting: (waitsFor) => waited.push(waitsFor),
  });
  assert.deepEqual([clock.seconds, waited, statesOf(queue)], [900, [{ others: 0, later: 2 }], ['done', 'done']]);
});

test('with keepsRunning, a worker waits for new jobs until it is interrupted', async () => {
  const queue = createFakeQueue();
  const state = { naps: 0 };
  const { deps, interrupt } = depsFor(queue, () => {
    state.naps += 1;
    if (state.naps === 2) void queue.add([{ key: 'late', data: {} }]);
    if (state.naps === 5) interrupt();
  });
  await workJobs(deps, { ...QUIET, keepsRunning: true, perform: DONE });
  assert.deepEqual([state.naps, statesOf(queue)], [5, ['done']]);
});

test('a queue whose database is lost for good ends the worker, and it keeps no job', async () => {
  const queue = createFakeQueue([{}, {}]);
  const state = { taken: 0 };
  const broken: FakeQueue = {
    ...queue,
    take: async () => {
      state.taken += 1;
      if (state.taken === 2) throw archiveError({ kind: 'busy', path: 'postgres://db/logs' });
      return queue.take();
    },
  };
  const result = await workJobs(depsFor(broken).deps, { ...QUIET, concurrency: 2, perform: DONE });
  assert.deepEqual(result, err({ kind: 'archive', failure: { kind: 'busy', path: 'postgres://db/logs' } }));
  assert.deepEqual(statesOf(queue), ['open', 'open']);
  assert.equal(queue.isClosed(), true);
});

test('a file gets one job at a time, and a missing queue is none', async () => {
  const queue = createFakeQueue();
  const { deps } = depsFor(queue);
  const jobs = ['a', 'b', 'a'].map((key) => ({ key, data: {} }));
  assert.deepEqual(await addJobs(deps, jobs.slice(0, 2)), ok(2));
  assert.deepEqual(await addJobs(deps, jobs), ok(0));
  const report = await readQueue(depsFor(null).deps, String);
  assert.ok(report.ok);
  assert.deepEqual([report.value.exists, report.value.open, report.value.minutesLeft], [false, 0, 0]);
});
