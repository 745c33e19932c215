import assert from 'node:assert/strict';
import { test } from 'node:test';
import { layList, renderListHead, renderListRow } from '../../../src/cli/render/compact-list.ts';
import { PLAIN_THEME } from '../../../src/cli/render/theme.ts';
import { textWidth } from '../../../src/messages/text.ts';
import { compactReport } from '../fake-reports.ts';

test('a transcript of several is a row: its name, its tokens, what was done or why not', () => {
  const layout = layList(['talk.jsonl', 'other.jsonl'], { terminalColumns: 80, isPlan: false });
  const row = (changes: Parameters<typeof compactReport>[0]) =>
    renderListRow(compactReport(changes), layout, PLAIN_THEME);
  assert.deepEqual(
    [
      renderListHead(layout, PLAIN_THEME),
      ...row({}),
      ...row({ file: 'other.jsonl', result: 'skipped', reason: 'nothing-new', output: null }),
      ...row({ result: 'skipped', reason: 'under-limit', output: 'out/talk.jsonl' }),
    ],
    [
      'transcript                 tokens result',
      'talk.jsonl           12,000 → 750 93 % saved',
      'other.jsonl                12,000 nothing new',
      'talk.jsonl                 12,000 under limit, copied',
    ],
  );
});

test('a row fits into 60 columns, where a long name keeps its end and a title its start', () => {
  const file = '/home/somebody/.claude/projects/-work-harbor/0f1e2d3c.jsonl';
  const rowOf = (title: string, terminalColumns: number | null) =>
    renderListRow(compactReport({ file, title }), layList([file], { terminalColumns, isPlan: false }), PLAIN_THEME);
  const lines = rowOf('The crane at the west quay stops whenever the tide is low', 60);
  assert.deepEqual(lines, [
    '…rk-harbor/0f1e2d3c.jsonl          12,000 → 750 93 % saved',
    '  The crane at the west quay stops whenever the tide is low',
  ]);
  const long = [...lines, ...rowOf('\u001b[2J'.repeat(20), 60)];
  for (const line of long) assert.ok(textWidth(line) <= 60, line);
  // Elsewhere a transcript stays one line, and a log does not quote what people typed.
  const [piped, ...others] = rowOf('The crane', null);
  assert.deepEqual([piped.slice(piped.indexOf('93 %')), others], ['93 % saved', []]);
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
  const lines = names.flatMap((file) => renderListRow(compactReport({ file }), layout, PLAIN_THEME));
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
    [renderListHead(layout, PLAIN_THEME), ...renderListRow(report, layout, PLAIN_THEME)],
    [
      'transcript            size      tokens → at most result',
      'talk.jsonl  48 kB → 3.1 kB          12,000 → 750 93 % saved',
    ],
  );
});

test('nothing is cut where there is no terminal', () => {
  const file = `/${'x'.repeat(300)}/0f1e2d3c.jsonl`;
  const layout = layList([file], { terminalColumns: null, isPlan: false });
  assert.ok(renderListRow(compactReport({ file }), layout, PLAIN_THEME)[0]?.startsWith(`${file} `));
});
