import assert from 'node:assert/strict';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { defaultArchivePath, type Environment, findConfig } from '../../src/config/find.ts';
import { folderWith } from '../support/folders.ts';
import { surroundingsOf } from './fakes.ts';

const ASKED = { configFlag: null, project: 'as-trusted' } as const;

function at(folder: string, working = '', environment: Environment = {}) {
  return surroundingsOf({ environment, workingFolder: join(folder, working), homeFolder: join(folder, 'home') });
}

test('the flag wins over everything, whether the file exists or not', (t) => {
  const folder = folderWith(t, { 'compact.toml': '' });
  const search = findConfig(at(folder, '', { COMPACT_CONFIG: '/other.toml' }), { ...ASKED, configFlag: 'mine.toml' });
  assert.deepEqual(search.found, { path: join(folder, 'mine.toml'), place: 'flag' });
});

test('the environment wins over what lies in folders; empty it is not set', (t) => {
  const folder = folderWith(t, { 'compact.toml': '' });
  const named = findConfig(at(folder, '', { COMPACT_CONFIG: '/other.toml' }), ASKED);
  assert.deepEqual(named.found, { path: '/other.toml', place: 'environment' });
  const empty = findConfig(at(folder, '', { COMPACT_CONFIG: '' }), ASKED);
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
  assert.equal(findConfig(at(folder, 'repo/a/b'), ASKED).found?.path, join(folder, 'repo/compact.toml'));
  assert.equal(findConfig(at(folder, 'bare/a'), ASKED).found, null);
});

test('outside of a repository only the working folder is looked at', (t) => {
  const folder = folderWith(t, { 'compact.toml': '', 'a/': '' });
  assert.equal(findConfig(at(folder, 'a'), ASKED).found, null);
  assert.equal(findConfig(at(folder), ASKED).found?.place, 'project');
});

test("the user's own file comes last, and every place is told", (t) => {
  const folder = folderWith(t, { 'home/.config/compact/config.toml': '', 'xdg/compact/config.toml': '' });
  assert.deepEqual(findConfig(at(folder), ASKED), {
    found: { path: join(folder, 'home/.config/compact/config.toml'), place: 'user' },
    looked: [join(folder, 'compact.toml'), join(folder, 'home/.config/compact/config.toml')],
    ignored: null,
  });
  const xdg = findConfig(at(folder, '', { XDG_CONFIG_HOME: join(folder, 'xdg') }), ASKED);
  assert.equal(xdg.found?.path, join(folder, 'xdg/compact/config.toml'));
});

test('a relative path in an XDG variable is ignored, as its specification says', () => {
  const host = (environment: Environment) => surroundingsOf({ environment, homeFolder: '/h' });
  assert.equal(defaultArchivePath(host({ XDG_DATA_HOME: 'x' })), '/h/.local/share/compact/archive.db');
  assert.equal(defaultArchivePath(host({ XDG_DATA_HOME: '/x' })), '/x/compact/archive.db');
});

suite('folders that others can write to', () => {
  const me = 1000;
  type Facts = Readonly<Record<string, { readonly uid?: number; readonly mode?: number }>>;

  /** The search from `working`, where folders belong to others as `facts` say, whoever runs the test. */
  function searchIn(folder: string, working: string, facts: Facts) {
    const search = findConfig({ ...at(folder, working), userId: me }, ASKED, (path) => ({
      uid: me,
      mode: 0o755,
      ...facts[path.slice(folder.length + 1)],
    }));
    return { found: search.found?.path ?? null, ignored: search.ignored, looked: search.looked.length };
  }

  const FILES = { 'top/.git/': '', 'top/compact.toml': '', 'top/a/b/': '' };

  test('the search upwards stops in front of a folder of another user, and says what it passes over', (t) => {
    const folder = folderWith(t, FILES);
    const path = join(folder, 'top/compact.toml');
    assert.deepEqual(searchIn(folder, 'top/a/b', {}), { found: path, ignored: null, looked: 4 });
    assert.deepEqual(searchIn(folder, 'top/a/b', { top: { uid: 7 } }), {
      found: null,
      ignored: { path, reason: 'its folder belongs to another user (uid 7)' },
      looked: 2,
    });
    assert.deepEqual(searchIn(folder, 'top/a/b', { top: { uid: 0 } }).found, null);
    assert.deepEqual(searchIn(folder, 'top/a/b', { 'top/a': { uid: 7 } }), {
      found: null,
      ignored: null,
      looked: 2,
    });
  });

  test('and in front of one that anyone can write to, sticky or not; a group of users is the user’s own matter', (t) => {
    const folder = folderWith(t, FILES);
    const path = join(folder, 'top/compact.toml');
    for (const mode of [0o777, 0o1777, 0o702]) {
      const { found, ignored } = searchIn(folder, 'top/a/b', { top: { mode } });
      assert.deepEqual([found, ignored], [null, { path, reason: 'anyone can write to its folder' }]);
    }
    assert.equal(searchIn(folder, 'top/a/b', { top: { mode: 0o775 } }).found, path);
    assert.equal(searchIn(folder, 'top', { top: { mode: 0o777 } }).found, path, 'the working folder was chosen');
  });

  test('from a working folder of another user nothing above is looked at', (t) => {
    const folder = folderWith(t, { ...FILES, 'top/a/b/compact.toml': '' });
    const theirs = { 'top/a/b': { uid: 7 } };
    assert.equal(searchIn(folder, 'top/a/b', theirs).found, join(folder, 'top/a/b/compact.toml'));
    assert.deepEqual(searchIn(folder, 'top/a/b', { 'top/a/b': { uid: 7 } }).looked, 2);
  });

  test('nothing is said of a folder that would not have been read anyway', (t) => {
    const folder = folderWith(t, { 'tmp/compact.toml': '', 'tmp/mine/': '' });
    assert.deepEqual(searchIn(folder, 'tmp/mine', { tmp: { uid: 0 } }), { found: null, ignored: null, looked: 2 });
  });

  test('where users have no numbers, nobody is another', (t) => {
    const folder = folderWith(t, FILES);
    const search = findConfig({ ...at(folder, 'top/a/b'), userId: null }, ASKED, () => ({ uid: 0, mode: 0o777 }));
    assert.equal(search.found?.path, join(folder, 'top/compact.toml'));
  });
});

test("a project's file that is to be ignored is not even looked for", (t) => {
  const folder = folderWith(t, { 'compact.toml': '', 'home/.config/compact/config.toml': '' });
  const search = findConfig(at(folder), { ...ASKED, project: 'ignored' });
  const path = join(folder, 'home/.config/compact/config.toml');
  assert.deepEqual(search, { found: { path, place: 'user' }, looked: [path], ignored: null });
});
