import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { FORMATS } from '../../src/adapters/transcript/registry.ts';

const PAGE = readFileSync(join(import.meta.dirname, '../../docs/formats.md'), 'utf8');

test('docs/formats.md lists the formats of the registry, in its words', () => {
  const rows = PAGE.split('\n').filter((line) => line.startsWith('| `'));
  assert.deepEqual(
    rows.map((row) => row.replaceAll('`', '')),
    FORMATS.map(({ format: { name, summary, checked } }) => `| ${name} | ${summary} | ${checked} |`),
  );
});
