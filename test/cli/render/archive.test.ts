import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ArchiveExportReport } from '../../../src/app/contract/archive-reports.ts';
import type { ArchiveCheckReport } from '../../../src/app/search/check-archive.ts';
import {
  renderArchiveCheck,
  renderArchiveList,
  renderArchiveLog,
  renderArchiveStats,
  renderExport,
} from '../../../src/cli/render/archive.ts';
import { PLAIN_THEME } from '../../../src/cli/render/theme.ts';
import { problemsWith } from '../../support/report-schemas.ts';
import { listReport, statsReport } from '../archive-reports.ts';

const place = { theme: PLAIN_THEME, widthColumns: 60 };

test('a compaction is listed by time and file, with what it archived', () => {
  assert.deepEqual(renderArchiveList(listReport(), place), [
    '2026-03-03 00:00  /logs/talk.jsonl',
    '  Whose turn is it?',
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
    '  search       2.1 MB, everything is indexed',
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

const SOUND: ArchiveCheckReport = {
  schema: 'compact/archive-check@1',
  archive: '/data/archive.db',
  result: 'sound',
  compactions: 12,
  batches: 74,
  captured: 0,
  lines: 5680,
  blocks: 61,
  bytes: { original: 2_784_250, compressed: 307_250, file: 524_288 },
  prepared: [],
  problems: [],
  moreProblems: 0,
};
const COUNTS = [
  '  compactions  12',
  '  batches      74',
  '  lines        5,680 in 61 blocks',
  '  size         2.8 MB compressed to 307 kB',
  '  file         524 kB',
];

test('a sound archive is one word, followed by the counts', () => {
  assert.deepEqual(renderArchiveCheck(SOUND, PLAIN_THEME), ['/data/archive.db: sound', ...COUNTS]);
});

test('what is not settled is named, and is no damage', () => {
  const report = { ...SOUND, prepared: [{ files: ['/logs/a.jsonl', '/logs/a.compact.jsonl'] }] };
  assert.deepEqual(renderArchiveCheck(report, PLAIN_THEME), [
    '/data/archive.db: sound',
    ...COUNTS,
    '  - 1 compaction started and not settled yet (the next run',
    '    does that):',
    '      /logs/a.jsonl',
    '      /logs/a.compact.jsonl',
  ]);
});

test('each problem is listed with the transcripts that it affects, and the others are counted', () => {
  const problems = [
    {
      kind: 'hole',
      message: 'compaction 3: source lines 101 to 200 are neither kept nor archived',
      files: ['/logs/a.jsonl'],
    },
    { kind: 'search', message: 'the search index of messages: 1 of its rows leads to nothing', files: [] },
  ] as const;
  const report = { ...SOUND, result: 'damaged', problems, moreProblems: 1998 } as const;
  assert.deepEqual(renderArchiveCheck(report, PLAIN_THEME), [
    '/data/archive.db: damaged, 2,000 problems',
    ...COUNTS,
    '  - compaction 3: source lines 101 to 200 are neither kept',
    '    nor archived',
    '      /logs/a.jsonl',
    '  - the search index of messages: 1 of its rows leads to',
    '    nothing',
    '  - and 1,998 more problems',
    "Replace the archive with a backup. 'compact verify FILE'",
    "says whether a compacted file's original can still be",
    'restored.',
  ]);
});

test('paths and names that would move the cursor are shown as text', () => {
  const problems = [{ kind: 'order', message: 'conversation \u001b[2J', files: ['/logs/\u001b[31m.jsonl'] }] as const;
  const report = { ...SOUND, archive: '/data/\r.db', result: 'damaged', problems } as const;
  const [verdict, ...lines] = renderArchiveCheck(report, PLAIN_THEME);
  assert.deepEqual(
    [verdict, ...lines.slice(COUNTS.length, -3)],
    ['/data/\\r.db: damaged, 1 problem', '  - conversation \\x1b[2J', '      /logs/\\x1b[31m.jsonl'],
  );
});

test('the report is what its schema says', () => {
  assert.deepEqual(problemsWith('archive-check', SOUND), []);
});

const EMPTY: ArchiveExportReport = {
  schema: 'compact/archive-export@1',
  archive: 'a.db',
  folder: 'march',
  isComplete: false,
  compactions: 0,
  lines: 0,
  capturedFiles: 0,
};

test('an export says what it has, or that nothing matches', () => {
  assert.equal(renderExport(EMPTY), 'nothing matches, so the export in march is empty');
  assert.equal(
    renderExport({ ...EMPTY, compactions: 1, lines: 2 }),
    'exported what matches to march: 1 compaction, 2 lines, 0 captured files',
  );
  assert.match(renderExport({ ...EMPTY, isComplete: true }), /^exported everything to march: 0 compactions/);
});

test('an entry of the log says when, who, where and what, without what there was nothing of', () => {
  const by = { user: 'kim\u001b[31m', host: 'desk', version: '1.2.3' };
  const details = { receipt: '12ab', reason: null, lines: 1200, capturedLines: 0, paidSummaries: 2, despiteHold: true };
  const entries = [{ at: '2026-03-03T08:15:00.000Z', by, action: 'erase', details } as const];
  const report = { schema: 'compact/archive-log@1', archive: '/data/archive.db', entries } as const;
  assert.deepEqual(renderArchiveLog(report, { theme: PLAIN_THEME }), [
    '2026-03-03 08:15  kim\\x1b[31m@desk  erase  receipt 12ab, lines 1,200, paid summaries 2, despite hold',
  ]);
  assert.deepEqual(renderArchiveLog({ ...report, entries: [] }, { theme: PLAIN_THEME }), ['nothing was logged']);
});
