import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { SCHEMA_VERSION } from '../../../src/adapters/archive/sqlite/schema.ts';
import { folderWith } from '../../support/folders.ts';
import { runHere } from '../../support/program.ts';

test('`--version --verbose` says what a report of a bug needs', async (t) => {
  const home = folderWith(t, { '.config/compact/config.toml': '[archive]\npath = "mine.db"\n' });
  const shown = await runHere(['--version', '--verbose'], '', {
    homeFolder: home,
    workingFolder: home,
    environment: {},
  });
  assert.deepEqual([shown.code, shown.stderr], [0, '']);
  const rows = Object.fromEntries(shown.stdout.split('\n').map((line) => [line.slice(0, 14).trim(), line.slice(14)]));
  assert.match(rows['compact'] ?? '', /^\d+\.\d+\.\d+$/);
  assert.equal(rows['node'], process.version);
  assert.match(rows['platform'] ?? '', new RegExp(`^${process.platform} ${process.arch} `));
  assert.match(rows['sqlite'] ?? '', /^3\.\d+\.\d+; sqlite-vec /);
  assert.equal(rows['configuration'], join(home, '.config/compact/config.toml'));
  assert.ok(rows['archive']?.endsWith(`mine.db (this program writes version ${SCHEMA_VERSION})`), rows['archive']);
});

test('`--version --verbose` answers with a wrong configuration too', async (t) => {
  const home = folderWith(t, { '.config/compact/config.toml': 'nonsense' });
  const shown = await runHere(['-V', '-v'], '', { homeFolder: home, workingFolder: home, environment: {} });
  assert.equal(shown.code, 0);
  assert.match(shown.stdout, /^archive +unknown, because the configuration is wrong/m);
  assert.match(shown.stdout, /^configuration .*config\.toml:1/m);
});
