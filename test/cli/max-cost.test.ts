import assert from 'node:assert/strict';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { MODEL, openModelScene, paidTexts, summary, talkOf } from '../support/model-scene.ts';
import { failing } from '../support/model-server/reply.ts';
import type { Script } from '../support/model-server/server.ts';
import { startModelServer } from '../support/model-server/start.ts';
import { jsonLines, runHere } from '../support/program.ts';

const OUT = { usage: { input: 500, output: 100 } };
const SUMMARY: Script = (_, at) => summary(`They built part ${at} of it.`, OUT);

/** A call may cost 3.00 and costs 1.00: three calls fit into 5.00. Each transcript takes two. */
async function setUp(t: TestContext, script: Script = SUMMARY, names: readonly string[] = ['a', 'b', 'c']) {
  const server = await startModelServer(t, script);
  const scene = openModelScene(t, { provider: 'openai-compat', url: server.url, transcript: talkOf(8) });
  const config = join(scene.folder, 'config.toml');
  const price = `[prices]\n"${MODEL}" = { input = 0, output = 10000 }\n`;
  writeFileSync(config, `${readFileSync(config, 'utf8')}${price}`);
  const files = names.map((name, at) => {
    const path = join(scene.folder, `${name}.jsonl`);
    copyFileSync(scene.file, path);
    writeFileSync(path, readFileSync(path, 'utf8').replaceAll('"content":"', `"content":"${at} `));
    return path;
  });
  return { server, scene, config, place: scene.args.slice(0, -1), files };
}

const COMPACTED = /Context Summary/;

test('a run stops before the call that would pass --max-cost, keeps what is done, and goes on where it stopped', async (t) => {
  const { server, scene, place, files } = await setUp(t);
  const run = await runHere(['-i', '--max-cost', '5.00', ...place, ...files]);
  assert.deepEqual([run.code, server.requests.length], [1, 3]);
  assert.match(
    run.stderr,
    /b\.jsonl: --max-cost 5\.00: the run ends here: 3\.00 is spent, and the next call could cost 3\.00\. The file is unchanged, and what was paid for is stored\. The same command with a higher --max-cost goes on from there\. It took 1 call/,
  );
  assert.match(run.stderr, /3 transcripts: 1 compacted, 1 failed, 1 not done; the files of those are as they were\n/);
  assert.match(run.stderr, /\n {2}model {5}3 calls, 1,500 tokens in, 300 out, cost 3\.00\n/);
  assert.deepEqual(
    files.map((file) => COMPACTED.test(readFileSync(file, 'utf8'))),
    [true, false, false],
  );
  assert.equal(paidTexts(scene.archive).length, 3);

  const again = await runHere(['-i', '--max-cost', '5.00', ...place, ...files]);
  assert.deepEqual([again.code, server.requests.length], [0, 6], again.stderr);
  assert.match(again.stderr, /3 calls, [^]* 1 summary paid before, cost 3\.00\n/);
});

test('a hand-over keeps to the limit too', async (t) => {
  const { server, place, files } = await setUp(t);
  const run = await runHere(['handoff', '--max-cost', '2', ...place, ...files.slice(0, 1)]);
  assert.deepEqual([run.code, run.stdout, server.requests.length], [1, '', 0]);
  assert.match(run.stderr, /^--max-cost 2\.00: the run ends here: 0\.00 is spent/);
});

test('transcripts at work at the same time share the limit, and one message says so', async (t) => {
  const { server, place, files } = await setUp(t);
  const run = await runHere(['-i', '--json', '-j', '3', '--max-cost', '5', ...place, ...files]);
  assert.deepEqual([run.code, server.requests.length], [1, 3]);
  assert.equal(run.stderr.split('the run ends here').length, 2, run.stderr);
  const reports = jsonLines(run.stdout);
  const stopped = reports.filter(({ result }) => result === 'failed');
  assert.ok(stopped.length >= 2);
  assert.deepEqual([...new Set(stopped.map(({ error }) => error.kind))], ['cost-limit']);
  assert.equal(
    reports.reduce((sum, { usage }) => sum + (usage?.cost ?? 0), 0),
    3,
  );
});

test('a call that is too slow counts in full, because its service may charge for it', async (t) => {
  const { server, config, place, files } = await setUp(t, (_, at) => (at === 0 ? { kind: 'hang' } : summary('x', OUT)));
  writeFileSync(config, readFileSync(config, 'utf8').replace(/compaction_timeout = \d+/, 'compaction_timeout = 200'));
  const run = await runHere(['-i', '--max-cost', '5.00', ...place, ...files.slice(0, 1)]);
  assert.deepEqual([run.code, server.requests.length], [1, 1]);
  assert.match(run.stderr, /3\.00 is spent, and the next call could cost 3\.00/);
});

test('a call that failed for another reason costs nothing', async (t) => {
  const { server, place, files } = await setUp(t, (_, at) => (at === 0 ? failing(401, 'no such key') : summary('x')));
  const run = await runHere(['-i', '--max-cost', '3.00', ...place, ...files.slice(0, 1)]);
  assert.deepEqual([run.code, server.requests.length], [1, 1]);
  assert.doesNotMatch(run.stderr, /the run ends here/);
});

test('the limit is not where an offline fallback begins', async (t) => {
  const { config, place, files } = await setUp(t);
  writeFileSync(
    config,
    readFileSync(config, 'utf8').replace('[summarization]', '[summarization]\nfallback = "extractive"'),
  );
  const run = await runHere(['-i', '--max-cost', '1', ...place, ...files]);
  assert.equal(run.code, 1);
  assert.deepEqual(
    files.map((file) => COMPACTED.test(readFileSync(file, 'utf8'))),
    [false, false, false],
  );
});

test('a model without a known price is refused, with the command that sets one', async (t) => {
  const { server, place, files } = await setUp(t);
  const run = await runHere(['-i', '--model', 'new-model', '--max-cost', '5', ...place, ...files]);
  assert.deepEqual([run.code, server.requests.length], [2, 0]);
  const [, set = ''] =
    /--max-cost needs the price of new-model, and none is known\. Set it, per million tokens: (.*)\. Try /.exec(
      run.stderr,
    ) ?? [];
  assert.match(set, /^[^'].* config set 'prices\."new-model"' '\{ input = 1, output = 5 \}'$/);
  const [file = ''] = place.slice(1);
  const words = ['config', 'set', 'prices."new-model"', '{ input = 1, output = 5 }', '--config', file];
  assert.equal((await runHere(words)).code, 0);
  const priced = await runHere(['-i', '--model', 'new-model', '--max-cost', '5', ...place, ...files]);
  assert.deepEqual([priced.code, server.requests.length], [0, 6], priced.stderr);
});

test('what the vendors list is a price too, and offline there is nothing to pay', async (t) => {
  const { server, place, files } = await setUp(t);
  const listed = await runHere(['-i', '--model', 'gpt-5', '--max-cost', '0.001', ...place, ...files]);
  assert.deepEqual([listed.code, server.requests.length], [1, 0], listed.stderr);
  const offline = await runHere(['-i', '--provider', 'extractive', '--max-cost', '0', ...place, ...files]);
  assert.deepEqual([offline.code, server.requests.length], [0, 0], offline.stderr);
});
