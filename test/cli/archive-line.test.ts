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
  const unsaid = {
    operands: [],
    selectors: [],
    reason: null,
    isConfirmed: false,
    despiteHold: false,
    lists: false,
    prune: { before: null, maxBytes: null, keepLast: null, project: null },
    export: { jsonl: null, parquet: null, since: null, until: null },
    maxLineBytes: null,
  };
  for (const action of ['list', 'stats', 'check', 'embed']) {
    assert.deepEqual(await parsed('archive', action), { kind: 'archive', action, ...unsaid, ...common });
  }
  const selectors = [{ kind: 'source', glob: 'a*' }];
  const asked = { kind: 'archive', ...unsaid, selectors, reason: 'why', ...common };
  assert.deepEqual(await parsed('archive', 'hold', 'add', '--source', 'a*', '--reason', 'why'), {
    ...asked,
    action: 'hold',
    operands: ['add'],
  });
  const flags = ['--source', 'a*', '--reason', 'why', '--yes', '--despite-hold'];
  assert.deepEqual(await parsed('archive', 'erase', ...flags), {
    ...asked,
    action: 'erase',
    isConfirmed: true,
    despiteHold: true,
  });
  const policy = ['--older-than', '2026-01-01', '--max-size', '1GB', '--keep-last', '3', '--project', 'a/*'];
  assert.deepEqual(await parsed('archive', 'prune', ...policy, '--yes'), {
    kind: 'archive',
    action: 'prune',
    ...unsaid,
    isConfirmed: true,
    prune: { before: new Date('2026-01-01'), maxBytes: 1e9, keepLast: 3, project: 'a/*' },
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
    ['archive stats x', /^archive stats takes no 'x'/],
  ];
  for (const [line, message] of wrong) assert.match(await refused(...line.split(' ')), message);
});
