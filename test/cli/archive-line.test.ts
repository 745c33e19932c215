import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parsed, refused } from './command-lines.ts';

const common = {
  outputOptions: { json: false, verbosity: 'normal', color: 'auto', showProgress: true },
  settings: {
    configFlag: null,
    project: 'as-trusted',
    flags: { summarization: {}, transcript: {}, archive: {} },
  },
} as const;

test('the actions of archive become data, and each refuses the flags of others', async () => {
  const options = { progress: true, color: 'auto' };
  for (const action of ['list', 'stats', 'check', 'embed']) {
    assert.deepEqual(await parsed('archive', action), { kind: 'archive', action, operands: [], options, ...common });
  }
  assert.deepEqual(await parsed('archive', 'hold', 'add', '--source', 'a*', '--reason', 'why'), {
    kind: 'archive',
    action: 'hold',
    operands: ['add'],
    options: { ...options, source: 'a*', reason: 'why' },
    ...common,
  });
  const flags = ['--source', 'a*', '--reason', 'why', '--yes', '--despite-hold'];
  assert.deepEqual(await parsed('archive', 'erase', ...flags), {
    kind: 'archive',
    action: 'erase',
    operands: [],
    options: { ...options, source: 'a*', reason: 'why', yes: true, despiteHold: true },
    ...common,
  });
  const policy = ['--older-than', '2026-01-01', '--max-size', '1GB', '--keep-last', '3', '--project', 'a/*'];
  assert.deepEqual(await parsed('archive', 'prune', ...policy, '--yes'), {
    kind: 'archive',
    action: 'prune',
    operands: [],
    options: {
      ...options,
      olderThan: Date.parse('2026-01-01'),
      maxSize: 1e9,
      keepLast: 3,
      project: 'a/*',
      yes: true,
    },
    ...common,
  });
  const wrong: readonly (readonly [line: string, message: RegExp])[] = [
    ['archive erase --yes', /^name what to erase: --conversation/],
    ['archive erase --match ', /^--match must not be empty/],
    ['archive erase --message line:5', /^'line:5' is a line number/],
    ['archive erase --match a --source b', /^name what to erase/],
    ['archive hold add --source ', /^--source must not be empty/],
    ['archive prune --older-than 1d --project ', /^--project must name/],
    ['archive prune --older-than 1d --project //', /^--project must name/],
    ['archive hold add', /^archive hold add takes either/],
    ['archive hold drop', /^archive hold takes add, remove or list/],
    ['archive prune --match a', /^archive prune takes no --conversation/],
    ['archive merge', /^name the archives to merge/],
    ['archive export', /^name a new or an empty folder/],
    ['archive export --jsonl a --match b', /^archive export takes no --match/],
    ['archive export --jsonl a --yes', /^archive export takes no --reason, --yes/],
    ['archive import', /^name one folder to import/],
    ['archive import a b', /^name one folder to import/],
    ['archive import a --list', /^archive import takes no --conversation/],
    ['archive list --parquet a', /^archive list takes no --jsonl/],
    ['archive export --parquet a --jsonl b', /cannot be used with|conflicts/],
    ['archive list --jsonl a', /^archive list takes no --jsonl/],
    ['archive merge a.db --since 2026-01-01', /^archive merge takes no --jsonl/],
    ['archive merge a.db --yes', /^archive merge takes no --conversation/],
    ['archive merge a.db --keep-last 1', /^archive merge takes no --older-than/],
    ['archive erase --keep-last 3', /^archive erase takes no --older-than/],
    ['archive list --yes', /^archive list takes no --conversation/],
    ['archive import --jsonl a', /^archive import takes no --jsonl/],
    ['archive merge --yes', /^name the archives to merge/],
    ['archive prune x --yes', /^archive prune takes no 'x'/],
    ['archive stats x', /^archive stats takes no 'x'/],
  ];
  for (const [line, message] of wrong) assert.match(await refused(...line.split(' ')), message);
});
