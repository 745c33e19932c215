import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { folderWith } from '../support/folders.ts';
import { KEY, MODEL, openModelScene, type Settings, summary, talkOf } from '../support/model-scene.ts';
import { failing } from '../support/model-server/reply.ts';
import type { Script } from '../support/model-server/server.ts';
import { startModelServer, startModelServerProcess } from '../support/model-server/start.ts';
import { runHere } from '../support/program.ts';

// Needs `dist`: `npm test` builds first.
const program = fileURLToPath(new URL('../../bin/compact.js', import.meta.url));

async function setUp(t: TestContext, script: Script, settings: Settings = {}) {
  const server = await startModelServer(t, script);
  const scene = openModelScene(t, { provider: 'openai-compat', url: server.url, transcript: talkOf(8), settings });
  return { server, scene };
}

test('a dry run tells what would be asked and the most that it may cost, and asks nobody', async (t) => {
  const { server, scene } = await setUp(t, []);
  const config = join(scene.folder, 'config.toml');
  const kept = readFileSync(config, 'utf8').replace(/^api_key = .*$/m, '');
  writeFileSync(config, `${kept}[prices]\n"${MODEL}" = { input = 10, output = 50 }\n`);
  const { code, stdout } = await runHere(['-n', '--json', ...scene.args]);
  const { plan } = JSON.parse(stdout);
  assert.deepEqual([code, server.requests.length, existsSync(scene.archive)], [0, 0, false]);
  assert.deepEqual(
    plan.asked.map(({ messages, request }: Readonly<Record<string, unknown>>) => [messages, request !== null]),
    [
      [4, true],
      [4, false],
    ],
  );
  assert.equal(plan.asked[0].request.model, MODEL);
  assert.equal(plan.cost, (plan.tokensIn * 10 + plan.tokensOut * 50) / 1_000_000);
  const { stderr } = await runHere(['-n', ...scene.args]);
  assert.match(
    stderr,
    /\n {2}model {5}2 requests, about [\d,]+ tokens in,\n {12}at most 600 out, cost about 0\.0\d+\n/,
  );
});

test('a dry run prices a model that the configuration does not by the list of its vendor, and says of which day', async (t) => {
  const { scene } = await setUp(t, []);
  const { stdout, stderr } = await runHere(['-n', '--json', '--model', 'gpt-5', ...scene.args]);
  const { plan } = JSON.parse(stdout);
  assert.equal(plan.cost, (plan.tokensIn * 1.25 + plan.tokensOut * 10) / 1_000_000, stderr);
  const { stderr: text } = await runHere(['-n', '--model', 'gpt-5', ...scene.args]);
  assert.match(text, new RegExp(`cost about 0\\.00\\d+,\\s+USD at the list price of ${plan.listedOn}\\n`));
});

test('a plan loads no library of a vendor and needs no key and no network', (t) => {
  const folder = folderWith(t, { 'f.jsonl': talkOf(40), 'none.toml': '' });
  const report = `import { registerHooks } from 'node:module';
    import net from 'node:net';
    net.Socket.prototype.connect = () => { console.error('connected'); process.exit(99); };
    registerHooks({ load: (url, context, next) => (url.includes('/node_modules/') && console.error(url), next(url, context)) });`;
  const watching = ['--import', `data:text/javascript,${encodeURIComponent(report)}`];
  const args = ['-n', '--provider', 'anthropic', '--model', 'm', '--archive', join(folder, 'a.db')];
  const { status, stderr } = spawnSync(
    process.execPath,
    [...watching, program, ...args, '--config', join(folder, 'none.toml'), join(folder, 'f.jsonl')],
    { encoding: 'utf8', env: { PATH: process.env['PATH'], HOME: folder }, cwd: folder },
  );
  assert.equal(status, 0, stderr);
  assert.match(stderr, /2 requests, about /);
  assert.doesNotMatch(stderr, /node_modules\/(?:@anthropic-ai|openai)\/|connected/);
});

test('summaries that keep too few of the facts fail the transcript, and it stays as it was', async (t) => {
  const { scene } = await setUp(t, () => summary('They talked.'), { appendix_share: 0 });
  writeFileSync(scene.file, talkOf(8).replaceAll('"content":"', '"content":"See /srv/app/config.json and port 8080. '));
  const before = scene.sha256();
  const { code, stderr } = await runHere(['-i', '--min-retention', '100%', ...scene.args]);
  assert.deepEqual([code, scene.sha256()], [1, before]);
  assert.match(
    stderr,
    /the summaries keep \d+ of \d+ facts \(\d+ %\), and 100 % are required; lost: .*\. The file is unchanged\. Try /,
  );
});

test('what the summaries keep and lose of the facts is told', async (t) => {
  const { scene } = await setUp(t, () => summary('They talked.'), { appendix_share: 0 });
  writeFileSync(scene.file, talkOf(8).replaceAll('"content":"', '"content":"See /srv/app/config.json and port 8080. '));
  const { code, stderr } = await runHere(['-i', ...scene.args]);
  assert.equal(code, 0, stderr);
  assert.match(stderr, /\n {2}facts {5}\d+ of \d+ kept in 2 batches\n {12}1: \d+ of \d+ kept; lost: /);
});

test('through the program itself: a missing key is one line and exit code 2', (t) => {
  const folder = folderWith(t, { 'f.jsonl': talkOf(8) });
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [program, '--provider', 'openai', '--model', 'm', join(folder, 'f.jsonl')],
    { encoding: 'utf8', env: { PATH: process.env['PATH'], HOME: folder }, cwd: folder },
  );
  assert.deepEqual([status, stdout], [2, '']);
  assert.equal(
    stderr.replace(program, 'PROGRAM'),
    "compact: the provider 'openai' needs a key: set OPENAI_API_KEY, or name another variable with api_key_env in the configuration. Try 'node PROGRAM --help'.\n",
  );
});

test('through the program itself: a key is in nothing that is said, whatever the server says', async (t) => {
  const server = await startModelServerProcess(t, [failing(401, `the key ${KEY} is wrong`), summary('They talked.')]);
  const folder = folderWith(t, { 'f.jsonl': talkOf(8), 'none.toml': '' });
  const flags = ['--provider', 'openai-compat', '--model', 'm', '--base-url', `${server.url}/v1`, '-v', '--json'];
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [program, ...flags, '--config', 'none.toml', '--archive', 'a.db', 'f.jsonl'],
    { encoding: 'utf8', env: { PATH: process.env['PATH'], HOME: folder, OPENAI_API_KEY: KEY }, cwd: folder },
  );
  assert.equal(status, 1);
  const [request] = await server.loadRequests();
  assert.equal(request?.headers['authorization'], `Bearer ${KEY}`);
  assert.equal(JSON.parse(stdout).error.kind, 'no-summary');
  assert.ok(!`${stdout}${stderr}`.includes(KEY), `${stdout}${stderr}`);
});
