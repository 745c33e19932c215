import assert from 'node:assert/strict';
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { createTrustStore, trustedPath } from '../../src/config/trust-store.ts';
import { err, ok } from '../../src/core/result.ts';
import { folderWith } from '../support/folders.ts';
import { surroundingsOf, USER_ID } from './fakes.ts';

const record = { path: '/p/compact.toml', sha256: 'a'.repeat(64), trustedAt: '2026-03-02T09:00:00.000Z' };
const other = { ...record, path: '/other/compact.toml' };

function storeIn(t: TestContext, changes: Parameters<typeof surroundingsOf>[0] = {}) {
  const home = folderWith(t, {});
  const host = surroundingsOf({ homeFolder: home, ...changes });
  return { home, host, store: createTrustStore(host) };
}

function fileOf(folder: string): string {
  return join(folder, readdirSync(folder)[0] ?? '');
}

test('what was recorded is found by its path, listed, and can be taken back', (t) => {
  const { home, store } = storeIn(t);
  assert.equal(store.folder, join(home, '.local/state/compact/trusted'));
  assert.deepEqual([store.find(record.path), store.list()], [ok(null), ok([])]);
  assert.deepEqual([store.record(record), store.record(other)], [ok(undefined), ok(undefined)]);
  assert.deepEqual(store.find(record.path), ok(record));
  assert.deepEqual(store.list(), ok([other, record]));
  const changed = { ...record, sha256: 'b'.repeat(64) };
  store.record(changed);
  assert.deepEqual(store.find(record.path), ok(changed));
  assert.deepEqual([store.revoke(record.path), store.revoke(record.path)], [ok(true), ok(false)]);
  assert.deepEqual(store.list(), ok([other]));
});

test('it follows $XDG_STATE_HOME, and is for its owner alone', (t) => {
  const state = join(folderWith(t, {}), 'a/b');
  const { store } = storeIn(t, { environment: { XDG_STATE_HOME: state } });
  store.record(record);
  assert.equal(store.folder, join(state, 'compact/trusted'));
  const modes = [join(state, 'compact'), store.folder, fileOf(store.folder)].map((path) => statSync(path).mode & 0o777);
  assert.deepEqual(modes, [0o700, 0o700, 0o600]);
  assert.equal(readdirSync(store.folder).length, 1, 'no temporary file is left');
});

test('a folder that is a link, that others can write to, or that is another user’s, is not relied on', (t) => {
  const { home, host, store } = storeIn(t);
  store.record(record);
  chmodSync(store.folder, 0o770);
  const problem = `${store.folder} is not trusted: others can write to it (chmod go-w)`;
  assert.deepEqual(
    [store.find(record.path), store.list(), store.record(other), store.revoke(record.path)],
    [err(problem), err(problem), err(problem), err(problem)],
  );
  chmodSync(store.folder, 0o700);
  const stranger = createTrustStore({ ...host, userId: (USER_ID ?? 0) + 1 });
  const found = stranger.find(record.path);
  assert.match(found.ok ? '' : found.error, /compact is not trusted: it belongs to another user \(uid \d+\)$/);
  const compact = join(home, '.local/state/compact');
  renameSync(compact, join(home, 'elsewhere'));
  symlinkSync(join(home, 'elsewhere'), compact);
  assert.deepEqual(store.find(record.path), err(`${compact} is not a folder`));
});

test('a record that others could have written, or that is a link or cut off, counts for nothing', (t) => {
  const { home, store } = storeIn(t);
  store.record(record);
  const file = fileOf(store.folder);
  chmodSync(file, 0o666);
  assert.deepEqual(store.find(record.path), ok(null));
  chmodSync(file, 0o600);
  assert.deepEqual(store.find(record.path), ok(record));
  renameSync(file, join(home, 'planted.json'));
  symlinkSync(join(home, 'planted.json'), file);
  assert.deepEqual(store.find(record.path), ok(null));
  store.record(record);
  assert.deepEqual([store.find(record.path), lstatSync(file).isFile()], [ok(record), true]);
  assert.ok(readFileSync(join(home, 'planted.json'), 'utf8').includes(record.sha256));
  truncateSync(file, 20);
  assert.deepEqual(store.find(record.path), ok(null));
  writeFileSync(file, '{"path":"/p/compact.toml"}');
  assert.deepEqual([store.find(record.path), store.list()], [ok(null), ok([])]);
});

test('where no folder can be made, that is said and nothing hangs', (t) => {
  const home = folderWith(t, { '.local': '' });
  const store = createTrustStore(surroundingsOf({ homeFolder: home }));
  const recorded = store.record(record);
  assert.match(recorded.ok ? '' : recorded.error, /trusted: the system says (?:EEXIST|ENOTDIR)$/);
  if (process.platform === 'linux') {
    const proc = createTrustStore(surroundingsOf({ homeFolder: '/proc/nothing' })).record(record);
    assert.match(proc.ok ? '' : proc.error, /the system says ENOENT$/);
  }
});

test('a file is remembered by its real folder and its own name', (t) => {
  const folder = folderWith(t, { 'real/target.toml': '' });
  symlinkSync('real', join(folder, 'link'));
  symlinkSync('target.toml', join(folder, 'real/compact.toml'));
  assert.equal(trustedPath(join(folder, 'link/compact.toml')), join(folder, 'real/compact.toml'));
  assert.equal(trustedPath(join(folder, 'gone/compact.toml')), join(folder, 'gone/compact.toml'));
  mkdirSync(join(folder, 'later'));
  assert.equal(trustedPath(`${folder}/later/../real/compact.toml`), join(folder, 'real/compact.toml'));
});
