import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { loadConfig } from '../../src/config/load.ts';
import { folderWith } from '../support/folders.ts';

function at(folder: string) {
  return { environment: {}, workingFolder: folder, homeFolder: join(folder, 'home') };
}

test('without a file there are no values, and that is no error', async (t) => {
  assert.deepEqual(await loadConfig(at(folderWith(t, {})), null), { ok: true, value: { file: null, values: {} } });
});

test('a file is read with its place', async (t) => {
  const folder = folderWith(t, { 'compact.toml': '\ufeff[archive]\npath = "a.db"\n' });
  const loaded = await loadConfig(at(folder), null);
  assert.deepEqual(loaded.ok && loaded.value.values, { archive: { path: 'a.db' } });
  assert.equal(loaded.ok && loaded.value.file?.place, 'project');
});

test('a file that was named and is not there is an error that says who named it', async (t) => {
  const folder = folderWith(t, {});
  assert.deepEqual(await loadConfig(at(folder), 'no.toml'), {
    ok: false,
    error: [{ kind: 'config-missing', path: join(folder, 'no.toml'), namedBy: '--config' }],
  });
  const surroundings = { ...at(folder), environment: { COMPACT_CONFIG: 'no.toml' } };
  const fromEnvironment = await loadConfig(surroundings, null);
  assert.deepEqual(fromEnvironment.ok || fromEnvironment.error, [
    { kind: 'config-missing', path: join(folder, 'no.toml'), namedBy: '$COMPACT_CONFIG' },
  ]);
});

test('a folder and a file that is no UTF-8 are told as what they are', async (t) => {
  const folder = folderWith(t, { 'd/': '' });
  writeFileSync(join(folder, 'utf16.toml'), Buffer.from('\ufeff[archive]', 'utf16le'));
  const reasons = [];
  for (const name of ['d', 'utf16.toml']) {
    const loaded = await loadConfig(at(folder), name);
    reasons.push(loaded.ok ? null : loaded.error[0]?.kind === 'config-unreadable' && loaded.error[0].reason);
  }
  assert.deepEqual(reasons, ['it is a folder', 'it is not UTF-8 text']);
});
