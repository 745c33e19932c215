import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { chatLine, chatTranscript } from '../support/chat.ts';
import {
  type EmbeddingsAsked,
  type EmbeddingServer,
  type EmbeddingsReply,
  startEmbeddingServer,
} from '../support/embedding-server.ts';
import { folderWith } from '../support/folders.ts';
import { callTool, callTools } from '../support/mcp.ts';
import { type Ended, endOf, runHere, startProcess } from '../support/program.ts';
import { waitsMs } from '../support/quick-waits.ts';

const SECRET = `ghp_${'a1B2c3D4e5F6g7H8i9'.repeat(2)}`;
const SYNONYMS = { vessel: 'boat', painted: 'varnished' };
const TALK = [
  chatTranscript(30),
  `${chatLine({ role: 'user', id: 'boat', content: 'the boat was varnished' })}\n`,
  `${chatLine({ role: 'user', id: 'secret', content: `the token is ${SECRET}` })}\n`,
  chatTranscript(30, 500),
].join('');

type Scene = {
  readonly server: EmbeddingServer;
  readonly folder: string;
  readonly args: readonly string[];
  readonly run: (...args: readonly string[]) => Promise<Ended>;
  readonly asks: (stdin: string, ...args: readonly string[]) => Promise<Ended>;
};

async function scene(
  t: TestContext,
  script?: (asked: EmbeddingsAsked, index: number) => EmbeddingsReply,
  more = '',
): Promise<Scene> {
  const server = await startEmbeddingServer(t, script, SYNONYMS);
  const config = `[embedding]\nprovider = "openai-compat"\nmodel = "toy"\nbase_url = "${server.url}"\n${more}`;
  const folder = folderWith(t, { 'talk.jsonl': TALK, 'config.toml': config });
  const args = ['--config', join(folder, 'config.toml'), '--archive', join(folder, 'archive.db')];
  return {
    server,
    folder,
    args,
    run: (...asked) => runHere([...asked, ...args]),
    asks: (stdin, ...asked) => runHere([...asked, ...args], stdin),
  };
}

const hitsOf = ({ stdout }: Ended): readonly { readonly id: string }[] => JSON.parse(stdout).hits;

test('what a compaction archives is found by its meaning from then on, in one request a search', async (t) => {
  const { server, folder, run } = await scene(t);
  const compacted = await run('-i', join(folder, 'talk.jsonl'));
  assert.deepEqual([compacted.code, /embeddings/.test(compacted.stderr)], [0, false], compacted.stderr);
  const before = server.asked.length;
  const found = await run('search', 'painted', 'vessel', '--messages', '--json');
  assert.equal(hitsOf(found)[0]?.id, 'boat');
  assert.deepEqual(
    server.asked.slice(before).map(({ input }) => input),
    [['painted vessel']],
  );
  const stats = JSON.parse((await run('archive', 'stats', '--json')).stdout);
  assert.deepEqual(
    [stats.vectors.model, stats.vectors.dimensions, stats.vectors.done],
    ['toy', 64, stats.vectors.total],
  );
  assert.equal((await run('archive', 'check')).code, 0);
});

test('what vectors cost is in the report, and in that of archive embed', async (t) => {
  const { server, folder, run } = await scene(t, undefined, '[prices]\n"toy" = { input = 1000, output = 0 }\n');
  const compacted = await run('-i', '--json', join(folder, 'talk.jsonl'));
  const { calls, inputTokens, cost } = JSON.parse(compacted.stdout).usage;
  assert.deepEqual([calls, cost], [server.asked.length, inputTokens / 1000]);
  assert.ok(inputTokens > 0);
  writeFileSync(join(folder, 'more.jsonl'), chatTranscript(30, 900));
  await runHere(['-i', '--archive', join(folder, 'archive.db'), join(folder, 'more.jsonl')]);
  const embedded = await run('archive', 'embed');
  assert.match(embedded.stderr, /^ {2}model {5}\d+ calls?, [\d,]+ tokens in, 0 out, cost [\d.]+\n$/);
});

test('an agent compacts with vectors, and finds by meaning', async (t) => {
  const { server, folder, args } = await scene(t);
  const [compacted, found] = await callTools(
    [...args, '--allow-compact', folder],
    ['compact_context', { path: 'talk.jsonl', in_place: true }],
    ['memory_read', { query: 'nothing yet', order: 'newest' }],
  );
  assert.equal(compacted?.structuredContent?.['result'], 'compacted');
  assert.equal(found?.isError, undefined);
  const before = server.asked.length;
  const again = await callTool(args, 'memory_read', { query: 'painted vessel', kind: 'messages' });
  assert.equal(Object(again.structuredContent).hits[0]?.id, 'boat');
  assert.deepEqual(
    server.asked.slice(before).map(({ input }) => input),
    [['painted vessel']],
  );
});

test('a service that fails leaves the compaction a success with a note, and `archive embed` finishes it', async (t) => {
  const state = { isBroken: true };
  const { server, folder, run } = await scene(t, () =>
    state.isBroken ? { status: 500, body: { error: { message: 'out of order' } } } : 'answer',
  );
  waitsMs.length = 0;
  const { code, stderr } = await run('-i', join(folder, 'talk.jsonl'));
  assert.deepEqual([code, waitsMs], [0, [1000, 2000]]);
  assert.match(stderr, /embeddings: 0 of \d+, .* answered 500 \(out of order\); `compact archive embed` finishes them/);
  assert.equal(server.asked.length, 3);
  const still = await run('archive', 'embed');
  assert.equal(still.code, 1);
  assert.match(still.stderr, /have no vector, because .* answered 500/);
  const search = await run('search', 'varnished', '--messages', '--json');
  assert.equal(hitsOf(search)[0]?.id, 'boat');
  assert.match(
    search.stderr,
    /the archive has no vectors yet: `compact archive embed` makes them; this search uses words only/,
  );
  state.isBroken = false;
  const done = await run('archive', 'embed', '--json');
  assert.equal(done.code, 0, done.stderr);
  const report = JSON.parse(done.stdout);
  assert.deepEqual([report.result, report.missing, report.dimensions], ['complete', 0, 64]);
  assert.equal(hitsOf(await run('search', 'painted vessel', '--messages', '--json'))[0]?.id, 'boat');
  state.isBroken = true;
  const words = await run('search', 'varnished', '--messages', '--json');
  assert.deepEqual([words.code, hitsOf(words)[0]?.id], [0, 'boat']);
  assert.match(words.stderr, /^embeddings: .* answered 500 .*; this search uses words only\n$/);
});

test('another length in the configuration: a search says so, and `archive embed` replaces all vectors', async (t) => {
  const first = await scene(t);
  const talk = join(first.folder, 'talk.jsonl');
  await first.run('-i', talk);
  const second = await scene(t, undefined, 'dimensions = 24\n');
  const args = ['--config', join(second.folder, 'config.toml'), '--archive', join(first.folder, 'archive.db')];
  const search = await runHere(['search', 'painted', 'vessel', ...args]);
  assert.match(search.stderr, /are by toy \(64 numbers\), and the configuration names toy \(24 numbers\)/);
  assert.equal(second.server.asked.length, 0);
  const report = JSON.parse((await runHere(['archive', 'embed', '--json', ...args])).stdout);
  assert.deepEqual([report.dropped, report.embedded, report.dimensions], [report.embedded, report.embedded, 24]);
  assert.equal(hitsOf(await runHere(['search', 'painted vessel', '--messages', '--json', ...args]))[0]?.id, 'boat');
});

test('this machine is sent what there is; where masking is wanted no secret leaves, in texts and in queries', async (t) => {
  const plain = await scene(t);
  await plain.run('-i', join(plain.folder, 'talk.jsonl'));
  assert.ok(
    plain.server.asked
      .flatMap(({ input }) => input)
      .join('\n')
      .includes(SECRET),
  );
  const masked = await scene(t, undefined, '[privacy]\nredact = true\n');
  await masked.run('-i', join(masked.folder, 'talk.jsonl'));
  await masked.run('search', SECRET);
  const sent = masked.server.asked.flatMap(({ input }) => input).join('\n');
  assert.ok(!sent.includes(SECRET) && sent.includes('[redacted:github-token:1]'));
});

test('an interruption keeps what came, and the next run does the rest', async (t) => {
  const waiting = Promise.withResolvers<void>();
  const { folder, args, run } = await scene(t, (_, index) => {
    if (index !== 1) return 'answer';
    waiting.resolve();
    return 'hang';
  });
  const talk = join(folder, 'talk.jsonl');
  const config = folderWith(t, { 'none.toml': '' });
  await runHere(['-i', talk, '--config', join(config, 'none.toml'), '--archive', join(folder, 'archive.db')]);
  const child = startProcess(['archive', 'embed', '--json', ...args]);
  const ended = endOf(child);
  await waiting.promise;
  child.kill('SIGINT');
  const { code, stdout } = await ended;
  const report = JSON.parse(stdout);
  assert.deepEqual([code, report.result, report.embedded], [130, 'interrupted', 64]);
  const rest = JSON.parse((await run('archive', 'embed', '--json')).stdout);
  assert.deepEqual([rest.result, rest.embedded], ['complete', report.missing]);
});
