import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { createFigure, createMissingFigure } from '../bench/figures.ts';
import { type Results, resultsSchema } from '../bench/results.ts';
import { PERFORMANCE_PAGE, PERFORMANCE_RESULTS, readResults, writePerformancePage } from './performance.ts';

const GROUP = 'A file of chat lines of 100 MB';

function results(change: Partial<Results> = {}): Results {
  return {
    schema: 'compact/bench@1',
    startedAt: '2026-11-22T18:00:00.000Z',
    seconds: 390,
    arguments: ['--mb', '100'],
    isQuick: false,
    machine: {
      cpu: 'Made-up CPU',
      cores: 2,
      memoryBytes: 8e9,
      node: 'v24.1.0',
      platform: 'linux x64',
      loadAtStart: 0.1,
      loadAtEnd: 1.5,
    },
    figures: [
      createFigure('chat.score', { group: GROUP, measured: 3.5, byCpu: 4, note: '120 MB/s' }),
      createFigure('chat.compact', { group: GROUP, measured: 26 }),
      createMissingFigure('peer.jq', 'Other programs', 'not installed'),
    ],
    ...change,
  };
}

test('docs/performance.md is made from the stored results', () => {
  const page = writePerformancePage(readResults(PERFORMANCE_RESULTS));
  assert.equal(readFileSync(PERFORMANCE_PAGE, 'utf8'), page, "write it again with 'npm run dev -- docs:performance'");
});

test('the page has a table for each group, the goals and what was missed', () => {
  const page = writePerformancePage(results());
  assert.ok(page.includes('with Node 24.1.0 on 2 cores (Made-up CPU) with 8 GB of memory, linux x64, in 6.5 minutes.'));
  assert.ok(page.includes('1 of 2 goals met'));
  assert.ok(page.includes('npm run bench -- --mb 100\n'));
  assert.ok(page.includes(`### ${GROUP}\n`) && page.includes('### Other programs\n'));
  assert.ok(page.includes('| score | 3.5 × bare loop | 4 | ≤ 4 met | 120 MB/s |'));
  assert.ok(page.includes('| compact | 26 × bare loop |  | ≤ 16 **missed** |  |'));
  assert.ok(page.includes("| jq -s '.[-1000:][]' |  |  |  not measured | not installed |"));
});

test('the page says whether the machine was shared, and whether the run was quick', () => {
  const { machine } = results();
  const quiet = writePerformancePage(results());
  const shared = writePerformancePage(results({ machine: { ...machine, loadAtStart: 6 }, isQuick: true }));
  assert.deepEqual([/Other programs ran/.test(quiet), /quick run/.test(quiet)], [false, false]);
  assert.deepEqual([/Other programs ran/.test(shared), /quick run/.test(shared)], [true, true]);
});

test('results survive JSON, and results of another shape are refused', () => {
  assert.deepEqual(resultsSchema.parse(JSON.parse(JSON.stringify(results()))), results());
  assert.ok(!resultsSchema.safeParse({ ...results(), schema: 'compact/bench@2' }).success);
  const [figure] = results().figures;
  assert.ok(!resultsSchema.safeParse({ ...results(), figures: [{ ...figure, row: 'speed' }] }).success);
});
