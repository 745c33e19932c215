import assert from 'node:assert/strict';
import { test } from 'node:test';
import { renderArchiveList, renderArchiveStats } from '../../../src/cli/render/archive.ts';
import { PLAIN_THEME } from '../../../src/cli/render/theme.ts';
import { listReport, statsReport } from '../archive-reports.ts';

const place = { theme: PLAIN_THEME, widthColumns: 60 };

test('a compaction is listed by time and file, with what it archived', () => {
  assert.deepEqual(renderArchiveList(listReport(), place), [
    '2026-03-03 00:00  /logs/talk.jsonl',
    '  chat-lines, cycle 2, 1,200 lines archived, 48 kB → 3.0 kB,',
    '  c1',
  ]);
});

test('several conversations are counted, and a long path shows its end', () => {
  const [one] = listReport().compactions;
  assert.ok(one !== undefined);
  const conversations = [
    { id: 'c1', cycle: 2 },
    { id: 'c2', cycle: 1 },
  ];
  const compactions = [{ ...one, file: `/${'x'.repeat(80)}/talk.jsonl`, conversations }];
  const [head = '', ...rest] = renderArchiveList(listReport({ compactions }), place);
  assert.match(head, /^2026-03-03 00:00 {2}…x+\/talk\.jsonl$/);
  assert.equal(head.length, 60);
  assert.match(rest.join(' '), /cycle 2.*2 conversations$/);
});

test('figures of an archive stand a line each', () => {
  assert.deepEqual(renderArchiveStats(statsReport({ prepared: 1 }), place), [
    '/data/archive.db',
    '  compactions  3, 2026-01-02 00:00 to 2026-03-03 00:00',
    '  holds        1,100 messages, 1,200 lines',
    '  of           2 conversations',
    '  batches      5',
    '  originals    48 MB',
    '  compressed   9.0 MB',
    '  on disk      16 MB (33 % of the originals)',
    '  chat-lines   3 compactions, 1,200 lines, 48 MB',
    '  unsettled    1; the next compaction settles it',
  ]);
});

test('the number of vectors and their model are shown', () => {
  const vectors = { provider: 'ollama', model: 'tiny\u001b[2J', dimensions: 768, done: 1000, total: 1105 };
  const lines = renderArchiveStats(statsReport({ vectors }), place);
  assert.ok(lines.includes('  vectors      1,000 of 1,105, by tiny\\x1b[2J, 768 numbers each'), lines.join('\n'));
});

test('an empty archive has no share and no times', () => {
  const empty = {
    compactions: 0,
    oldest: null,
    newest: null,
    formats: [],
    bytes: { original: 0, compressed: 0, file: 9, share: null },
  };
  const lines = renderArchiveStats(statsReport(empty), place);
  assert.deepEqual([lines[1], lines.at(-1)], ['  compactions  0', '  on disk      9 bytes']);
});
