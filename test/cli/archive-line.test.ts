import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parsed, refused } from './command-lines.ts';

test('the actions of archive become data, and each refuses the flags of others', async () => {
  for (const [line, operands, options] of [
    ['archive list', [], {}],
    ['archive hold add --source a* --reason why', ['add'], { source: 'a*', reason: 'why' }],
    ['archive erase --source a* --yes --despite-hold', [], { source: 'a*', yes: true, despiteHold: true }],
    [
      'archive prune --older-than 2026-01-01 --max-size 1GB --keep-last 3 --project a/*',
      [],
      { olderThan: Date.parse('2026-01-01'), maxSize: 1e9, keepLast: 3, project: 'a/*' },
    ],
  ] as const)
    assert.partialDeepStrictEqual(await parsed(...line.split(' ')), { operands, options }, line);
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
