import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { createUseCases } from '../../src/compose/use-cases.ts';
import { renderMerge } from '../../src/cli/render/archive.ts';
import { PLAIN_THEME } from '../../src/cli/render/theme.ts';
import { run } from '../../src/cli/run.ts';
import { chatTranscript } from '../support/chat.ts';
import { collect } from '../support/collect.ts';
import { folderWith } from '../support/folders.ts';
import { fileTarget, merge } from '../support/merging.ts';
import { runProcess } from '../support/program.ts';
import { asReport } from '../support/report-schemas.ts';
import { benchWith, reportOf } from '../support/workbench.ts';
import { createFakeTerminal } from './fakes.ts';
import { erase } from '../support/retention.ts';

async function runMerge(...args: readonly string[]) {
  const terminal = createFakeTerminal(['archive', 'merge', ...args]);
  const code = await run({ terminal, loadUseCases: () => Promise.resolve(createUseCases) });
  return { code, out: terminal.out(), errors: terminal.errors() };
}

/** An archive that has batches in these states. */
async function withBatches(path: string, states: readonly string[]): Promise<string> {
  const archive = await fileTarget(path).open();
  const changes = states.map(
    (state) => ({ kind: 'batch', key: `mark-${state}`, state, value: '{}', from: null }) as const,
  );
  assert.ok(await archive.providerBatches.change(changes));
  await archive.close();
  return path;
}

test('a merge warns of batches that were not collected, and succeeds', async (t) => {
  const path = (name: string): string => join(folder, name);
  const folder = folderWith(t, {});
  const several = await withBatches(path('several.db'), [
    'sending',
    'running',
    'ended',
    'collected',
    'refused',
    'gone',
  ]);
  const one = await withBatches(path('one.db'), ['running', 'collected']);
  const done = await withBatches(path('done.db'), ['collected']);
  const warnings = [
    `warning: ${several}: 3 batches are still at the provider and are not merged: run 'compact batch collect --archive ${several}' first\n`,
    `warning: ${one}: 1 batch is still at the provider and is not merged: run 'compact batch collect --archive ${one}' first\n`,
  ].join('');
  const target = ['--archive', path('target.db'), '--no-progress'];
  const merged = await runMerge(several, one, done, ...target);
  assert.deepEqual([merged.code, merged.errors], [0, warnings]);
  const { code, out, errors } = await runMerge(several, one, done, '--json', ...target);
  assert.deepEqual([code, errors], [0, warnings]);
  assert.deepEqual(
    asReport('archive-merge', JSON.parse(out)).merged.map(({ uncollectedBatches }) => uncollectedBatches),
    [3, 1, 0],
  );
});

test('what is new, already there or left out is counted in words', async (t) => {
  const bench = benchWith(t, 'talk.jsonl', chatTranscript(30));
  bench.write('other.jsonl', chatTranscript(30, 400));
  reportOf(await bench.compact('talk.jsonl'));
  const folder = folderWith(t, {});
  const countsIn = async (name: string): Promise<readonly string[]> => {
    const [, , ...counts] = renderMerge(await merge(fileTarget(join(folder, name)), [bench.archivePath]), PLAIN_THEME);
    return counts.map((count) => count.trim().replaceAll(/\d\d+/g, 'N'));
  };
  assert.deepEqual(await countsIn('a.db'), ['1 new compaction', 'N new lines']);
  assert.deepEqual(await countsIn('a.db'), ['1 compaction, already there']);
  const selector = { kind: 'source', glob: 'talk.jsonl' } as const;
  assert.equal((await erase(bench, selector)).result, 'erased');
  assert.deepEqual(await countsIn('b.db'), ['1 compaction, left out', '1 new receipt of an erasure']);
  reportOf(await bench.compact('other.jsonl'));
  assert.deepEqual(await countsIn('b.db'), [
    '1 new compaction, 1 already there',
    'N new lines',
    '1 receipt of an erasure, already there',
  ]);
  assert.deepEqual(await countsIn('c.db'), [
    '1 new compaction, 1 left out',
    'N new lines',
    '1 new receipt of an erasure',
  ]);
});

test('two merges and a compaction at the same time leave what they would leave one after the other', async (t) => {
  const folder = folderWith(t, { 'mine.jsonl': chatTranscript(30, 800) });
  const target = fileTarget(join(folder, 'target.db'));
  const others: string[] = [];
  for (const first of [0, 400]) {
    const bench = benchWith(t, 'talk.jsonl', chatTranscript(30, first));
    reportOf(await bench.compact('talk.jsonl'));
    others.push(bench.archivePath);
  }
  const both = fileTarget(join(folder, 'both.db'));
  await merge(both, others);
  // Two of them bring the same compactions.
  const merges = [others[0] ?? '', both.place].map((other) => ['archive', 'merge', other]);
  const ended = await Promise.all(
    [...merges, ['-i', join(folder, 'mine.jsonl')]].map((args) => runProcess([...args, '--archive', target.place])),
  );
  for (const { code, stderr } of ended) assert.equal(code, 0, stderr);
  assert.equal((await merge(target, others)).result, 'unchanged');
  const archive = await target.open();
  t.after(() => archive.close());
  assert.equal((await archive.listCompactions()).length, 3);
  assert.deepEqual(
    (await collect(archive.check())).filter(({ kind }) => kind === 'damage'),
    [],
  );
});
