import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RestoreReport, VerifyReport } from '../../../src/app/contract/reports.ts';
import { renderRestoreReport, renderVerifyReport } from '../../../src/cli/render/restore.ts';
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

test('a proof is reported in one line', () => {
  const report: VerifyReport = {
    schema: 'compact/verify@1',
    file: 'talk.jsonl',
    format: 'chat-lines',
    result: 'verified',
    problems: [],
    cycles: 1,
    batches: 3,
    lines: { kept: 50, archived: 1374, appended: 2 },
    original: { sha256: 'c'.repeat(64), bytes: 1_900_000 },
    archive: '/data/archive.db',
  };
  assert.deepEqual(renderVerifyReport(report, PLAIN_THEME), [
    'talk.jsonl: verified: 50 lines kept, 1,374 archived, 2 appended since, 3 batches of 1 compaction; the original of 1.9 MB can be restored',
  ]);
});
