import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BatchStatusReport } from '../../../src/app/jobs/submit.ts';
import { renderBatchStatus } from '../../../src/cli/render/batch.ts';

const FILE = `/home/someone/logs/${'folder/'.repeat(9)}talk.jsonl`;
const REPORT: BatchStatusReport = {
  schema: 'compact/batch-status@1',
  batches: [
    {
      provider: 'openai-compat',
      id: 'batch_0123456789abcdef0123456789abcdef',
      state: 'ended',
      requests: 1200,
      sentAt: '2026-11-20T08:00:00.000Z',
      resultsExpireAt: '2026-12-19T08:00:00.000Z',
      note: 'the provider says that it could not read the file of requests',
      isFailed: true,
    },
  ],
  files: [
    { file: FILE, state: 'waiting', requests: 7, answered: 3, unsent: 2, note: null },
    { file: '/a.jsonl', state: 'waiting', requests: 7, answered: 0, unsent: 7, note: null },
    {
      file: '/b.jsonl',
      state: 'left',
      requests: 7,
      answered: 7,
      unsent: 0,
      note: 'it was compacted or changed after it was submitted',
    },
  ],
  warnings: [],
};

test('the status of batches fits into 60 columns', () => {
  const lines = renderBatchStatus(REPORT, 60);
  assert.deepEqual(
    lines.filter((line) => line.length > 60),
    [],
  );
  assert.deepEqual(lines.slice(0, 4), [
    '2026-11-20 08:00  ended, failed',
    '  batch_0123456789abcdef0123456789abcdef',
    '  openai-compat, 1,200 requests,',
    '  results until 2026-12-19 08:00',
  ]);
  assert.deepEqual(lines.slice(-5), [
    lines.at(-5),
    '  waiting for answers (3 of 7, 2 to send again)',
    "/a.jsonl: not sent; run 'compact batch collect'",
    '/b.jsonl: unchanged',
    '  it was compacted or changed after it was submitted',
  ]);
  assert.match(lines.at(-5) ?? '', /^….*\/talk\.jsonl$/);
});

test('of many batches and transcripts the others are counted', () => {
  const [batch] = REPORT.batches;
  const [, file] = REPORT.files;
  assert.ok(batch !== undefined && file !== undefined);
  const many = {
    ...REPORT,
    batches: Array.from({ length: 23 }, (_, at) => ({ ...batch, id: `batch_${at}`, note: null, isFailed: false })),
    files: Array.from({ length: 1021 }, (_, at) => ({ ...file, file: `/${at}.jsonl`, state: 'collected' as const })),
  };
  const lines = renderBatchStatus(many, 60);
  assert.equal(lines[0], '3 older batches: ended (--json lists all)');
  assert.equal(lines.filter((line) => line.includes('batch_')).length, 20);
  assert.ok(lines.includes('  batch_22'));
  assert.equal(lines.at(-1), '1,001 more transcripts: compacted (--json lists all)');
  const fetched = { ...file, answered: 7, unsent: 0 };
  assert.deepEqual(renderBatchStatus({ ...REPORT, batches: [], files: [fetched] }, 60), [
    "/a.jsonl: all 7 answers fetched; run 'compact batch collect'",
  ]);
});
