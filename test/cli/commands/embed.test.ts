import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { run } from '../../../src/cli/run.ts';
import { err, ok } from '../../../src/core/result.ts';
import { folderWith } from '../../support/folders.ts';
import { embedReport } from '../archive-reports.ts';
import { createFakeTerminal, createFakeUseCases } from '../fakes.ts';

const EMBEDDING = '[embedding]\nprovider = "ollama"\nmodel = "tiny"\nrequests_per_minute = 9\n';

type Asked = {
  readonly argv?: readonly string[];
  readonly config?: string;
  readonly answers?: Parameters<typeof createFakeUseCases>[0];
  readonly stdin?: string;
};

async function ran(
  t: TestContext,
  { argv = ['archive', 'embed'], config = EMBEDDING, answers = {}, stdin }: Asked = {},
) {
  const folder = folderWith(t, { 'config.toml': config });
  const terminal = createFakeTerminal(
    [...argv, '--config', join(folder, 'config.toml')],
    stdin === undefined ? {} : { stdin },
  );
  const useCases = createFakeUseCases(answers);
  const code = await run({ terminal, loadUseCases: useCases.loadUseCases });
  return { code, out: terminal.out(), errors: terminal.errors(), calls: useCases.calls };
}

test('what was embedded is told for people and as one object', async (t) => {
  const { code, out, errors, calls } = await ran(t);
  assert.deepEqual([code, out, errors], [0, '/data/archive.db: 1,100 vectors made by tiny, 768 numbers each\n', '']);
  const [choice] = calls;
  assert.equal(choice?.name, 'create-embeddings');
  const { notice: _notice, findPrice, ...asked } = Object(choice?.request);
  assert.equal(typeof findPrice, 'function');
  assert.deepEqual(asked, {
    provider: 'ollama',
    model: 'tiny',
    dimensions: null,
    baseUrl: 'http://localhost:11434/v1',
    apiKey: null,
    redactsSecrets: false,
    redactRulesPath: null,
    limits: { requestsPerMinute: 9, inputTokensPerMinute: null, outputTokensPerMinute: null },
  });
  const json = await ran(t, { argv: ['archive', 'embed', '--json'] });
  assert.deepEqual(JSON.parse(json.out), embedReport());
});

test('what is missing still is a failure that says why and what to do', async (t) => {
  const partial = embedReport({
    result: 'partial',
    embedded: 64,
    missing: 36,
    dropped: 7,
    error: 'host answered 500\u001b',
  });
  const { code, out, errors } = await ran(t, { answers: { embedArchive: () => Promise.resolve(ok(partial)) } });
  assert.deepEqual(
    [code, out.split('\n')],
    [
      1,
      [
        '/data/archive.db: 64 vectors made by tiny, 768 numbers each; 36 missing still',
        '  dropped      7 by another model',
        '',
      ],
    ],
  );
  assert.match(errors, /: 36 have no vector, because host answered 500\\x1b\. Run it again to continue\.\n$/);
});

test('that nothing is missing, or that there is no archive, is an answer', async (t) => {
  const nothing = embedReport({ embedded: 0 });
  const told = await ran(t, { answers: { embedArchive: () => Promise.resolve(ok(nothing)) } });
  assert.deepEqual([told.code, told.out], [0, '/data/archive.db: nothing is missing\n']);
  const none = await ran(t, { answers: { embedArchive: () => Promise.resolve(ok(embedReport({ archive: null }))) } });
  assert.deepEqual([none.code, none.out], [0, '']);
  assert.match(none.errors, /there is no archive yet/);
});

test('without [embedding], or with one that cannot be used, nobody is asked', async (t) => {
  const none = await ran(t, { config: '' });
  assert.equal(none.code, 2);
  assert.match(none.errors, /the configuration has no \[embedding\] with a provider and a model/);
  const half = await ran(t, { config: '[embedding]\nprovider = "ollama"\n' });
  assert.equal(half.code, 2);
  assert.match(half.errors, /has the provider 'ollama' but no model/);
  const broken = await ran(t, {
    answers: { createEmbeddings: () => Promise.resolve(err('sqlite-vec cannot be loaded')) },
  });
  assert.deepEqual([broken.code, broken.calls.map(({ name }) => name)], [2, ['create-embeddings', 'close']]);
  assert.match(broken.errors, /sqlite-vec cannot be loaded/);
});

test('a search, and a compaction, go on without vectors that cannot be made, and say so', async (t) => {
  const answers = { createEmbeddings: () => Promise.resolve(err('sqlite-vec cannot be loaded')) };
  const search = await ran(t, { argv: ['search', 'boat'], answers });
  assert.equal(search.code, 0);
  assert.match(search.errors, /^embeddings: sqlite-vec cannot be loaded; this search uses words only\n/);
  const folder = folderWith(t, { 'talk.jsonl': '{}\n' });
  const compact = await ran(t, { argv: [join(folder, 'talk.jsonl')], answers });
  assert.equal(compact.code, 0);
  assert.match(compact.errors, /^embeddings: sqlite-vec cannot be loaded; archived texts get none\n/);
});

test('who looks for the newest, plans, or previews needs no vectors', async (t) => {
  const folder = folderWith(t, { 'talk.jsonl': '{}\n' });
  const talk = join(folder, 'talk.jsonl');
  for (const argv of [
    ['search', 'x', '--newest'],
    ['-n', talk],
    ['--preview', talk],
    ['archive', 'stats'],
  ]) {
    const { calls } = await ran(t, { argv });
    assert.ok(!calls.some(({ name }) => name === 'create-embeddings'), argv.join(' '));
  }
});

test('queries that come together are made known together', async (t) => {
  const { calls } = await ran(t, { argv: ['search', '-'], stdin: 'one\ntwo\nthree\n' });
  const asked = calls.flatMap(({ name, request }) => (name === 'search' ? [Object(request)] : []));
  assert.deepEqual(
    asked.map(({ query, upcoming }) => [query, upcoming]),
    [
      ['one', ['two', 'three']],
      ['two', ['three']],
      ['three', []],
    ],
  );
});
