import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatAge, renderNextStep, renderScan } from '../../../src/cli/render/scan.ts';
import { clipMiddle, textWidth } from '../../../src/messages/text.ts';
import { PLAIN_THEME } from '../../../src/cli/render/theme.ts';
import { scanReport } from '../fake-reports.ts';

const rendering = {
  theme: PLAIN_THEME,
  nowMs: Date.parse('2026-03-05T10:00:00.000Z'),
  homeFolder: '/home/you',
  namesFiles: true,
  limit: Number.POSITIVE_INFINITY,
};
const rows = [
  scanReport(),
  scanReport({
    file: '/home/you/.codex/sessions/2026/02/rollout-2026-02-01.jsonl',
    format: 'codex',
    id: null,
    title: null,
    project: null,
    at: null,
    bytes: 900,
    bytesAfter: 900,
    archiveBytes: 0,
    netBytes: 0,
    cost: null,
    messages: 3,
    tokens: { before: 1200, after: 1200, by: 'utf8-bytes/4' },
    saving: 0,
  }),
];

test('without an id, the column of ids is left out, and own prices have no currency', () => {
  const cost = { before: 0.5, after: 0.1 };
  const [head = ''] = renderScan([scanReport({ id: null, cost })], { ...rendering, widthColumns: 200 });
  assert.match(head, /^ saves .* cost +frees +size age project +transcript +title$/);
});

test('a transcript takes a row, and the totals stand below', () => {
  const lines = renderScan(rows, { ...rendering, widthColumns: Number.POSITIVE_INFINITY });
  assert.deepEqual(lines, [
    ' saves  tokens cost $   frees      size age id       project      transcript                                         title',
    '80,000 160,000   0.48  3.2 MB    4.2 MB  3d 0f1e2d3c /work/harbor ~/.claude/projects/-work-harbor/0f1e2d3c.jsonl     Make the harbor print recipes',
    '     0   1,200        0 bytes 900 bytes  3d                       ~/.codex/sessions/2026/02/rollout-2026-02-01.jsonl',
    '2 transcripts, 4.2 MB, 161,200 tokens',
    'compaction saves at least 80,000 tokens (49 %)',
    'and in place frees about 3.2 MB of disk, net of the archive',
    'reading each once: 0.48 USD, compacted at most 0.24,',
    'at list prices of 2026-09-23',
  ]);
});

test('where ids can be typed, 60 columns show them with the titles', () => {
  const ids = rows.map((row, at) => ({ ...row, id: `${at}f1e2d3c-0000-4000-8000-000000000000` }));
  const lines = renderScan(ids, { ...rendering, namesFiles: false, widthColumns: 60 });
  assert.deepEqual(lines.slice(0, 3), [
    ' saves  tokens   frees      size age id       title',
    '80,000 160,000  3.2 MB    4.2 MB  3d 0f1e2d3c Make the harb…',
    '     0   1,200 0 bytes 900 bytes  3d 1f1e2d3c',
  ]);
});

for (const widthColumns of [60, 80, 120]) {
  for (const namesFiles of [true, false]) {
    test(`no line is wider than ${widthColumns} columns, ${namesFiles ? 'with paths' : 'with ids'}`, () => {
      const long = rows.map((row) => ({ ...row, title: 'Make the harbor print every recipe in grams. '.repeat(9) }));
      const lines = renderScan(long, { ...rendering, namesFiles, widthColumns });
      assert.deepEqual(
        lines.filter((line) => textWidth(line) > widthColumns),
        [],
      );
    });
  }
}

test('60 columns have room for what there is to save and where, the path cut in its middle', () => {
  const lines = renderScan(rows, { ...rendering, widthColumns: 60 });
  assert.deepEqual(lines.slice(0, 3), [
    ' saves   frees      size age transcript',
    '80,000  3.2 MB    4.2 MB  3d ~/.claude…harbor/0f1e2d3c.jsonl',
    '     0 0 bytes 900 bytes  3d ~/.codex/…lout-2026-02-01.jsonl',
  ]);
});

test('rows beyond the limit are only counted, and the totals are still those of all', () => {
  const lines = renderScan(rows, { ...rendering, limit: 1, widthColumns: 120 });
  assert.deepEqual(lines.slice(2, 4), ['and 1 more (--limit)', '2 transcripts, 4.2 MB, 161,200 tokens']);
});

test('a compaction that makes the disk fuller is announced as such', () => {
  const lines = renderScan([scanReport({ netBytes: -12_000, cost: null })], { ...rendering, widthColumns: 120 });
  assert.match(lines[1] ?? '', /^80,000 160,000 -12 kB/);
  assert.equal(lines.at(-1), 'and in place makes the disk about 12 kB fuller, net of the archive');
});

test('a name that would steer a terminal is shown as text', () => {
  const [, row = ''] = renderScan([scanReport({ file: '/x/\u001b[31m.jsonl', project: '\u0007' })], {
    ...rendering,
    widthColumns: 120,
  });
  assert.match(row, /\\x07 +\/x\/\\x1b\[31m\.jsonl Make/);
});

test('where nothing is to be saved, it is said and nothing is advised', () => {
  const idle = rows.slice(1);
  assert.equal(renderScan(idle, { ...rendering, widthColumns: 80 }).at(-1), 'compaction would save nothing');
  assert.deepEqual(renderNextStep(idle, { program: 'compact', argv: ['scan'] }), []);
});

test('the next step compacts what was found, with the flags that the figures were made with', () => {
  const argv = ['scan', '--larger-than', '5MB', '--keep-recent=20', '--config', 'my conf.toml', 'my logs'];
  assert.deepEqual(renderNextStep(rows, { program: 'npx compact', argv }), [
    'Next, plan one, or compact all of them in place:',
    "  npx compact --keep-recent=20 --config 'my conf.toml' -n /home/you/.claude/projects/-work-harbor/0f1e2d3c.jsonl",
    "  npx compact scan --larger-than 5MB --keep-recent=20 --config 'my conf.toml' 'my logs' -0 | npx compact --keep-recent=20 --config 'my conf.toml' -i --files-from -",
  ]);
  assert.equal(
    renderNextStep(rows, { program: 'compact', argv: ['scan'] }).at(-1),
    '  compact scan -0 | compact -i --files-from -',
  );
});

test('the next step repeats no flag that only changes what is printed', () => {
  const argv = ['scan', 'logs', '--color', 'always', '-v', '--no-progress', '--color=never', '--sort', 'age'];
  assert.equal(
    renderNextStep(rows, { program: 'compact', argv }).at(-1),
    '  compact scan logs --sort age -0 | compact -i --files-from -',
  );
});

test('the next step trusts the configuration if the scan did', () => {
  assert.deepEqual(renderNextStep(rows, { program: 'compact', argv: ['scan', '--trust-config'] }).slice(1), [
    '  compact --trust-config -n /home/you/.claude/projects/-work-harbor/0f1e2d3c.jsonl',
    '  compact scan --trust-config -0 | compact --trust-config -i --files-from -',
  ]);
});

test('an age is shown in the units that --older-than takes', () => {
  const hour = 3_600_000;
  const ages = [-hour, hour / 2, hour, 47 * hour, 48 * hour, 89 * 24 * hour, 90 * 24 * hour, 731 * 24 * hour];
  assert.deepEqual(ages.map(formatAge), ['<1h', '<1h', '1h', '47h', '2d', '89d', '3mo', '2y']);
});

test('a text that is cut in its middle keeps both ends, and is never wider than asked for', () => {
  assert.equal(clipMiddle('~/projects/harbor/session.jsonl', 20), '~/pro…/session.jsonl');
  assert.equal(clipMiddle('short', 20), 'short');
  for (const columns of [1, 2, 5, 6, 9, 15]) {
    assert.ok(textWidth(clipMiddle('~/项目/很长的文件夹/会话.jsonl', columns)) <= columns, String(columns));
  }
});
