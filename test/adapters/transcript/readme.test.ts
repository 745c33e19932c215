import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { FORMATS } from '../../../src/adapters/transcript/registry.ts';

const README = readFileSync(join(import.meta.dirname, '../../../README.md'), 'utf8');

test('the README lists the formats of the registry, in its words', () => {
  const section = /^## Formats\n([^]*?)^## /m.exec(README)?.[1] ?? '';
  const rows = section.split('\n').filter((line) => line.startsWith('| `'));
  const told = rows.map((row) => row.replaceAll('`', ''));
  assert.deepEqual(
    told,
    FORMATS.map(({ format: { name, summary, checked } }) => `| ${name} | ${summary} | ${checked} |`),
  );
});
