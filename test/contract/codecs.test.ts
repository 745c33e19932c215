import assert from 'node:assert/strict';
import { appendFileSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { FORMATS } from '../../src/adapters/transcript/registry.ts';
import { locateCompaction, readStage, summariesOf } from '../../src/app/locate.ts';
import { openTranscript } from '../../src/app/open-transcript.ts';
import { benchFor } from '../support/workbench.ts';
import type { BenchSettings, Workbench } from '../support/workbench.ts';

const FIXTURES = join(import.meta.dirname, '../../fixtures/transcripts');
const LF = 0x0a;

const settings: readonly BenchSettings[] = [5, 0, 1, 12].map((keepRecent) => ({
  keepInvalid: true,
  compaction: { keepRecent, maxSummaryTokens: 120, chunkSize: 20 },
}));

/** What a producer would do: its last record once more, on a line of its own. */
function appendLikeProducer(bench: Workbench, name: string, original: Buffer): Buffer {
  const lines = original
    .toString('latin1')
    .split('\n')
    .filter((line) => line.trim() !== '' && line.startsWith('{'));
  const record = Buffer.from(
    `${lines.findLast((line) => line.trimEnd().endsWith('}'))?.trimEnd() ?? '{}'}\n`,
    'latin1',
  );
  const gap = (file: Buffer): Buffer => Buffer.from(file.at(-1) === LF ? [] : [LF]);
  appendFileSync(bench.path(name), Buffer.concat([gap(bench.read(name)), record]));
  return Buffer.concat([original, gap(original), record]);
}

/** Compacts as often as there is something to compact, appending in between; every state must verify and restore. */
async function holds(bench: Workbench, name: string, original: Buffer, format: string): Promise<number> {
  let expected = original;
  let compacted = 0;
  for (const chosen of settings) {
    const done = await bench.compact(name, { ...chosen, format });
    if (!done.ok) {
      assert.equal(done.error.kind, 'no-messages');
      assert.deepEqual(bench.read(name), expected);
      return compacted;
    }
    if (done.value.result === 'compacted') {
      compacted += 1;
      assert.deepEqual((await bench.verify(name)).problems, []);
      const again = await bench.compact(name, { ...chosen, format });
      assert.equal(again.ok && again.value.reason, 'nothing-new');
      await summaryIsFound(bench, name);
    }
    if (compacted > 0) assert.deepEqual(await bench.restore(name), expected);
    expected = appendLikeProducer(bench, name, expected);
    if (compacted > 0) assert.deepEqual(await bench.restore(name), expected);
  }
  return compacted;
}

async function summaryIsFound(bench: Workbench, name: string): Promise<void> {
  const opened = await openTranscript({ path: bench.path(name), name, format: null }, bench.deps);
  assert.ok(opened.ok, 'the compacted file is still detected');
  const { source, codec } = opened.value;
  try {
    const lines = function* (): Generator<Uint8Array> {
      for (const raw of source.lines()) yield raw.bytes;
    };
    const stage = await readStage(bench.deps, {
      lines,
      hasBom: false,
      ownBytes: Number.POSITIVE_INFINITY,
      codec,
      name,
    });
    assert.ok(stage.ok);
    const located = locateCompaction(bench.deps, bench.archive(), stage.value);
    const { priorLine } = stage.value.session.readContext(stage.value.scan.entries);
    const clip = summariesOf(stage.value).find((entry) => entry.line === priorLine);
    const clips = located?.cycles.map((cycle) => cycle.clipSha256) ?? [];
    assert.ok(
      clip === undefined ? clips.length > 1 : clips.includes(clip.sha256 ?? ''),
      'our reader finds our summary',
    );
  } finally {
    source.close();
  }
}

for (const { format } of FORMATS) {
  const folder = join(FIXTURES, format.name);
  const names = readdirSync(folder).filter((name) => name.endsWith('.jsonl'));

  test(`${format.name} has fixtures`, () => {
    assert.ok(names.length > 3);
  });

  const counts: number[] = [];
  for (const name of names) {
    test(`${format.name}/${name}: whatever can be compacted verifies and restores, cycle after cycle`, async (t) => {
      const bench = benchFor(t);
      const original = readFileSync(join(folder, name));
      bench.write(name, original);
      counts.push(await holds(bench, name, original, format.name));
    });
  }

  test(`${format.name}: at least one fixture was compacted more than once`, () => {
    assert.ok(Math.max(...counts) >= 2, counts.join());
  });
}
