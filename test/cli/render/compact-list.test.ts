import assert from 'node:assert/strict';
import { test } from 'node:test';
import { layList, renderListHead, renderListLine } from '../../../src/cli/render/compact-list.ts';
import { PLAIN_THEME } from '../../../src/cli/render/theme.ts';
import { textWidth } from '../../../src/messages/text.ts';
import { compactReport } from '../fake-reports.ts';

test('a transcript of several takes a line: its name, its tokens, what was done or why not', () => {
  const layout = layList(['talk.jsonl', 'other.jsonl'], { terminalColumns: 80, isPlan: false });
  const line = (changes: Parameters<typeof compactReport>[0]) =>
    renderListLine(compactReport(changes), layout, PLAIN_THEME);
  assert.deepEqual(
    [
      renderListHead(layout, PLAIN_THEME),
      line({}),
      line({ file: 'other.jsonl', result: 'skipped', reason: 'nothing-new', output: null }),
      line({ result: 'skipped', reason: 'under-limit', output: 'out/talk.jsonl' }),
    ],
    [
      'transcript                 tokens result',
      'talk.jsonl           12,000 → 750 93 % saved',
      'other.jsonl                12,000 nothing new',
      'talk.jsonl                 12,000 under limit, copied',
    ],
  );
});

test('a line fits into 60 columns, and a long name keeps its end', () => {
  const file = '/home/somebody/.claude/projects/-work-harbor/0f1e2d3c.jsonl';
  const line = renderListLine(
    compactReport({ file }),
    layList([file], { terminalColumns: 60, isPlan: false }),
    PLAIN_THEME,
  );
  assert.equal(line, '…rk-harbor/0f1e2d3c.jsonl          12,000 → 750 93 % saved');
  assert.ok(textWidth(line) <= 60);
});

test('a wide terminal shows more of a name, and a narrow one is taken for 60 columns', () => {
  const name = 'x'.repeat(50);
  assert.deepEqual(
    [200, 90, 20].map((columns) => layList([name], { terminalColumns: columns, isPlan: false }).nameColumns),
    [50, 50, 25],
  );
});

test('wide characters count twice, and control characters are escaped', () => {
  const names = ['港の会話.jsonl', '\u001b[2J.jsonl'];
  const layout = layList(names, { terminalColumns: 60, isPlan: false });
  const lines = names.map((file) => renderListLine(compactReport({ file }), layout, PLAIN_THEME));
  assert.deepEqual(lines, [
    '港の会話.jsonl          12,000 → 750 93 % saved',
    '\\x1b[2J.jsonl           12,000 → 750 93 % saved',
  ]);
});

test('there is room for sizes in 100 columns, and a plan says that its figures are the most', () => {
  const layout = layList(['talk.jsonl'], { terminalColumns: 100, isPlan: true });
  const plan = { bytesAfter: 3100, archiveBytes: 9000, chunks: 1, requests: 1, tokensIn: 0, tokensOut: 0, cost: null };
  const report = compactReport({ result: 'planned', plan, bytes: { before: 48_000, after: null } });
  assert.deepEqual(
    [renderListHead(layout, PLAIN_THEME), renderListLine(report, layout, PLAIN_THEME)],
    [
      'transcript            size      tokens → at most result',
      'talk.jsonl  48 kB → 3.1 kB          12,000 → 750 93 % saved',
    ],
  );
});

test('nothing is cut where there is no terminal', () => {
  const file = `/${'x'.repeat(300)}/0f1e2d3c.jsonl`;
  const layout = layList([file], { terminalColumns: null, isPlan: false });
  assert.ok(renderListLine(compactReport({ file }), layout, PLAIN_THEME).startsWith(`${file} `));
});
