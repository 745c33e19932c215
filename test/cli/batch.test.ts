import assert from 'node:assert/strict';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { replyTo } from '../app/jobs/scene.ts';
import { serveBatches } from '../support/batch-server.ts';
import { MODEL, openModelScene, type Provider, talkOf } from '../support/model-scene.ts';
import { runHere } from '../support/program.ts';
import { problemsWith } from '../support/report-schemas.ts';

async function setUp(t: TestContext, provider: Provider = 'anthropic') {
  const server = await serveBatches({ reply: replyTo, now: () => new Date() });
  t.after(server.close);
  const scene = openModelScene(t, { provider, url: server.url, transcript: talkOf(26) });
  const config = join(scene.folder, 'config.toml');
  writeFileSync(config, `${readFileSync(config, 'utf8')}[prices]\n"${MODEL}" = { input = 10000, output = 50000 }\n`);
  const place = scene.args.slice(0, -1);
  return { server, scene, place };
}

test('submit, status, collect and collect again compact a transcript', async (t) => {
  const { server, scene, place } = await setUp(t);
  const submitted = await runHere(['batch', 'submit', '-i', ...scene.args]);
  assert.equal(submitted.code, 0, submitted.stderr);
  assert.match(submitted.stderr, /sent 7 requests in 1 batch; run 'compact batch collect'/);
  const status = await runHere(['batch', 'status', '--json', ...place]);
  assert.equal(status.code, 0, status.stderr);
  assert.deepEqual(problemsWith('batch-status', JSON.parse(status.stdout)), []);
  assert.equal(JSON.parse(status.stdout).batches[0].state, 'running');
  const unasked = await runHere(['batch', 'status', '--provider', 'extractive', ...place]);
  assert.deepEqual(
    [unasked.code, unasked.stderr.split(':')[0]],
    [0, 'The provider was not asked, so this may be out of date'],
  );
  const early = await runHere(['batch', 'collect', ...place]);
  assert.match(early.stderr, /nothing new to send; 1 batch still in progress at the provider\n/);
  server.finish();
  const first = await runHere(['batch', 'collect', '--json', ...place]);
  assert.equal(first.code, 0, first.stderr);
  const report = JSON.parse(first.stdout);
  assert.deepEqual(problemsWith('batch', report), []);
  assert.deepEqual([report.answers, report.sent], [7, { batches: 1, requests: 1 }]);
  const { calls, inputTokens, outputTokens, cost } = report.usage;
  assert.deepEqual([calls, cost], [7, (inputTokens * 10_000 + outputTokens * 50_000) / 2 / 1_000_000]);
  assert.equal(report.wasted, undefined);
  server.finish();
  const second = await runHere(['batch', 'collect', ...place]);
  assert.equal(second.code, 0, second.stderr);
  assert.match(
    second.stderr,
    /talk\.jsonl: compacted\nfetched 1 answer; 1 transcript compacted; nothing new to send\n {2}model {5}1 call, [^]* cost [\d.]+\n$/,
  );
  assert.match(
    (await runHere(['batch', 'status', ...place])).stdout,
    /collected\n {2}batch_1\n[^]*talk\.jsonl: compacted/,
  );
  assert.deepEqual([...new Set(server.paid.values())], [1]);
  assert.equal((await runHere(['verify', ...scene.args])).code, 0);
});

test('a dry run shows the cost of the batch, half of the price, and sends and writes nothing', async (t) => {
  const { server, scene } = await setUp(t);
  const before = scene.sha256();
  const { code, stderr } = await runHere(['batch', 'submit', '-n', ...scene.args]);
  assert.equal(code, 0, stderr);
  assert.match(stderr, /batch: half the live price; merging summaries may take a second round\n/);
  const figures =
    /8 requests, about ([\d,]+) tokens in,\s+at most ([\d,]+) out, cost about ([\d.]+)\n/.exec(stderr) ?? [];
  const [tokensIn, tokensOut, cost] = figures.slice(1).map((one) => Number(one.replaceAll(',', '')));
  assert.ok(Math.abs(((tokensIn ?? 0) * 10_000 + (tokensOut ?? 0) * 50_000) / 2e6 - (cost ?? 0)) < 0.01, stderr);
  assert.deepEqual([scene.sha256(), scene.strangers(), server.batches.length], [before, [], 0]);
});

test('a batch that could cost more than --max-cost is refused with what it could cost', async (t) => {
  const { server, scene } = await setUp(t);
  const submit = (limit: string) => runHere(['batch', 'submit', '-i', '--json', '--max-cost', limit, ...scene.args]);
  const refused = await submit('5');
  const [, cost = ''] =
    /^--max-cost 5\.00: the batch could cost ([\d.]+), so nothing was sent\./.exec(refused.stderr) ?? [];
  assert.deepEqual([refused.code, refused.stdout, server.batches.length], [1, '', 0], refused.stderr);
  const sent = await submit(String(Number(cost) + 0.01));
  assert.deepEqual([sent.code, JSON.parse(sent.stdout).sent.requests, server.batches.length], [0, 7, 1], sent.stderr);
});

test('what cannot be a batch is refused before anything is sent', async (t) => {
  const { server, scene, place } = await setUp(t);
  for (const [line, message] of [
    [['submit', ...place], /no transcript named/],
    [['submit', '-', ...place], /a batch needs files/],
    [['collect', ...scene.args], /concerns everything that was submitted/],
    [['submit', '--provider', 'extractive', ...scene.args], /need a provider with a batch API/],
    [['submit', '-n', '--provider', 'ollama', ...scene.args], /need a provider with a batch API/],
    [
      ['collect', '--target', '10k', ...place],
      /batch collect uses the options of batch submit, so it takes no --target/,
    ],
    [['cancel', '--no-rules', ...place], /batch cancel uses the options of batch submit, so it takes no --no-rules/],
    [['status', '-o', 'x', ...place], /batch status uses the options of batch submit, so it takes no --output/],
  ] as const) {
    const { code, stderr } = await runHere(['batch', ...line]);
    assert.equal(code, 2, stderr);
    assert.match(stderr, message);
  }
  assert.equal(server.batches.length, 0);
});

test('a deleted transcript is named each time, with exit code 1, and its answers wait for it', async (t) => {
  const { server, scene, place } = await setUp(t);
  assert.equal((await runHere(['batch', 'submit', '-i', ...scene.args])).code, 0);
  server.finish();
  renameSync(scene.file, `${scene.file}.away`);
  for (let time = 0; time < 2; time += 1) {
    const { code, stderr } = await runHere(['batch', 'collect', ...place]);
    assert.equal(code, 1);
    assert.match(stderr, /talk\.jsonl: no such file or folder\. Check the path\./);
  }
  const status = await runHere(['batch', 'status', ...place]);
  assert.match(status.stdout, /talk\.jsonl(:|\n) +all 7 answers fetched; run 'compact batch collect'\n$/);
  renameSync(`${scene.file}.away`, scene.file);
  assert.equal((await runHere(['batch', 'collect', ...place])).code, 0);
  assert.equal(server.batches[1]?.asked.length, 1);
});

test('without batches the status says only that', async (t) => {
  const { scene, place } = await setUp(t);
  const none = await runHere(['batch', 'status', '--json', ...place]);
  assert.deepEqual(problemsWith('batch-status', JSON.parse(none.stdout)), []);
  assert.equal((await runHere(['-i', '--provider', 'extractive', ...scene.args])).code, 0);
  const { code, stdout, stderr } = await runHere(['batch', 'status', '--provider', 'extractive', ...place]);
  assert.deepEqual([code, stdout, stderr], [0, 'no batches\n', '']);
});

test('a provider that refuses a batch is quoted, with exit code 1, and its key is not', async (t) => {
  const { server, scene, place } = await setUp(t, 'openai-compat');
  server.faults.push(401);
  const { code, stderr } = await runHere(['batch', 'submit', '-i', ...scene.args]);
  assert.equal(code, 1);
  assert.match(stderr, /answered 401 \(refused by the test\): check the key/);
  assert.match(stderr, /nothing was sent/);
  assert.equal(stderr.includes('made-up-key'), false);
  const canceled = await runHere(['batch', 'cancel', ...place]);
  assert.match(canceled.stderr, /talk\.jsonl: canceled; [^]*canceled 1 transcript; no batch was running/);
});

test('requests without a confirmation are not reported as sent', async (t) => {
  const { server, scene, place } = await setUp(t);
  server.faults.push(500);
  const { code, stdout } = await runHere(['batch', 'submit', '-i', '--json', ...scene.args]);
  const report = JSON.parse(stdout);
  assert.deepEqual(problemsWith('batch', report), []);
  assert.deepEqual([code, report.sent, report.unclear], [1, { batches: 0, requests: 0 }, 7]);
  const nothing = /no batch is known to be in progress, so nothing was canceled; see 'compact batch status'/;
  assert.match((await runHere(['batch', 'cancel', ...place])).stderr, nothing);
});

test('what was paid for nothing is told: answers for a transcript that was changed meanwhile', async (t) => {
  const { server, scene, place } = await setUp(t);
  assert.equal((await runHere(['batch', 'submit', '-i', ...scene.args])).code, 0);
  writeFileSync(scene.file, talkOf(4));
  server.finish();
  const { code, stderr } = await runHere(['batch', 'collect', ...place]);
  assert.equal(code, 0, stderr);
  const [, paid, wasted] = /\n {2}model {5}(7 calls, [^]* cost [\d.]+)\n {2}wasted {4}([^]*)\n$/.exec(stderr) ?? [];
  assert.ok(paid !== undefined && paid === wasted, stderr);
});

test('the status of a batch that failed, or whose transcript failed, is exit code 1, until it is sent again', async (t) => {
  const { server, scene, place } = await setUp(t, 'openai-compat');
  assert.equal((await runHere(['batch', 'submit', '-i', ...scene.args])).code, 0);
  assert.equal((await runHere(['batch', 'status', ...place])).code, 0);
  server.refuse('the file of requests cannot be read');
  const failed = await runHere(['batch', 'status', ...place]);
  assert.equal(failed.code, 1);
  assert.match(failed.stdout, /ended, failed\n[^]*the file of requests cannot be read/);
  assert.equal((await runHere(['batch', 'collect', ...place])).code, 0);
  assert.equal((await runHere(['batch', 'status', ...place])).code, 0);
});
