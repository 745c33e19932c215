import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { loadRedactors } from '../../../src/adapters/redact/redactor.ts';
import { folderWith } from '../../support/folders.ts';

test('without a file of rules our own are used, and each redactor counts for itself', async () => {
  const loaded = await loadRedactors(null);
  assert.ok(loaded.ok);
  const redact = (text: string): string => loaded.value.create().redact(text);
  assert.deepEqual(['PASSWORD=hunter2', 'PASSWORD=hunter3'].map(redact), [
    'PASSWORD=[redacted:password:1]',
    'PASSWORD=[redacted:password:1]',
  ]);
});

test('the rules of a file come on top, and what does nothing in it is told', async (t) => {
  const rules = '[extend]\nuseDefault = true\n[[rules]]\nid = "badge"\nregex = "badge-[0-9]{4}"\n';
  const loaded = await loadRedactors(join(folderWith(t, { 'rules.toml': rules }), 'rules.toml'));
  assert.ok(loaded.ok);
  assert.deepEqual(
    [loaded.value.create().redact('badge-1234 PASSWORD=hunter2'), loaded.value.warnings.length],
    ['[redacted:badge:1] PASSWORD=[redacted:password:1]', 1],
  );
});

test('a file that is not there, a folder, and bytes that are no text are problems', async (t) => {
  const folder = folderWith(t, {});
  const binary = join(folder, 'binary.toml');
  writeFileSync(binary, Uint8Array.of(0xff, 0xfe, 0x00));
  const absent = join(folder, 'absent.toml');
  const problems = await Promise.all([absent, folder, binary].map((path) => loadRedactors(path)));
  assert.deepEqual(
    problems.map((one) => (one.ok ? null : one.error)),
    [
      [{ path: absent, place: '', problem: 'does not exist' }],
      [{ path: folder, place: '', problem: 'is a folder' }],
      [{ path: binary, place: '', problem: 'is not UTF-8 text' }],
    ],
  );
});
