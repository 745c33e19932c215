import assert from 'node:assert/strict';
import { request, type RequestOptions } from 'node:http';
import { test, type TestContext } from 'node:test';
import { type MetricsSource, serveMetrics } from '../../../../src/cli/commands/work/metrics.ts';
import { NO_TOTALS } from '../../../../src/cli/runs/run-report.ts';

const STATUS = { open: 3, active: 2, done: 5, failed: 1, perMinute: null, usage: null };
const USAGE = {
  calls: 7,
  inputTokens: 900,
  cachedInputTokens: 100,
  outputTokens: 50,
  reused: 0,
  retries: 2,
  waitedMs: 0,
};
const SOURCE: MetricsSource = {
  totals: () => ({
    ...NO_TOTALS,
    compacted: 4,
    skipped: new Map([
      ['in use', 1],
      ['not over', 2],
    ]),
    bytes: { before: 1000, after: 100, archive: 300 },
    usage: { ...USAGE, cost: 0.25 },
  }),
  status: async () => STATUS,
  archive: async () => ({ bytes: 5000, backlog: { messages: 6, bytes: 70 } }),
};

async function serve(t: TestContext, changes: Partial<MetricsSource> = {}, place = '127.0.0.1:0') {
  const served = await serveMetrics(place, { ...SOURCE, ...changes });
  assert.ok(served.ok);
  t.after(served.value.close);
  const get = async (path: string): Promise<readonly [number, string]> => {
    const response = await fetch(served.value.address + path);
    return [response.status, await response.text()];
  };
  return { ...served.value, get };
}

test('Prometheus is told of jobs, bytes, calls, tokens, cost and the archive', async (t) => {
  const { get, jobEnded } = await serve(t);
  jobEnded('done', 0.7);
  const [status, text] = await get('/metrics');
  assert.equal(status, 200);
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#') && !line.includes('_bucket{'));
  assert.deepEqual(lines.toSorted(), [
    'compact_archive_bytes 5000',
    'compact_index_backlog_bytes 70',
    'compact_index_backlog_messages 6',
    'compact_job_seconds_count{outcome="done"} 1',
    'compact_job_seconds_sum{outcome="done"} 0.7',
    'compact_jobs{state="active"} 2',
    'compact_jobs{state="done"} 5',
    'compact_jobs{state="failed"} 1',
    'compact_jobs{state="open"} 3',
    'compact_model_calls_total 7',
    'compact_model_cost_total 0.25',
    'compact_model_retries_total 2',
    'compact_model_tokens_total{kind="cached"} 100',
    'compact_model_tokens_total{kind="input"} 900',
    'compact_model_tokens_total{kind="output"} 50',
    'compact_transcript_bytes_total{direction="in"} 1000',
    'compact_transcript_bytes_total{direction="out"} 100',
    'compact_transcripts_total{result="compacted"} 4',
    'compact_transcripts_total{result="failed"} 0',
    'compact_transcripts_total{result="skipped"} 3',
  ]);
  assert.match(text, /^# TYPE compact_job_seconds histogram$/m);
  assert.equal((await get('/other'))[0], 404);
});

for (const [what, status] of [
  ['before the queue is open', async () => null],
  ['while the database is gone', () => Promise.reject(new Error('gone'))],
  ['while the database does not answer', () => new Promise<never>(() => undefined)],
] as const)
  test(`a worker lives but is not ready ${what}, and says nothing of what it does not know`, async (t) => {
    const { get } = await serve(t, { status, deadline: () => new Promise((resolve) => setImmediate(resolve)) });
    assert.deepEqual(await get('/healthz'), [200, 'ok\n']);
    assert.deepEqual(await get('/readyz'), [503, 'not connected\n']);
    const [code, text] = await get('/metrics');
    assert.deepEqual([code, /^compact_(?:jobs|archive|index).* \d/m.test(text)], [200, false]);
    assert.match(text, /^compact_model_calls_total 7$/m);
  });

test('a worker with an answering database is ready', async (t) => {
  const { get } = await serve(t);
  assert.deepEqual(await get('/readyz'), [200, 'ready\n']);
});

test('only reading is answered, and no web page whose name leads to this machine', async (t) => {
  const { address } = await serve(t);
  const ask = (options: RequestOptions): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      const asked = request(`${address}/metrics?debug=1`, options, (response) => {
        response.resume().on('end', () => resolve(response.statusCode));
      });
      asked.on('error', reject).end();
    });
  const { port } = new URL(address);
  const methods = ['GET', 'HEAD', 'POST', 'DELETE', 'OPTIONS'];
  assert.deepEqual(await Promise.all(methods.map((method) => ask({ method }))), [200, 200, 405, 405, 405]);
  const hosts = ['evil.example', `evil.example:${port}`, `localhost:${port}`, '[::1]:9464', '127.0.0.1'];
  const answers = await Promise.all(hosts.map((host) => ask({ headers: { host } })));
  assert.deepEqual(answers, [403, 403, 200, 200, 200]);
  // Whoever opens it to a network also says by which names it is found.
  const open = await serve(t, {}, '0.0.0.0:0');
  assert.equal(await ask({ port: new URL(open.address).port, headers: { host: 'worker.example' } }), 200);
});

test('a port that is in use, and a host that is not here, are refused with what to try', async (t) => {
  const { address } = await serve(t);
  const place = address.replace('http://', '');
  const again = await serveMetrics(place, SOURCE);
  assert.deepEqual(again, {
    ok: false,
    error: `another program uses ${place} already: give --metrics another port`,
  });
  const elsewhere = await serveMetrics('192.0.2.1:0', SOURCE);
  assert.deepEqual(elsewhere, {
    ok: false,
    error: 'nobody can listen at 192.0.2.1:0 (EADDRNOTAVAIL): give --metrics another host or port',
  });
});
