import assert from 'node:assert/strict';
import { test } from 'node:test';
import type {
  BatchReport,
  ConversationReport,
  RetentionReport,
  UsageReport,
} from '../../../src/app/contract/reports.ts';
import { NO_USAGE } from '../../../src/app/summarize/usage.ts';
import {
  type CompactRendering,
  renderCompactReport,
  renderPreview,
  renderTotals,
} from '../../../src/cli/render/compact.ts';
import { formatCost, formatDuration } from '../../../src/messages/quantities.ts';
import { PLAIN_THEME } from '../../../src/cli/render/theme.ts';
import { NO_TOTALS } from '../../../src/cli/runs/run-report.ts';
import { compactReport } from '../fake-reports.ts';

function rendering(changes: Partial<CompactRendering> = {}): CompactRendering {
  return {
    theme: PLAIN_THEME,
    isVerbose: false,
    archiveFlag: null,
    program: 'compact',
    isInPlace: false,
    widthColumns: 60,
    ...changes,
  };
}

/** The lines of a report about something: from its label to the next one. */
function rowsAbout(
  label: string,
  changes: Parameters<typeof compactReport>[0],
  theme: CompactRendering['theme'] = PLAIN_THEME,
): readonly string[] {
  const lines = renderCompactReport(compactReport(changes), rendering({ theme }));
  const start = lines.findIndex((line) => line.startsWith(`  ${label} `));
  const after = lines.findIndex((line, at) => at > start && !line.startsWith(' '.repeat(12)));
  return start < 0 ? [] : lines.slice(start, after < 0 ? undefined : after);
}

test('a compaction reports what it did, where things are, and how to undo it', () => {
  assert.deepEqual(renderCompactReport(compactReport(), rendering()), [
    'talk.jsonl → talk.compact.jsonl',
    '  result    48 kB → 3.0 kB (archive + 12 kB),',
    '            12,000 → 750 tokens (93 % saved)',
    '  messages  1,420 → 26',
    '  batches   1 of depth 0, 1 of depth 1 after 2 cycles',
    '  lines     25 kept, 1,390 summarized, 5 other, of 1,420',
    '  archive   /data/archive.db',
    '  restore   compact restore talk.compact.jsonl -o talk.restored.jsonl',
  ]);
});

test('what was compacted in place is restored in place, from the archive that was named', () => {
  const lines = renderCompactReport(
    compactReport({ file: 'my talk.jsonl', output: 'my talk.jsonl' }),
    rendering({ isInPlace: true, archiveFlag: 'a b.db' }),
  );
  assert.equal(lines[0], 'my talk.jsonl: compacted in place');
  assert.equal(lines.at(-1), "  restore   compact restore --archive 'a b.db' 'my talk.jsonl' -i");
});

test('a user of npx gets a command that npx runs', () => {
  const lines = renderCompactReport(compactReport(), rendering({ program: 'npx compact' }));
  assert.equal(lines.at(-1), '  restore   npx compact restore talk.compact.jsonl -o talk.restored.jsonl');
});

test('a note comes at the end', () => {
  const lines = renderCompactReport(compactReport({ notes: ['The target was missed by 40 tokens.'] }), rendering());
  assert.equal(lines.at(-1), '  note      The target was missed by 40 tokens.');
});

test('verbose lists the batches of each conversation', () => {
  const lines = renderCompactReport(compactReport(), rendering({ isVerbose: true }));
  assert.deepEqual(lines.slice(-3), [
    '  c1: messages 1,420 → 26, tokens 12,000 → 750, estimated as utf8-bytes/4',
    '    compaction-batch-c1-x: depth 1, 200 messages',
    '    compaction-batch-c1-y: depth 0, 95 messages, 2026-01-02T10:00:00.000Z to 2026-01-02T11:00:00.000Z',
  ]);
});

test('a skipped transcript takes one line with the reason', () => {
  const skipped = compactReport({ result: 'skipped', reason: 'too-short', output: null });
  assert.deepEqual(renderCompactReport(skipped, rendering()), [
    'talk.jsonl: skipped, too short: nothing is older than the recent messages that stay',
  ]);
  const copied = compactReport({ result: 'skipped', reason: 'under-limit', notes: ['3 tokens of 9.'], output: 'o' });
  assert.deepEqual(renderCompactReport(copied, rendering()), [
    'talk.jsonl: skipped, 3 tokens of 9; copied as it is to o',
  ]);
});

const PLAN = {
  bytesAfter: 3100,
  archiveBytes: 12_000,
  chunks: 3,
  requests: 4,
  tokensIn: 9000,
  tokensOut: 4096,
  cost: null,
};

test('an offline plan says what there would be at most, that nothing was written, and nothing of requests', () => {
  const planned = compactReport({ result: 'planned', plan: PLAN, output: null, archive: null });
  assert.deepEqual(renderCompactReport(planned, rendering()), [
    'talk.jsonl: the plan; nothing was written',
    '  result    48 kB → about 3.1 kB (archive + about 12 kB),',
    '            12,000 → at most 750 tokens (93 % saved),',
    '            in place about 33 kB of disk freed, net of the archive',
    '  messages  1,420 → 26',
    '  lines     25 kept, 1,390 summarized, 5 other, of 1,420',
  ]);
  const tokens = (lines: readonly string[]): readonly string[] => lines.filter((line) => line.includes('tokens'));
  const estimates = tokens(renderCompactReport(planned, rendering({ isVerbose: true })));
  assert.match(estimates.at(-1) ?? '', /tokens 12,000 → at most 750, estimated as utf8-bytes\/4$/);
});

test('messages that a target leaves room for are quoted, and the report counts them', () => {
  const ledger = { kept: 25, summarized: 1019, quoted: 371, other: 5, total: 1420 };
  const lines = renderCompactReport(compactReport({ ledger }), rendering());
  assert.ok(lines.includes('  messages  1,420 → 26, 371 messages quoted word for word'));
  assert.ok(lines.includes('  lines     25 kept, 1,019 summarized, 371 quoted, 5 other, of 1,420'));
});

test('names from outside are shown with their control characters escaped', () => {
  const odd = compactReport({ file: 'x\u001b[2J.jsonl', output: 'x\u001b[2J.compact.jsonl' });
  const lines = renderCompactReport(odd, rendering({ isVerbose: true }));
  assert.equal(lines[0], 'x\\x1b[2J.jsonl → x\\x1b[2J.compact.jsonl');
  assert.deepEqual(
    lines.filter((line) => /\p{Cc}/u.test(line)),
    [],
  );
});

const TOTALS = {
  ...NO_TOTALS,
  compacted: 2,
  skipped: new Map([['nothing new', 1]]),
  failed: 1,
  tokens: { before: 4000, after: 1000 },
  bytes: { before: 4_100_000, after: 50_000, archive: 800_000 },
  netBytes: 3_250_000,
};

test('several transcripts are added up, with where their archive is and how any of them is restored', () => {
  assert.deepEqual(renderTotals(TOTALS, { ...rendering({ archiveFlag: 'a b.db' }), archive: '/data/a b.db' }), [
    '4 transcripts: 2 compacted, 1 skipped (1 nothing new), 1 failed',
    '  result    4.1 MB → 50 kB (archive + 800 kB),',
    '            4,000 → 1,000 tokens (75 % saved)',
    '  archive   /data/a b.db',
    "  restore   compact restore --archive 'a b.db' FILE -o ORIGINAL",
  ]);
  const inPlace = renderTotals(TOTALS, { ...rendering({ isInPlace: true }), archive: '/data/a.db' });
  assert.equal(inPlace[3], '            3.3 MB of disk freed, net of the archive');
  assert.equal(inPlace.at(-1), '  undo      compact undo');
});

test('where nothing was stored there is nothing to restore', () => {
  const reasons = new Map([
    ['no messages', 2],
    ['nothing new', 1200],
  ]);
  assert.deepEqual(
    renderTotals({ ...TOTALS, compacted: 0, failed: 0, skipped: reasons }, { ...rendering(), archive: null }),
    ['1,202 transcripts: 1,202 skipped (1,200 nothing new, 2 no messages)'],
  );
});

test('the totals of an interrupted run say that the rest is as it was, those of a dry run that nothing was written', () => {
  assert.deepEqual(
    renderTotals({ ...TOTALS, skipped: new Map(), failed: 0, left: 9 }, { ...rendering(), archive: null }).slice(0, 1),
    ['11 transcripts: 2 compacted, 9 not done; the files of those are as they were'],
  );
  assert.deepEqual(
    renderTotals({ ...TOTALS, compacted: 0, planned: 2 }, { ...rendering({ isInPlace: true }), archive: null }),
    [
      '4 transcripts: 2 planned, 1 skipped (1 nothing new), 1 failed; nothing was written',
      '  result    4.1 MB → about 50 kB (archive + about 800 kB),',
      '            4,000 → at most 1,000 tokens (75 % saved),',
      '            about 3.3 MB of disk freed, net of the archive',
    ],
  );
  const fuller = { ...TOTALS, planned: 2, netBytes: -12_000 };
  assert.equal(
    renderTotals(fuller, { ...rendering({ isInPlace: true }), archive: null }).at(-1),
    '            the disk about 12 kB fuller, net of the archive',
  );
});

const one = { conversation: 'c\u001b1', text: 'first\u001b[2J\n\tsecond' };
const other = { conversation: 'c2', text: 'third' };

test('a clip-archive is shown safely, line by line', () => {
  const lines = renderPreview(compactReport({ preview: [one] }), { isSeveral: false, theme: PLAIN_THEME });
  assert.deepEqual(lines, ['first\\x1b[2J', '    second']);
});

test('several are named by file and conversation', () => {
  const lines = renderPreview(compactReport({ preview: [one, other] }), { isSeveral: false, theme: PLAIN_THEME });
  const [first, second] = ['talk.jsonl, conversation c\\x1b1:', 'talk.jsonl, conversation c2:'];
  assert.deepEqual(lines, [first, 'first\\x1b[2J', '    second', '', second, 'third', '']);
});

test('a preview is reported like a compaction, with what was not done', () => {
  const { netBytes: _, ...report } = compactReport({
    result: 'planned',
    preview: [one],
    bytes: { before: 48_000, after: null },
    output: null,
    archive: null,
  });
  assert.deepEqual(renderCompactReport(report, rendering()), [
    'talk.jsonl: a preview; no transcript was written',
    '  result    12,000 → 750 tokens (93 % saved)',
    '  messages  1,420 → 26',
    '  batches   1 of depth 0, 1 of depth 1 after 2 cycles',
    '  lines     25 kept, 1,390 summarized, 5 other, of 1,420',
  ]);
});

const usageOf = (usage: Partial<UsageReport>): readonly string[] =>
  rowsAbout('model', { usage: { ...NO_USAGE, cost: null, ...usage } });

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
  assert.deepEqual(rowsAbout('model', { result: 'planned', plan }), [
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
    return rowsAbout('levels', { conversations }, { ...PLAIN_THEME, warning: (text) => `!${text}` });
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

type Batch = RetentionReport['batches'][number];

function rowsOf(...batches: readonly Omit<Batch, 'label'>[]): readonly string[] {
  const retention: RetentionReport = {
    kept: batches.reduce((sum, { kept }) => sum + kept, 0),
    total: batches.reduce((sum, { total }) => sum + total, 0),
    batches: batches.map((batch) => ({ label: 'l', ...batch })),
  };
  return rowsAbout('facts', { retention });
}

test('one batch is a line with the first of what is lost', () => {
  const lost = ['a.ts', 'b.ts', 'port 80', 'd', 'e'];
  assert.deepEqual(rowsOf({ kept: 41, total: 52, lost }), ['  facts     41 of 52 kept; lost: a.ts, b.ts and 9 more']);
  assert.deepEqual(rowsOf({ kept: 5, total: 5, lost: [] }), ['  facts     5 of 5 kept']);
  assert.deepEqual(rowsOf({ kept: 4, total: 5, lost: ['a.ts'] }), ['  facts     4 of 5 kept; lost: a.ts']);
});

test('of several batches each that lost any has its line', () => {
  const rows = rowsOf(
    { kept: 9, total: 10, lost: ['x'] },
    { kept: 3, total: 3, lost: [] },
    { kept: 0, total: 2, lost: ['y', 'z'] },
  );
  assert.deepEqual(rows, [
    '  facts     12 of 15 kept in 3 batches',
    '            1: 9 of 10 kept; lost: x',
    '            3: 0 of 2 kept; lost: y, z',
  ]);
});

test('many batches do not fill the screen', () => {
  const rows = rowsOf(...Array.from({ length: 30 }, () => ({ kept: 0, total: 1, lost: ['x'] })));
  assert.deepEqual([rows.length, rows.at(-1)], [10, '            … and 22 more; --json lists them all']);
});

test('a fact is shown safely, and a long one is cut so that the line keeps to sixty columns', () => {
  const [row = ''] = rowsOf({ kept: 1, total: 9, lost: ['\u001b[2J/a/very/long/path/to/some/where.ts', 'b'] });
  assert.equal(row, '  facts     1 of 9 kept; lost: \\x1b[2J/a/very/lo… and 7 more');
  assert.equal(row.length, 60);
});

test('without an audit, or without facts, nothing is shown', () => {
  assert.deepEqual(rowsAbout('facts', {}), []);
  assert.deepEqual(rowsOf({ kept: 0, total: 0, lost: [] }), []);
});
