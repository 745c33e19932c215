import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, closeSync, constants, openSync, symlinkSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { loadConfig } from '../../src/config/load.ts';
import { createTrustStore, hashConfig, trustedPath } from '../../src/config/trust-store.ts';
import { folderWith } from '../support/folders.ts';
import { NO_CONFIG, surroundingsOf, USER_ID } from './fakes.ts';

const ASKED = { configFlag: null, project: 'as-trusted' } as const;

function at(folder: string) {
  return surroundingsOf({ workingFolder: folder, homeFolder: join(folder, 'home') });
}

test('without a file there are no values, and that is no error', async (t) => {
  assert.deepEqual(await loadConfig(at(folderWith(t, {})), ASKED), { ok: true, value: NO_CONFIG });
});

test('a file is read with its place', async (t) => {
  const folder = folderWith(t, { 'compact.toml': '\ufeff[summarization]\nkeep_recent = 3\n' });
  const loaded = await loadConfig(at(folder), ASKED);
  assert.deepEqual(loaded.ok && loaded.value.values, { summarization: { keep_recent: 3 } });
  assert.equal(loaded.ok && loaded.value.file?.place, 'project');
});

test('a file that was named and is not there is an error that says who named it', async (t) => {
  const folder = folderWith(t, {});
  assert.deepEqual(await loadConfig(at(folder), { ...ASKED, configFlag: 'no.toml' }), {
    ok: false,
    error: [{ kind: 'config-missing', path: join(folder, 'no.toml'), namedBy: '--config' }],
  });
  const host = { ...at(folder), environment: { COMPACT_CONFIG: 'no.toml' } };
  const fromEnvironment = await loadConfig(host, ASKED);
  assert.deepEqual(fromEnvironment.ok || fromEnvironment.error, [
    { kind: 'config-missing', path: join(folder, 'no.toml'), namedBy: '$COMPACT_CONFIG' },
  ]);
});

test('a folder, and a file that is not UTF-8, are reported as such', async (t) => {
  const folder = folderWith(t, { 'd/': '' });
  writeFileSync(join(folder, 'utf16.toml'), Buffer.from('\ufeff[archive]', 'utf16le'));
  const reasons = [];
  for (const name of ['d', 'utf16.toml']) {
    const loaded = await loadConfig(at(folder), { ...ASKED, configFlag: name });
    reasons.push(loaded.ok ? null : loaded.error[0]?.kind === 'config-unreadable' && loaded.error[0].reason);
  }
  assert.deepEqual(reasons, ['it is a folder', 'it is not UTF-8 text']);
});

suite("a project's file", () => {
  const TOML = '[summarization]\nprovider = "ollama"\nkeep_recent = 3\n';
  const NUMBERS = { summarization: { keep_recent: 3 } };
  const OTHERS = { summarization: { provider: 'ollama' } };

  async function load(folder: string, changes: Parameters<typeof surroundingsOf>[0] = {}) {
    const loaded = await loadConfig({ ...at(folder), ...changes }, ASKED);
    if (!loaded.ok) return loaded.error;
    const { file, values, refused } = loaded.value;
    return { trust: file?.trust, values, refused };
  }

  function trust(folder: string, sha256: string): void {
    const path = trustedPath(join(folder, 'compact.toml'));
    const recorded = createTrustStore(at(folder)).record({ path, sha256, trustedAt: '2026-03-02T09:00:00.000Z' });
    assert.ok(recorded.ok);
  }

  test('sets numbers alone until it is trusted in its current state, and again when it has changed', async (t) => {
    const folder = folderWith(t, { 'compact.toml': TOML });
    const untrusted = { trust: { kind: 'unknown', reason: null }, values: NUMBERS, refused: OTHERS };
    assert.deepEqual(await load(folder), untrusted);
    trust(folder, hashConfig(Buffer.from(TOML)));
    const whole = { summarization: { ...OTHERS.summarization, ...NUMBERS.summarization } };
    assert.deepEqual(await load(folder), { trust: { kind: 'recorded' }, values: whole, refused: {} });
    writeFileSync(join(folder, 'compact.toml'), `${TOML}# more\n`);
    assert.deepEqual(await load(folder), { ...untrusted, trust: { kind: 'changed' } });
    const given = await loadConfig(at(folder), { ...ASKED, project: 'trusted' });
    assert.deepEqual(given.ok && [given.value.file?.trust, given.value.refused], [{ kind: 'given' }, {}]);
    const named = await loadConfig(at(folder), { ...ASKED, configFlag: 'compact.toml' });
    assert.deepEqual(named.ok && [named.value.file?.trust, named.value.refused], [{ kind: 'given' }, {}]);
  });

  test('of another user sets nothing', async (t) => {
    const folder = folderWith(t, { 'compact.toml': TOML });
    const stranger = { userId: (USER_ID ?? 0) + 1 };
    const all = { summarization: { ...OTHERS.summarization, ...NUMBERS.summarization } };
    const reason = `its folder belongs to another user (uid ${USER_ID})`;
    assert.deepEqual(await load(folder, stranger), { trust: { kind: 'foreign', reason }, values: {}, refused: all });
  });

  test('is not believed to be trusted where others can write to the list of what is', async (t) => {
    const folder = folderWith(t, { 'compact.toml': TOML });
    trust(folder, hashConfig(Buffer.from(TOML)));
    const list = createTrustStore(at(folder)).folder;
    chmodSync(list, 0o777);
    const reason = `${list} is not trusted: others can write to it (chmod go-w)`;
    assert.deepEqual(await load(folder), { trust: { kind: 'unknown', reason }, values: NUMBERS, refused: OTHERS });
  });

  test('may be a link, but only to a file', async (t) => {
    const folder = folderWith(t, { 'shared.toml': TOML, 'repo/': '', 'devices/': '', 'pipes/': '', 'folders/': '' });
    symlinkSync('../shared.toml', join(folder, 'repo/compact.toml'));
    assert.deepEqual(await load(join(folder, 'repo')), {
      trust: { kind: 'unknown', reason: null },
      values: NUMBERS,
      refused: OTHERS,
    });
    symlinkSync('/dev/zero', join(folder, 'devices/compact.toml'));
    assert.equal(spawnSync('mkfifo', [join(folder, 'pipes/compact.toml')]).status, 0);
    symlinkSync('..', join(folder, 'folders/compact.toml'));
    const reasons = [];
    for (const name of ['devices', 'pipes', 'folders']) {
      const problems = await load(join(folder, name));
      reasons.push('trust' in problems ? problems : Object(problems)[0].reason);
    }
    assert.deepEqual(reasons, ['it is not a regular file', 'it is not a regular file', 'it is a folder']);
  });
});

test('a file that was named is read no further than a config can be long', async () => {
  const loaded = await loadConfig(at('/nowhere'), { ...ASKED, configFlag: '/dev/zero' });
  assert.deepEqual(loaded.ok || loaded.error, [
    { kind: 'config-unreadable', path: '/dev/zero', reason: 'it is larger than 1 MiB' },
  ]);
});

test('a pipe that was named is read without waiting for a writer that never comes', async (t) => {
  const pipe = join(folderWith(t, {}), 'pipe');
  assert.equal(spawnSync('mkfifo', [pipe]).status, 0);
  const loaded = await loadConfig(at('/nowhere'), { ...ASKED, configFlag: pipe });
  const reason = 'it is a pipe, and nothing was written to it';
  assert.deepEqual(loaded.ok || loaded.error, [{ kind: 'config-unreadable', path: pipe, reason }]);
});

test('a pipe that was named is read when its writer takes its time', async (t) => {
  const pipe = join(folderWith(t, {}), 'pipe');
  assert.equal(spawnSync('mkfifo', [pipe]).status, 0);
  const reader = openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK); // keeps what was written
  const writer = openSync(pipe, constants.O_WRONLY);
  const loading = loadConfig(at('/nowhere'), { ...ASKED, configFlag: pipe });
  for (let turn = 0; turn < 50; turn += 1) await setImmediate();
  writeSync(writer, '[summarization]\nkeep_recent = 3\n');
  closeSync(writer);
  const loaded = await loading;
  closeSync(reader);
  assert.deepEqual(loaded.ok && loaded.value.values, { summarization: { keep_recent: 3 } });
});
