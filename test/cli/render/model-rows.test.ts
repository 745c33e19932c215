import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BatchReport, ConversationReport, UsageReport } from '../../../src/app/contract/reports.ts';
import { NO_USAGE } from '../../../src/app/summarize/usage.ts';
import { countLevels, levelRows, planRows, usageRows } from '../../../src/cli/render/compact.ts';
import { formatCost, formatDuration } from '../../../src/cli/render/quantities.ts';
import { PLAIN_THEME } from '../../../src/cli/render/theme.ts';
import { compactReport } from '../fake-reports.ts';

const usageOf = (usage: Partial<UsageReport>): readonly string[] =>
  usageRows(compactReport({ usage: { ...NO_USAGE, cost: null, ...usage } }));

test('calls, tokens, retries, waits, earlier payments and the cost fit in lines of sixty columns', () => {
  const rows = usageOf({
    calls: 12,
    inputTokens: 90_000,
    cachedInputTokens: 40_000,
    outputTokens: 8000,
    retries: 2,
    waitedMs: 3100,
    reused: 3,
    cost: 0.31,
  });
  assert.deepEqual(rows, [
    '  model     12 calls, 90,000 tokens in (40,000 cached),',
    '            8,000 out, 2 retries, 4 s waited,',
    '            3 summaries paid before, cost 0.31',
  ]);
  assert.deepEqual(
    rows.filter((row) => row.length > 60),
    [],
  );
});

test('a run that pays nothing says so', () => {
  assert.deepEqual(usageOf({ reused: 3, cost: 0 }), ['  model     no calls, 3 summaries paid before, cost 0.00']);
});

test('calls of the offline provider are not shown', () => {
  assert.deepEqual(usageOf({ calls: 3 }), []);
});

test('a plan shows the most that its requests may cost', () => {
  const counts = { bytesAfter: 1, archiveBytes: 1, chunks: 3, requests: 4, tokensIn: 9000, tokensOut: 4096 };
  const plan = { ...counts, cost: 0.0123, asked: [] };
  assert.deepEqual(planRows(compactReport({ plan })), [
    '  model     4 requests, about 9,000 tokens in,',
    '            at most 4,096 out, cost about 0.012',
  ]);
});

test('batches that are not by the first answer are counted by how they came about', () => {
  const batch = (level?: BatchReport['level']): BatchReport => ({
    label: 'x',
    depth: 0,
    start: null,
    end: null,
    count: 1,
    ...(level === undefined ? {} : { level }),
  });
  const [first] = compactReport().conversations;
  assert.ok(first);
  const rows = (...levels: readonly BatchReport['level'][]): readonly string[] => {
    const conversations: readonly ConversationReport[] = [{ ...first, batches: levels.map(batch) }];
    return levelRows(countLevels(compactReport({ conversations })), { ...PLAIN_THEME, warning: (text) => `!${text}` });
  };
  assert.deepEqual(rows('feedback', undefined, 'fallback', 'feedback', 'halved'), [
    '  levels    !1 batch summarized offline, the model failed',
    '            1 batch summarized in parts',
    '            2 batches requested again, with what was wrong',
  ]);
  assert.deepEqual(rows(undefined), []);
});

test('small sums keep two digits that count', () => {
  assert.deepEqual([0, 0.000_045_6, 0.0123, 0.1, 12.345, 1_234_567.8].map(formatCost), [
    '0.00',
    '0.000046',
    '0.012',
    '0.10',
    '12.35',
    '1,234,567.80',
  ]);
});

test('waits are shown in seconds and minutes, rounded up', () => {
  assert.deepEqual([1, 59_001, 200_000, 3_600_000].map(formatDuration), ['1 s', '1 min', '3 min 20 s', '60 min']);
});
