import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { REFERENCE, writeReference } from './reference.ts';

test('docs/commands.md describes the commands as they are', async () => {
  assert.equal(readFileSync(REFERENCE, 'utf8'), await writeReference(), 'npm run docs:commands writes it again');
});
