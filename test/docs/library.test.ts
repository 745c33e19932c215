import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { folderWith } from '../support/folders.ts';
import { readBlocks } from './pages.ts';
import { ROOT } from './shell.ts';

// Needs `dist`: `npm test` builds first.
test('the example in docs/library.md runs', (t) => {
  const [example = ''] = readBlocks('docs/library.md', 'js');
  const folder = folderWith(t, { 'example.mjs': example });
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(ROOT, join(folder, 'node_modules/compact-transcript'));
  const { status, stdout, stderr } = spawnSync(process.execPath, ['example.mjs'], { cwd: folder, encoding: 'utf8' });
  assert.deepEqual([status, stdout, stderr], [0, '35 6 false\n', '']);
});
