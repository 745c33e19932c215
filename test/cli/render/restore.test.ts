import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RestoreReport } from '../../../src/app/contract/reports.ts';
import { renderRestoreReport } from '../../../src/cli/render/restore.ts';
import { PLAIN_THEME } from '../../../src/cli/render/theme.ts';

const sha256 = 'c'.repeat(64);

function reportOf(overrides: Partial<RestoreReport> = {}): RestoreReport {
  return {
    schema: 'compact/restore@1',
    file: 'talk.compact.jsonl',
    result: 'restored',
    output: 'talk.jsonl',
    cycles: 1,
    bytes: 48_000,
    sha256,
    original: { sha256: 'd'.repeat(64), bytes: 47_988 },
    appendedBytes: 0,
    ...overrides,
  };
}

test('a restored file is reported with its output, its size and how much was undone', () => {
  assert.deepEqual(renderRestoreReport(reportOf(), PLAIN_THEME), [
    'talk.compact.jsonl → talk.jsonl: 48 kB, 1 compaction undone',
    `  sha256    ${sha256}`,
  ]);
});

test('a file that was restored in place is reported without an output', () => {
  const report = reportOf({ file: 'talk.jsonl', cycles: 2, appendedBytes: 12 });
  assert.deepEqual(renderRestoreReport(report, PLAIN_THEME), [
    'talk.jsonl: restored in place, 48 kB, 2 compactions undone, 12 bytes appended since then at its end',
    `  sha256    ${sha256}`,
    `  original  ${'d'.repeat(64)}, the first 48 kB`,
  ]);
});

test("what came out with another program's summary at its beginning says so", () => {
  const lines = renderRestoreReport(reportOf({ isStillCompacted: true }), PLAIN_THEME);
  assert.match(
    lines.at(-1) ?? '',
    /^ {2}note {6}it begins with a summary of another program or archive, or one that somebody pasted\.$/,
  );
});
