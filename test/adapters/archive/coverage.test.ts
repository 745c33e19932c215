import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addLine, checkCoverage, type LineRun } from '../../../src/adapters/archive/store/compactions.ts';
import type { KeptRun } from '../../../src/ports/archive.ts';
import { compactionDraft, lineDraft, sha256 } from './drafts.ts';

function run(firstLine: number, lineCount: number): KeptRun {
  return {
    firstLine,
    lineCount,
    sizeBytes: 10,
    lineSha256: Array.from({ length: lineCount }, () => sha256('line').slice(0, 32)),
  };
}

/** Gives the archived lines, in runs, if they and the kept ones cover the source. */
function cover(lineCount: number, kept: readonly KeptRun[], archived: readonly number[]): readonly LineRun[] {
  const runs: LineRun[] = [];
  for (const line of archived) addLine(runs, lineDraft(line));
  checkCoverage(compactionDraft(lineCount, { kept }), runs);
  return runs;
}

test('kept runs and archived lines that take turns cover the source', () => {
  assert.deepEqual(cover(7, [run(1, 1), run(2, 1), run(5, 2)], [3, 4, 7]), [
    { firstLine: 3, lineCount: 2 },
    { firstLine: 7, lineCount: 1 },
  ]);
});

test('a source of which everything is kept is covered', () => {
  assert.deepEqual(cover(3, [run(1, 3)], []), []);
});

test('an empty source is covered by nothing', () => {
  assert.deepEqual(cover(0, [], []), []);
});

for (const [what, lineCount, kept, archived, message] of [
  ['a hole before an archived line', 3, [run(1, 1)], [3], 'source line 2 expected, but line 3 is archived next'],
  ['a hole before a kept line', 3, [run(3, 1)], [1], 'source line 2 expected, but line 3 is kept next'],
  ['a hole at the end', 3, [], [1, 2], '2 lines are kept or archived of a source of 3'],
  ['a line too many', 1, [], [1, 2], '2 lines are kept or archived of a source of 1'],
  ['a line archived twice', 2, [], [1, 1, 2], 'source line 2 expected, but line 1 is archived next'],
  ['a line that is kept and archived', 2, [run(1, 1)], [1, 2], 'source line 2 expected, but line 1 is archived next'],
  ['runs that overlap', 3, [run(1, 2), run(2, 2)], [], 'source line 3 expected, but line 2 is kept next'],
  ['lines out of order', 2, [], [2, 1], 'source line 1 expected, but line 2 is archived next'],
  ['an empty run', 1, [run(1, 0)], [1], 'the run of kept lines at source line 1 is empty'],
] as const) {
  test(`${what} is refused`, () => {
    assert.throws(() => cover(lineCount, kept, archived), { message });
  });
}

test('a run with too few hashes is refused', () => {
  assert.throws(() => cover(2, [{ ...run(1, 2), lineSha256: [sha256('line').slice(0, 32)] }], []), {
    message: 'the run of kept lines at source line 1 has 1 hashes for 2 lines',
  });
});
