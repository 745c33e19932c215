import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { chatTranscript } from '../support/chat.ts';
import { benchFor, benchWith, reportOf, type Workbench } from '../support/workbench.ts';
import { createFullerNotice } from '../../src/compose/use-cases.ts';

const IN_PLACE = { kind: 'in-place' } as const;
const LARGE = chatTranscript(500);

const compact = async (bench: Workbench, minSaving?: number, isDryRun = false) =>
  reportOf(
    await bench.compact('x.jsonl', {
      ...(minSaving !== undefined && { minSaving }),
      output: isDryRun ? { kind: 'none' } : IN_PLACE,
    }),
  );

test('a transcript that would save too few tokens or too little disk is left as it is, in a plan too', async (t) => {
  const bench = benchWith(t, 'x.jsonl', LARGE);
  const { netBytes = 0, conversations } = await compact(bench, undefined, true);
  const [{ tokens } = { tokens: { before: 1, after: 1 } }] = conversations;
  const share = 1 - tokens.after / tokens.before;
  for (const isDryRun of [true, false])
    for (const minSaving of [(share + 1) / 2, netBytes + 1]) {
      const { result, reason, notes } = await compact(bench, minSaving, isDryRun);
      assert.deepEqual([result, reason], ['skipped', 'little-gained']);
      assert.match(notes.join(), /--min-saving/);
    }
  assert.equal(bench.read('x.jsonl').toString(), LARGE);
  assert.equal((await compact(bench, netBytes)).result, 'compacted');
});

test('a report says how much emptier the disk is, in blocks and net of the archive', async (t) => {
  const bench = benchWith(t, 'x.jsonl', LARGE);
  const report = await compact(bench);
  const blocks = (bytes: number): number => 4096 * Math.ceil(bytes / 4096);
  const after = statSync(bench.path('x.jsonl')).size;
  assert.equal(report.netBytes, blocks(LARGE.length) - blocks(after) - (report.archiveBytes ?? 0));
});

test('a compressed transcript frees what it takes on the disk, and not what it would take unpacked', async (t) => {
  const bench = benchFor(t);
  const packed = gzipSync(LARGE);
  bench.write('x.jsonl', packed);
  const { netBytes = 0 } = await compact(bench, undefined, true);
  assert.ok(netBytes < packed.length, `${netBytes} of ${packed.length}`);
});

test('that the disk becomes fuller is said before the file is replaced, and only in place', async (t) => {
  const told: [string, number, boolean][] = [];
  const bench = benchFor(t, {
    tellFuller: (file, bytes) => told.push([file, bytes, bench.read('x.jsonl').toString() === small]),
  });
  const small = chatTranscript(30);
  bench.write('x.jsonl', small);
  reportOf(await bench.compact('x.jsonl', { output: { kind: 'file', path: bench.path('y.jsonl') } }));
  assert.equal(told.length, 0);
  await compact(bench);
  assert.deepEqual(
    told.map(([file, bytes, isAsBefore]) => [file, bytes > 0, isAsBefore]),
    [['x.jsonl', true, true]],
  );
});

test('a run says once that the disk becomes fuller, and nothing of less than a megabyte', () => {
  const said: string[] = [];
  const tell = createFullerNotice((line) => said.push(line));
  for (const file of ['a', 'b', 'c', 'd']) tell(file, 400_000);
  assert.deepEqual(
    said.map((line) => line.slice(0, 2)),
    ['c:'],
  );
  assert.match(
    said.join('\n'),
    /make the disk fuller, with their archive, by now about 1200 kB\. --min-saving 1kB leaves/,
  );
});
