import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ArchiveCheckReport } from '../../../src/app/search/check-archive.ts';
import { renderArchiveCheck } from '../../../src/cli/render/archive.ts';
import { PLAIN_THEME } from '../../../src/cli/render/theme.ts';
import { problemsWith } from '../../support/report-schemas.ts';

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
