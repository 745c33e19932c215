import assert from 'node:assert/strict';
import { after, test, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { openPostgresQueue } from '../../../src/adapters/queue/queue.ts';
import type { JobQueue, TakenJob } from '../../../src/ports/queue.ts';
import { startPostgres } from '../../support/postgres-server.ts';

// The queue of jobs on a real server: npm run test:postgres

const server = startPostgres();
after(server.remove);

/** Every test has a queue of its own, because each schema has. */
const queues = { count: 0 };

function urlOf(): string {
  queues.count += 1;
  return `${server.url}&schema=queue${queues.count}`;
}

const ignore = (): void => undefined;

async function openQueue(
  t: TestContext,
  url: string,
  { create = true, notice = ignore }: { create?: boolean; notice?: (message: string) => void } = {},
): Promise<JobQueue | null> {
  const wait = (ms: number): Promise<void> => sleep(ms);
  const opened = await openPostgresQueue({ url, create, heartbeatSeconds: 10, notice, wait });
  assert.ok(opened.ok, JSON.stringify(opened));
  if (opened.value !== null) t.after(opened.value.close);
  return opened.value;
}

async function createQueue(t: TestContext, url = urlOf(), notice?: (message: string) => void): Promise<JobQueue> {
  return (await openQueue(t, url, notice === undefined ? {} : { notice })) ?? assert.fail();
}

/** The next job, however long the queue holds it back. */
async function takeSoon(queue: JobQueue): Promise<TakenJob> {
  for (;;) {
    const job = await queue.take();
    if (job !== null) return job;
    await sleep(250);
  }
}

/** As if every worker had been silent for an hour, and nobody had looked for dead ones. */
async function forgetHeartbeats(url: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  const schema = new URL(url).searchParams.get('schema');
  await client.query(`UPDATE ${schema}.job SET heartbeat_on = now() - interval '1 hour' WHERE state = 'active'`);
  await client.query(`UPDATE ${schema}.queue SET monitor_on = NULL, monitor_claim_on = NULL`);
  await client.end();
}

const JOBS = ['a', 'b', 'c'].map((key) => ({ key, data: { path: `/${key}` } }));

test('a queue is made only on request', async (t) => {
  const url = urlOf();
  assert.equal(await openQueue(t, url, { create: false }), null);
  await createQueue(t, url);
  const again = await openQueue(t, url, { create: false });
  assert.deepEqual(await again?.status(), { open: 0, active: 0, done: 0, failed: 0, perMinute: null, usage: null });
});

test('a file has one job while it is open or active, and gets another when that is done', async (t) => {
  const queue = await createQueue(t);
  assert.equal(await queue.add([...JOBS, ...JOBS]), 3);
  const job = (await queue.take()) ?? assert.fail();
  assert.equal(await queue.add(JOBS), 0);
  await queue.finish(job);
  assert.equal(await queue.add(JOBS), 1);
  const { perMinute, ...counts } = await queue.status();
  assert.deepEqual(counts, { open: 3, active: 0, done: 1, failed: 0, usage: null });
  assert.ok((perMinute ?? 0) > 0);
});

test('what jobs cost adds up, also that of attempts that failed or were given back', async (t) => {
  const queue = await createQueue(t);
  await queue.add(JOBS);
  const usage = { calls: 2, inputTokens: 3_000_000_000, cachedInputTokens: 5, outputTokens: 70, cost: 0.25 };
  const listed = { ...usage, listedOn: '2026-09-23' };
  await queue.finish((await queue.take()) ?? assert.fail(), listed);
  await queue.finish((await queue.take()) ?? assert.fail(), { ...usage, cost: null });
  await queue.fail((await queue.take()) ?? assert.fail(), 'no summary', listed);
  const sum = { calls: 6, inputTokens: 9_000_000_000, cachedInputTokens: 15, outputTokens: 210, cost: 0.5 };
  assert.deepEqual((await queue.status()).usage, { ...sum, listedOn: '2026-09-23' });
  await queue.add([{ key: 'd', data: {} }]);
  await queue.giveBack((await queue.take()) ?? assert.fail(), 0, usage);
  const job = (await queue.take()) ?? assert.fail();
  assert.deepEqual([job.spent, (await queue.status()).usage?.cost], [usage, 0.75]);
  await queue.finish(job, listed);
  assert.equal((await queue.status()).usage?.cost, 0.75);
});

test('workers never have the same job, and a job that is given back counts no attempt', async (t) => {
  const url = urlOf();
  const [one, two] = [await createQueue(t, url), await createQueue(t, url)];
  await one.add(JOBS);
  const taken = await Promise.all([one.take(), two.take(), one.take(), two.take()]);
  assert.deepEqual(taken.map((job) => JSON.stringify(job?.data)).toSorted(), [
    ...JOBS.map(({ data }) => JSON.stringify(data)),
    undefined,
  ]);
  const job = taken.find((one) => one !== null) ?? assert.fail();
  await one.giveBack(job, 0);
  assert.deepEqual(await two.take(), job);
  await one.giveBack(job, 3600);
  assert.equal(await two.take(), null);
});

test('a job that fails three times is named with its reason, until it is retried or added again', async (t) => {
  const queue = await createQueue(t);
  await queue.add(JOBS.slice(0, 1));
  const fail = async (): Promise<void> => {
    for (const attempt of [1, 2, 3]) {
      const job = await takeSoon(queue);
      assert.deepEqual([job.attempt, job.maxAttempts], [attempt, 3]);
      await queue.fail(job, `reason ${attempt}`);
    }
  };
  await fail();
  assert.equal((await queue.status()).failed, 1);
  assert.deepEqual(await queue.listFailed(10), [{ data: { path: '/a' }, reason: 'reason 3' }]);
  assert.equal(await queue.retryFailed(), 1);
  assert.deepEqual(await queue.listFailed(10), []);
  await fail();
  assert.equal(await queue.add(JOBS.slice(0, 1)), 1);
  assert.deepEqual(await queue.listFailed(10), []);
});

test('the job of a killed worker comes back, and one that kills three of them is named', async (t) => {
  const url = urlOf();
  const watching = await createQueue(t, url);
  await watching.add(JOBS.slice(0, 1));
  const killWorker = async (attempt: number): Promise<void> => {
    const dying = await createQueue(t, url);
    assert.equal((await takeSoon(dying)).attempt, attempt);
    await dying.close();
    await forgetHeartbeats(url);
  };
  for (const attempt of [1, 2, 3]) await killWorker(attempt);
  while ((await watching.status()).failed === 0) await sleep(250);
  assert.deepEqual(await watching.listFailed(10), [{ data: { path: '/a' }, reason: 'its worker died 3 times' }]);
  assert.equal(await watching.take(), null);
});

test('the job of a killed worker comes back even if no worker lives long', async (t) => {
  const url = urlOf();
  const first = await createQueue(t, url);
  await first.add(JOBS.slice(0, 1));
  assert.equal((await first.take())?.attempt, 1);
  await first.close();
  await forgetHeartbeats(url);
  for (let again: TakenJob | null = null; again === null; await sleep(500)) {
    const next = await createQueue(t, url);
    again = await next.take();
    await next.close();
  }
});

test('the job of a worker that was given up cannot be settled by it', async (t) => {
  const queue = await createQueue(t);
  await queue.add(JOBS.slice(0, 1));
  const first = (await queue.take()) ?? assert.fail();
  await queue.fail(first, 'slow');
  const second = await takeSoon(queue);
  await queue.finish(first);
  assert.equal((await queue.status()).active, 1);
  await queue.finish(second);
  assert.equal((await queue.status()).done, 1);
});

test('while the server is gone, the queue waits, goes on and says so', async (t) => {
  const said: string[] = [];
  const queue = await createQueue(t, urlOf(), (message) => said.push(message));
  await queue.add(JOBS);
  server.stop();
  const taking = queue.take();
  await sleep(1500);
  server.start();
  assert.ok((await taking) !== null);
  assert.match(said.join('\n'), /no connection to the server\. Trying again .*\n.*the server is back after/);
});

test('a worker that starts while the server is away waits for it, until interrupted', async (t) => {
  const url = urlOf();
  await (await createQueue(t, url)).close();
  server.stop();
  const said: string[] = [];
  const options = { url, create: true, heartbeatSeconds: 10, maxWaitMs: 300_000 } as const;
  const interruption = new AbortController();
  const interrupted = await openPostgresQueue({
    ...options,
    notice: () => interruption.abort(),
    wait: async () => undefined,
    signal: interruption.signal,
  });
  assert.ok(!interrupted.ok && /no Postgres server answers/.test(JSON.stringify(interrupted.error)));
  const opened = await openPostgresQueue({
    ...options,
    notice: (message) => said.push(message),
    wait: async () => server.start(),
  });
  assert.ok(opened.ok && opened.value !== null, JSON.stringify(opened));
  await opened.value.close();
  assert.match(said.join('\n'), /no connection to the server\. Trying again for up to 300 s\.\n.*the server is back/);
});

/** Runs statements as the administrator. */
async function administer(url: string, sql: string): Promise<readonly unknown[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const results: unknown = await client.query<Record<string, unknown>>(sql);
    return [results].flat().flatMap((result) => (result as { readonly rows: readonly unknown[] }).rows);
  } finally {
    await client.end();
  }
}

const refusalOf = async (url: string): Promise<string> => {
  const opened = await openPostgresQueue({ url, create: true, notice: ignore, wait: async () => undefined });
  if (opened.ok) await opened.value?.close();
  return JSON.stringify(opened);
};
const SPY = (schema: string): string => `
CREATE TABLE ${schema}.ran (name text); GRANT ALL ON ${schema}.ran TO PUBLIC; GRANT USAGE ON SCHEMA ${schema} TO PUBLIC;
CREATE FUNCTION ${schema}.spy() RETURNS int LANGUAGE plpgsql AS 'BEGIN INSERT INTO ${schema}.ran VALUES (current_user); RETURN 1; END';`;

test('code that others put into a queue is refused before it runs', async (t) => {
  const url = urlOf();
  const schema = new URL(url).searchParams.get('schema') ?? '';
  await (await createQueue(t, url)).close();
  await administer(
    url,
    `${SPY(schema)}
CREATE FUNCTION ${schema}.on_change() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM ${schema}.spy(); RETURN NEW; END';
CREATE TRIGGER spy BEFORE INSERT ON ${schema}.queue FOR EACH ROW EXECUTE FUNCTION ${schema}.on_change()`,
  );
  assert.match(await refusalOf(url), new RegExp(`compact did not make the trigger spy on ${schema}.queue`));
  assert.deepEqual(await administer(url, `SELECT * FROM ${schema}.ran`), []);
});

test("a queue of another user is refused, because the queue's own functions and rows are code", async (t) => {
  const url = urlOf();
  const schema = new URL(url).searchParams.get('schema') ?? '';
  const ofUser = (name: string): string => url.replace('user=compact', `user=${name}_${schema}`);
  await administer(
    url,
    `CREATE ROLE mallory_${schema} LOGIN; CREATE ROLE ann_${schema} LOGIN; GRANT CREATE ON DATABASE postgres TO mallory_${schema};
CREATE SCHEMA spies; ${SPY('spies')}`,
  );
  await (await createQueue(t, ofUser('mallory'))).close();
  await administer(
    url,
    `SET ROLE mallory_${schema};
INSERT INTO ${schema}.bam (name, version, table_name, command) VALUES ('spy', 1, 'job', 'SELECT spies.spy()');
GRANT ALL ON SCHEMA ${schema} TO ann_${schema}; GRANT ALL ON ALL TABLES IN SCHEMA ${schema} TO ann_${schema}`,
  );
  assert.match(
    await refusalOf(ofUser('ann')),
    new RegExp(`mallory_${schema} owns the .* ${schema}\\..*its code would run with your rights`),
  );
  assert.deepEqual(await administer(url, 'SELECT * FROM spies.ran'), []);
});

test('two teams in one database do not see the jobs and the archive of each other', async (t) => {
  const urls = ['team_a', 'team_b'].map((schema) => `${server.url}&schema=${schema}`);
  const [a = assert.fail(), b = assert.fail()] = urls;
  const [ofA, ofB] = [await createQueue(t, a), await createQueue(t, b)];
  await ofA.add(JOBS);
  assert.equal((await ofA.status()).open, 3);
  assert.equal((await ofB.status()).open, 0);
  assert.equal(await ofB.take(), null);
  const listSchemas = `SELECT DISTINCT schemaname AS name FROM pg_tables WHERE tablename IN ('job', 'compactions') AND schemaname LIKE 'team%' ORDER BY 1`;
  assert.deepEqual(await administer(a, listSchemas), [{ name: 'team_a' }, { name: 'team_b' }]);
  assert.deepEqual(await administer(a, "SELECT nspname FROM pg_namespace WHERE nspname LIKE '%jobs'"), []);
});

test("what others put into the archive's schema is not taken for the server's own by the queue", async (t) => {
  const url = urlOf();
  const schema = new URL(url).searchParams.get('schema') ?? '';
  const queue = await createQueue(t, url);
  await queue.add(JOBS.slice(0, 1));
  await administer(
    url,
    `${SPY(schema)}
CREATE FUNCTION ${schema}.times(int, interval) RETURNS interval LANGUAGE sql AS 'SELECT $2 * ${schema}.spy()::float8';
CREATE OPERATOR ${schema}.* (LEFTARG = int, RIGHTARG = interval, FUNCTION = ${schema}.times)`,
  );
  await queue.giveBack((await queue.take()) ?? assert.fail(), 3600);
  assert.deepEqual(await administer(url, `SELECT * FROM ${schema}.ran`), []);
});
