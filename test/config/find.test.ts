import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { defaultArchivePath, findConfig } from '../../src/config/find.ts';
import type { Environment } from '../../src/config/find.ts';
import { folderWith } from '../support/folders.ts';

function at(folder: string, working = '', environment: Environment = {}) {
  return { environment, workingFolder: join(folder, working), homeFolder: join(folder, 'home') };
}

test('the flag wins over everything, whether the file exists or not', (t) => {
  const folder = folderWith(t, { 'compact.toml': '' });
  const search = findConfig(at(folder, '', { COMPACT_CONFIG: '/other.toml' }), 'mine.toml');
  assert.deepEqual(search.found, { path: join(folder, 'mine.toml'), place: 'flag' });
});

test('the environment wins over what lies in folders; empty it is not set', (t) => {
  const folder = folderWith(t, { 'compact.toml': '' });
  const named = findConfig(at(folder, '', { COMPACT_CONFIG: '/other.toml' }), null);
  assert.deepEqual(named.found, { path: '/other.toml', place: 'environment' });
  const empty = findConfig(at(folder, '', { COMPACT_CONFIG: '' }), null);
  assert.deepEqual(empty.found, { path: join(folder, 'compact.toml'), place: 'project' });
});

test('the nearest file up to the root of the repository is the one', (t) => {
  const folder = folderWith(t, {
    'compact.toml': '',
    'repo/.git/': '',
    'repo/compact.toml': '',
    'repo/a/b/': '',
    'bare/.git/': '',
    'bare/a/': '',
  });
  assert.equal(findConfig(at(folder, 'repo/a/b'), null).found?.path, join(folder, 'repo/compact.toml'));
  assert.equal(findConfig(at(folder, 'bare/a'), null).found, null);
});

test('outside of a repository only the working folder is looked at', (t) => {
  const folder = folderWith(t, { 'compact.toml': '', 'a/': '' });
  assert.equal(findConfig(at(folder, 'a'), null).found, null);
  assert.equal(findConfig(at(folder), null).found?.place, 'project');
});

test("the user's own file comes last, and every place is told", (t) => {
  const folder = folderWith(t, { 'home/.config/compact/config.toml': '', 'xdg/compact/config.toml': '' });
  assert.deepEqual(findConfig(at(folder), null), {
    found: { path: join(folder, 'home/.config/compact/config.toml'), place: 'user' },
    looked: [join(folder, 'compact.toml'), join(folder, 'home/.config/compact/config.toml')],
  });
  const xdg = findConfig(at(folder, '', { XDG_CONFIG_HOME: join(folder, 'xdg') }), null);
  assert.equal(xdg.found?.path, join(folder, 'xdg/compact/config.toml'));
});

test('a relative path in an XDG variable is ignored, as its specification says', () => {
  const surroundings = (environment: Environment) => ({ environment, workingFolder: '/w', homeFolder: '/h' });
  assert.equal(defaultArchivePath(surroundings({ XDG_DATA_HOME: 'x' })), '/h/.local/share/compact/archive.db');
  assert.equal(defaultArchivePath(surroundings({ XDG_DATA_HOME: '/x' })), '/x/compact/archive.db');
});
