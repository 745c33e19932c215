import assert from 'node:assert/strict';
import { appendFileSync, existsSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { chatTranscript } from '../support/chat.ts';
import { interruptHere, jsonLines, runHere } from '../support/program.ts';
import { problemsWith } from '../support/report-schemas.ts';
import { placeWith } from '../support/place.ts';

const TALKS = { 'logs/a.jsonl': chatTranscript(9), 'logs/sub/b.jsonl': chatTranscript(12, 50) };

test('a folder is restored in place, and what was never compacted in it is skipped', async (t) => {
  const { path, text, compact } = placeWith(t, { ...TALKS, 'logs/untouched.jsonl': chatTranscript(3, 90) });
  await compact('-i', path('logs/a.jsonl'), path('logs/sub'));
  assert.notEqual(text('logs/a.jsonl'), TALKS['logs/a.jsonl']);
  const { code, stderr } = await compact('restore', '-i', path('logs'));
  assert.deepEqual([code, text('logs/a.jsonl'), text('logs/sub/b.jsonl')], [0, ...Object.values(TALKS)]);
  assert.equal(stderr.trimEnd().split('\n').at(-1), '3 files: 2 restored, 1 skipped (not compacted)');
  assert.match(stderr, /untouched\.jsonl: skipped, it is not compacted/);
});

test('a file that is named must be compacted, and the others are restored all the same', async (t) => {
  const { path, text, compact } = placeWith(t, { ...TALKS, 'plain.jsonl': chatTranscript(3, 90) });
  await compact('-i', path('logs'));
  const named = [path('plain.jsonl'), path('gone.jsonl'), path('logs/a.jsonl')];
  const { code, stdout, stderr } = await compact('restore', '-i', '--json', ...named);
  assert.deepEqual([code, text('logs/a.jsonl')], [1, TALKS['logs/a.jsonl']]);
  const reports = jsonLines(stdout);
  assert.deepEqual(
    reports.map(({ file, result, error }) => [file, result, error?.kind]),
    [
      [path('gone.jsonl'), 'failed', 'not-found'],
      [path('plain.jsonl'), 'failed', 'not-compacted'],
      [path('logs/a.jsonl'), 'restored', undefined],
    ],
  );
  for (const report of reports) assert.deepEqual(problemsWith('restore', report), []);
  assert.match(stderr, /^3 files: 1 restored, 2 failed$/m);
});

test('a list of names is restored into a folder, under the names that the originals had', async (t) => {
  const { path, text, compact } = placeWith(t, TALKS);
  await compact(path('logs/a.jsonl'));
  await compact('-i', path('logs/sub/b.jsonl'));
  writeFileSync(
    path('list'),
    `${path('logs/a.compact.jsonl')}\n${path('logs/a.jsonl')}\n${path('logs/sub/b.jsonl')}\n`,
  );
  const { code, stderr } = await compact('restore', '--files-from', path('list'), '-o', path('out/'));
  assert.deepEqual([code, text('out/a.jsonl'), text('out/b.jsonl')], [0, ...Object.values(TALKS)], stderr);
  assert.match(stderr, /^3 files: 2 restored, 1 skipped \(not compacted\)$/m);
});

test('a file whose archive is not there fails even in a folder, and stays as it is', async (t) => {
  const { path, text, compact } = placeWith(t, TALKS);
  await compact('-i', path('logs'));
  const before = text('logs/a.jsonl');
  const { code, stderr } = await runHere(['restore', '-i', '--archive', path('other.db'), path('logs')]);
  assert.deepEqual([code, text('logs/a.jsonl'), existsSync(path('other.db'))], [1, before, false]);
  assert.match(stderr, /^2 files: 2 failed$/m);
});

test('lines that were added since stay, in every file of a glob', async (t) => {
  const { path, text, compact } = placeWith(t, TALKS);
  await compact('-i', path('logs'));
  const added = chatTranscript(1, 200);
  appendFileSync(path('logs/a.jsonl'), added);
  const { code } = await compact('restore', '-i', path('logs/**/*.jsonl'));
  assert.deepEqual([code, text('logs/a.jsonl')], [0, TALKS['logs/a.jsonl'] + added]);
});

test('an interruption says how many files it left as they were', async (t) => {
  const { archive, path, text, compact } = placeWith(t, TALKS);
  await compact('-i', path('logs'));
  const before = text('logs/sub/b.jsonl');
  const args = ['restore', '-i', '-j', '1', '--archive', archive, path('logs')];
  const { code, stderr } = await interruptHere(args, 'renamed');
  assert.deepEqual([code, text('logs/a.jsonl'), text('logs/sub/b.jsonl')], [130, TALKS['logs/a.jsonl'], before]);
  assert.match(stderr, /^2 files: 1 restored; interrupted: 1 file left as before$/m);
});
