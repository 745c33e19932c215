import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { test } from 'node:test';
import type { ArchiveGrouping } from '../../../src/app/archive/measure-groups.ts';
import type { ArchiveStatsReport } from '../../../src/app/contract/archive-reports.ts';
import { measureArchive } from '../../../src/app/search/list-archive.ts';
import { capture } from '../../support/captures.ts';
import { chatTranscript } from '../../support/chat.ts';
import { runMark } from '../../support/run-mark.ts';
import { benchFor, reportOf } from '../../support/workbench.ts';

test('what an archive takes is divided among folders, formats or months, and nothing is left over', async (t) => {
  const bench = benchFor(t, { run: runMark('early', new Date('2026-03-01T08:00:00.000Z')) });
  for (const name of ['a', 'b', 'c']) mkdirSync(bench.path(name));
  for (const [at, name] of ['a/one.jsonl', 'a/two.jsonl', 'b/three.jsonl'].entries()) {
    bench.write(name, chatTranscript(30 + 20 * at, 300 * at));
    reportOf(await bench.compact(name));
  }
  bench.write('c/kept.jsonl', chatTranscript(40, 2000));
  await capture(bench, 'c/kept.jsonl');
  const measure = async (by: ArchiveGrouping): Promise<ArchiveStatsReport> => {
    const measured = await measureArchive(bench.deps, { by });
    assert.ok(measured.ok);
    return measured.value;
  };
  const { groups = [], bytes, captured, index } = await measure('project');
  assert.deepEqual(
    groups.map(({ name, compactions }) => [name, compactions] as const).toSorted(([a], [b]) => (a < b ? -1 : 1)),
    [
      [bench.path('a'), 2],
      [bench.path('b'), 1],
      [bench.path('c'), 0],
    ],
  );
  const sum = (of: keyof (typeof groups)[number]['bytes']): number =>
    groups.reduce((all, one) => all + one.bytes[of], 0);
  const near = (found: number, wanted: number): boolean => Math.abs(found - wanted) <= groups.length;
  assert.deepEqual([sum('original')], [bytes.original + captured.bytes.original]);
  assert.ok(near(sum('lines'), bytes.compressed) && near(sum('captures'), captured.bytes.compressed));
  assert.ok(near(sum('index'), index.bytes) && sum('catalog') > 0);
  const all = sum('lines') + sum('index') + sum('captures') + sum('catalog');
  assert.ok(near(all, await bench.archive().usedBytes()), `${all}`);
  assert.deepEqual(
    (await measure('format')).groups?.map(({ name, lines }) => [name, lines]),
    [['chat-lines', groups.reduce((lines, one) => lines + one.lines, 0)]],
  );
  const months = (await measure('month')).groups?.map(({ name }) => name) ?? [];
  assert.ok(months.length > 0 && months.every((name) => /^2\d{3}-\d\d$/.test(name)), months.join());
});
