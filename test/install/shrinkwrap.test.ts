import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { folderWith } from '../support/folders.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

type Lock = { readonly packages: Readonly<Record<string, { readonly dev?: boolean; readonly version?: string }>> };

const readLock = (path: string): Lock => JSON.parse(readFileSync(path, 'utf8')) as Lock;

test('a package pins every runtime dependency, and no development dependency', (context) => {
  const folder = folderWith(context, { 'bin/': '' });
  for (const name of ['bin/shrinkwrap.js', 'package.json', 'package-lock.json'])
    cpSync(join(root, name), join(folder, name));
  const run = (...argv: readonly string[]) =>
    spawnSync(process.execPath, ['bin/shrinkwrap.js', ...argv], { cwd: folder });
  const shrinkwrap = join(folder, 'npm-shrinkwrap.json');

  assert.equal(run('make').status, 0);
  const lock = readLock(join(folder, 'package-lock.json'));
  const { '': packageItself, ...pinned } = readLock(shrinkwrap).packages;
  const runtime = Object.entries(lock.packages).filter(([path, entry]) => path !== '' && entry.dev !== true);
  assert.deepEqual(pinned, Object.fromEntries(runtime));
  assert.ok(pinned['node_modules/better-sqlite3']?.version !== undefined);
  assert.equal(pinned['node_modules/typescript'], undefined);
  assert.equal('devDependencies' in (packageItself ?? {}), false);

  assert.equal(run('remove').status, 0);
  assert.equal(existsSync(shrinkwrap), false);
  assert.equal(run('other').status, 2);
});
