import assert from 'node:assert/strict';
import { appendFileSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { CODECS } from '../support/codecs.ts';
import { splitConversations } from '../../src/app/read/conversations.ts';
import { locateCompaction, readRevision } from '../../src/app/read/open-compacted.ts';
import { openTranscript } from '../../src/app/read/open-transcript.ts';
import { readRecords } from '../../src/app/read/records.ts';
import type { Codec } from '../../src/ports/codec.ts';
import { benchFor, type BenchSettings, type Workbench } from '../support/workbench.ts';
import { TITLES } from '../support/client-lists.ts';
import { collect } from '../support/collect.ts';

const FIXTURES = join(import.meta.dirname, '../../fixtures/transcripts');
const LF = 0x0a;

/** How many messages stay in each cycle. The longest fixture of a format goes through all of them, the others through two. */
const EVERY_CYCLE = [5, 0, 1, 12];
const TWO_CYCLES = [5, 1];

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

/** Compacts as often as there is something to compact, appending in between; every state must verify and restore, and keep its title. */
async function holds(
  bench: Workbench,
  name: string,
  { original, codec, cycles }: { readonly original: Buffer; readonly codec: Codec; readonly cycles: readonly number[] },
): Promise<number> {
  const { format } = codec;
  let expected = original;
  let compacted = 0;
  const titleOf = TITLES.get(format.name) ?? (() => null);
  const keepsTitle = (): void => {
    const title = titleOf(expected);
    if (title !== null) assert.equal(titleOf(bench.read(name)), title, "the producer's list shows the same title");
  };
  for (const [cycle, keepRecent] of cycles.entries()) {
    const chosen: BenchSettings = {
      keepInvalid: true,
      compaction: { keepRecent, maxSummaryTokens: 120, chunkSize: 20 },
    };
    const done = await bench.compact(name, { ...chosen, format: format.name });
    if (!done.ok) {
      // Of a document that is damaged nothing can be carried along.
      const expectedKinds = format.layout.kind === 'document' ? ['no-messages', 'bad-line'] : ['no-messages'];
      assert.ok(expectedKinds.includes(done.error.kind), done.error.kind);
      assert.deepEqual(bench.read(name), expected);
      return compacted;
    }
    if (done.value.result === 'compacted') {
      compacted += 1;
      assert.deepEqual((await bench.verify(name)).problems, []);
      keepsTitle();
      if (compacted === 1 || cycles === EVERY_CYCLE) {
        const again = await bench.compact(name, { ...chosen, format: format.name });
        assert.equal(again.ok && again.value.reason, 'nothing-new');
        await summaryIsFound(bench, name);
      }
    }
    // Nothing is appended after the last cycle, nor to a document, which has an end.
    if (cycle < cycles.length - 1 && format.layout.kind !== 'document') {
      expected = appendLikeProducer(bench, name, expected);
      keepsTitle();
    }
    // What two cycles leave is restored through both of them.
    if (compacted > 0 && (cycles === EVERY_CYCLE || cycle === cycles.length - 1))
      assert.deepEqual(await bench.restore(name), expected);
  }
  return compacted;
}

async function damageIn(bench: Workbench): Promise<readonly string[]> {
  return (await collect(bench.archive().check())).flatMap((step) =>
    step.kind === 'damage' ? [step.damage.message] : [],
  );
}

async function summaryIsFound(bench: Workbench, name: string): Promise<void> {
  const opened = await openTranscript({ path: bench.path(name), name, format: null }, bench.deps);
  const { source, codec } = opened;
  try {
    const lines = async function* (): AsyncGenerator<Iterable<Uint8Array>> {
      yield Array.from(readRecords(source, codec), ({ bytes }) => Uint8Array.from(bytes));
    };
    const stage = await readRevision(bench.deps, {
      lines,
      hasBom: false,
      appended: [],
      heldBytes: 0,
      ownLines: Number.POSITIVE_INFINITY,
      codec,
      name,
    });
    const located = await locateCompaction(bench.deps, bench.archive(), stage);
    const { entries } = stage.recordIndex;
    const { conversations } = splitConversations({
      entries,
      codec,
      session: stage.session,
      conversation: null,
      hashLine: () => '',
      hashText: () => '',
    });
    const found = conversations.map(({ context }) => entries[(context.priorLine ?? 0) - 1]?.sha256);
    const clips = located?.compaction.cycles.map((cycle) => cycle.clipSha256) ?? [];
    assert.ok(clips.length > 0);
    assert.deepEqual(
      clips.filter((clip) => !found.includes(clip)),
      [],
      'our reader finds our summaries',
    );
  } finally {
    source.close();
  }
}

function sizeOf(folder: string, name: string): number {
  return statSync(join(folder, name)).size;
}

for (const codec of CODECS.filter(({ format }) => format.whyReadOnly === undefined)) {
  const { format } = codec;
  const folder = join(FIXTURES, format.name);
  const names = readdirSync(folder).filter((name) => /\.jsonl?$/.test(name));

  test(`${format.name} has fixtures`, () => {
    assert.ok(names.length > 3);
  });

  const longest = names.reduce(
    (one, other) => (sizeOf(folder, other) > sizeOf(folder, one) ? other : one),
    names[0] ?? '',
  );
  const counts: number[] = [];
  for (const name of names) {
    test(`${format.name}/${name}: whatever can be compacted verifies and restores, cycle after cycle`, async (t) => {
      const bench = benchFor(t);
      const original = readFileSync(join(folder, name));
      bench.write(name, original);
      const cycles = name === longest ? EVERY_CYCLE : TWO_CYCLES;
      counts.push(await holds(bench, name, { original, codec, cycles }));
      // Of all cycles: nothing repairs what one of them damages.
      assert.deepEqual(await damageIn(bench), []);
    });
  }

  test(`${format.name}: at least one fixture was compacted more than once`, () => {
    assert.ok(Math.max(...counts) >= 2, counts.join());
  });
}
