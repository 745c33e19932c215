import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import {
  compactFile,
  type CompactFileOptions,
  type CustomModel,
  type FileProgress,
  restoreFile,
  type RestoreFileOptions,
  searchArchive,
  verifyFile,
  type VerifyFileOptions,
} from '../src/index.ts';
import { folderWith } from './support/folders.ts';

const LINES = Array.from({ length: 40 }, (_, index) => {
  const content = `Message ${index}: the pump in hall ${index} delivers ${index * 7} liters. `.repeat(8);
  return `${JSON.stringify({ role: index % 2 === 0 ? 'user' : 'assistant', content })}\n`;
});

function scene(t: TestContext, text = LINES.join('')) {
  const folder = folderWith(t, { 'session.jsonl': text });
  const file = join(folder, 'session.jsonl');
  return { folder, file, archive: join(folder, 'archive.db'), original: readFileSync(file) };
}

test('a transcript is compacted beside itself, verified, searched and restored', async (t) => {
  const { folder, file, archive, original } = scene(t);
  const compacted = await compactFile(file, { archive });
  assert.ok(compacted.ok);
  const small = join(folder, 'session.compact.jsonl');
  assert.deepEqual([compacted.value.result, compacted.value.output], ['compacted', small]);
  assert.deepEqual(readFileSync(file), original);
  const verified = await verifyFile(small, { archive });
  assert.ok(verified.ok);
  assert.deepEqual([verified.value.result, verified.value.problems], ['verified', []]);
  const found = await searchArchive('49 liters', { archive, limit: 1, kinds: 'messages', role: 'assistant' });
  assert.ok(found.ok);
  assert.match(found.value.hits[0]?.text ?? '', /hall 7 delivers 49 liters/);
  const restored = await restoreFile(small, { archive, output: join(folder, 'back.jsonl') });
  assert.ok(restored.ok);
  assert.deepEqual(readFileSync(join(folder, 'back.jsonl')), original);
});

test('progress is told part by part of the summary', async (t) => {
  const { file, archive } = scene(t);
  const told: FileProgress[] = [];
  const onProgress = (progress: FileProgress) => told.push(progress);
  assert.ok((await compactFile(file, { archive, compaction: { keepRecent: 0, chunkSize: 20 }, onProgress })).ok);
  assert.deepEqual(
    told,
    [1, 2].map((done) => ({ stage: 'summarizing', done, total: 2 })),
  );
});

test('a transcript is compacted in place and restored in place, and no exit listener stays behind', async (t) => {
  const { file, archive, original } = scene(t);
  const listeners = process.listenerCount('exit');
  const compacted = await compactFile(file, { archive, inPlace: true, compaction: { keepRecent: 3, chunkSize: 10 } });
  assert.ok(compacted.ok && compacted.value.conversations[0]?.batches.length !== 1, 'chunkSize has no effect');
  assert.ok(readFileSync(file).length < original.length);
  assert.ok((await restoreFile(file, { archive, inPlace: true })).ok);
  assert.deepEqual(readFileSync(file), original);
  assert.equal(process.listenerCount('exit'), listeners);
});

test('a dry run writes nothing and calls no model', async (t) => {
  const { folder, file, archive } = scene(t);
  const model: CustomModel = { name: 'mine', complete: () => assert.fail('the model was called') };
  const planned = await compactFile(file, { archive, dryRun: true, model });
  assert.ok(planned.ok);
  assert.equal(planned.value.result, 'planned');
  assert.throws(() => readFileSync(join(folder, 'archive.db')), /ENOENT/);
});

test("the caller's own model gets requests with masked secrets, unless the caller wants them plain", async (t) => {
  const token = `ghp_${'aB3dE6gH9jK2'.repeat(3)}`;
  const { file, archive } = scene(t, LINES.join('').replaceAll('pump', `pump with ${token}`));
  const requests: string[] = [];
  const model: CustomModel = {
    name: 'mine',
    complete: async (request) => {
      requests.push(JSON.stringify(request));
      const content = [{ type: 'text' as const, text: 'The pumps in the halls deliver water.' }];
      return { content, stop_reason: 'end_turn', usage: { input_tokens: 10, output_tokens: 5 } };
    },
  };
  const masked = await compactFile(file, { archive, model, output: `${file}.masked` });
  assert.ok(masked.ok && masked.value.usage !== undefined && masked.value.usage.calls > 0);
  assert.ok(requests.length > 0 && !requests.some((request) => request.includes(token)));
  requests.length = 0;
  assert.ok((await compactFile(file, { archive, model: { ...model, redact: false }, output: `${file}.plain` })).ok);
  assert.ok(requests.some((request) => request.includes(token)));
});

test('an aborted signal stops the work, and the file is as it was', async (t) => {
  const { file, archive, original } = scene(t);
  const stopped = await compactFile(file, { archive, inPlace: true, signal: AbortSignal.abort() });
  assert.equal(stopped.ok || stopped.error.kind, 'interrupted');
  assert.deepEqual(readFileSync(file), original);
});

test('no configuration file is read', async (t) => {
  const { folder, file, archive } = scene(t);
  writeFileSync(join(folder, 'compact.toml'), 'this is not TOML');
  t.mock.method(process, 'cwd', () => folder);
  assert.ok((await compactFile(file, { archive })).ok);
});

test('failures are values that name their kind', async (t) => {
  const { file, archive } = scene(t);
  const missing = await compactFile(`${file}.gone`, { archive });
  assert.ok(!missing.ok && missing.error.kind === 'not-found' && missing.error.message.startsWith(`${file}.gone: `));
  const plain = await verifyFile(file, { archive });
  assert.equal(plain.ok || plain.error.kind, 'not-compacted');
  const none = await searchArchive('pump', { archive });
  assert.deepEqual([none.ok && none.value.hits, none.ok && none.value.archive], [[], null]);
});

const WRONG: readonly (readonly [string, object, RegExp])[] = [
  ['two outputs', { output: 'a.jsonl', inPlace: true }, /only one of output, inPlace and dryRun/],
  [
    'a mistyped option',
    { compaction: { keepRecents: 3 } },
    /compaction has no option keepRecents; there are chunkSize/,
  ],
  ['a mistyped dryRun', { dryrun: true }, /there is no option dryrun; there are archive, .*dryRun/],
  ['a string for true', { inPlace: 'yes' }, /inPlace must be true or false/],
  ['NaN', { compaction: { keepRecent: Number.NaN } }, /compaction\.keepRecent must be a number of 0 or more/],
  ['text for a number', { targetTokens: '30k' }, /targetTokens must be a whole number of 1 or more/],
  ['an unknown provider', { model: { provider: 'olama', name: 'm' } }, /model\.provider must be one of anthropic/],
  ['a model without a name', { model: { provider: 'ollama' } }, /model\.name must be the name of the model/],
  ['an unknown format', { format: 'jsonl' }, /there is no format 'jsonl'; there are /],
];

for (const [name, options, message] of WRONG) {
  test(`options that cannot be used are an error, and nothing happens: ${name}`, async (t) => {
    const { file, archive, original } = scene(t);
    const refused = await compactFile(file, { archive, ...(options as CompactFileOptions) });
    assert.ok(!refused.ok && refused.error.kind === 'usage');
    assert.match(refused.error.message, message);
    assert.deepEqual(readFileSync(file), original);
  });
}

test('arguments of another type are an error, and not thrown', async (t) => {
  const { file, archive } = scene(t);
  const wrong = [
    await compactFile(undefined as unknown as string, { archive }),
    await compactFile(file, null as unknown as CompactFileOptions),
    await verifyFile(file, { archiv: archive } as VerifyFileOptions),
    await restoreFile(file, { archive, output: file, al: true } as unknown as RestoreFileOptions),
    await searchArchive('words', { archive, since: 'yesterday' as unknown as Date }),
  ];
  assert.deepEqual(
    wrong.map((result) => (result.ok ? result.ok : result.error.message.split(';')[0])),
    [
      'the path must be a string with text',
      'the options must be an object',
      'there is no option archiv',
      'there is no option al',
      'since must be a valid Date',
    ],
  );
});

test('restoring needs a place that is not the compacted file itself', async (t) => {
  const { file, archive } = scene(t);
  const nowhere = await restoreFile(file, { archive } as unknown as Parameters<typeof restoreFile>[1]);
  assert.ok(!nowhere.ok && /needs output or inPlace/.test(nowhere.error.message));
  const itself = await restoreFile(file, { archive, output: file });
  assert.ok(!itself.ok && /is the compacted file itself/.test(itself.error.message));
});
