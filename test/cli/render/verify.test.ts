import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { VerifyReport } from '../../../src/app/contract/reports.ts';
import { renderVerifyReport } from '../../../src/cli/render/restore.ts';
import { PLAIN_THEME } from '../../../src/cli/render/theme.ts';

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
