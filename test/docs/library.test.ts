import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { folderWith } from '../support/folders.ts';
import { readBlocks } from './pages.ts';
import { copyFixture, ROOT } from './shell.ts';

// Needs `dist`: `npm test` builds first.
test('the examples in docs/library.md run, one after the other, and print what they should', (t) => {
  const [modules, common] = [readBlocks('docs/library.md', 'js'), readBlocks('docs/library.md', 'cjs')];
  const files = [
    ...modules.map((text, index) => [`${index}.mjs`, text] as const),
    ...common.map((text, index) => [`${index}.cjs`, text] as const),
  ];
  const all = files.map(([name]) => `await import('./${name}');\n`).join('');
  const folder = folderWith(t, { ...Object.fromEntries(files), 'all.mjs': all });
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(ROOT, join(folder, 'node_modules/compact-transcript'));
  copyFixture('claude-code/session.jsonl', join(folder, 'session.jsonl'));
  const { status, stdout, stderr } = spawnSync(process.execPath, ['all.mjs'], { cwd: folder, encoding: 'utf8' });
  assert.deepEqual([status, stderr], [0, '']);
  assert.deepEqual(stdout.trim().replaceAll(/:\d+ /g, ':N ').split('\n'), [
    'compacted session.compact.jsonl 50',
    'verified 0',
    '51615',
    'message:N message',
    'message:N message',
    'message:N message',
    '3',
    'true',
    '35 6 false',
    'verified',
  ]);
});
