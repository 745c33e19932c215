import assert from 'node:assert/strict';
import { chmodSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { createFileStore } from '../../../src/adapters/fs/file-store.ts';
import { openSourceFile } from '../../../src/adapters/fs/source-file.ts';
import { folderWith } from '../../support/folders.ts';
import { becomeOrdinaryUser } from '../../support/ordinary-user.ts';

// Loaded before: nobody may be able to read them afterwards.
await import('../../../src/adapters/fs/file-lock.ts');
await import('better-sqlite3');
becomeOrdinaryUser();
const store = createFileStore();

test('a file that may not be read is denied', (context) => {
  const path = join(folderWith(context, { 'in.jsonl': 'x' }), 'in.jsonl');
  chmodSync(path, 0);
  assert.deepEqual(openSourceFile(path), { ok: false, error: { kind: 'denied', path, what: 'read' } });
});

test('a read-only file is not replaced', async (context) => {
  const folder = folderWith(context, { 'out.jsonl': 'old' });
  const path = join(folder, 'out.jsonl');
  chmodSync(path, 0o444);
  assert.deepEqual(await store.lock(path), { ok: false, error: { kind: 'denied', path, what: 'write' } });
  assert.deepEqual([readdirSync(folder), readFileSync(path, 'utf8')], [['out.jsonl'], 'old']);
});

test('a folder that may not be written is what is denied', async (context) => {
  const folder = folderWith(context, {});
  chmodSync(folder, 0o555);
  const result = await store.lock(join(folder, 'out.jsonl'));
  chmodSync(folder, 0o755);
  assert.deepEqual(result, { ok: false, error: { kind: 'denied', path: folder, what: 'write' } });
});
