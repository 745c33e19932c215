import assert from 'node:assert/strict';
import { appendFileSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { joinLines, withCompacted } from '../../src/app/read/open-compacted.ts';
import { type ProvenStep, verifyRevisions } from '../../src/app/restore/verify-file.ts';
import type { Archive } from '../../src/ports/archive.ts';
import { benchFor, reportOf, type Workbench } from '../support/workbench.ts';

const CYCLES = 8;

/** A session that grew and was compacted again and again; `whole`: all that was ever appended. */
async function growSession(context: TestContext): Promise<{ readonly bench: Workbench; readonly whole: string }> {
  const bench = benchFor(context);
  let whole = '';
  bench.write('s.jsonl', '');
  for (let cycle = 0; cycle < CYCLES; cycle += 1) {
    const said = Array.from({ length: 12 }, (_, at) => {
      const content = `Message ${at} of cycle ${cycle}: the pump in hall ${at} delivers ${cycle * 12 + at} liters. `;
      return JSON.stringify({ role: at % 2 === 0 ? 'user' : 'assistant', content: content.repeat(4) });
    });
    // Every other piece ends without a line ending: what comes next starts on a line of its own.
    const piece = `${cycle % 2 === 1 ? '\n' : ''}${said.join('\n')}${cycle % 2 === 0 ? '' : '\n'}`;
    appendFileSync(bench.path('s.jsonl'), piece);
    whole += piece;
    assert.equal(reportOf(await bench.compact('s.jsonl')).result, 'compacted');
  }
  return { bench, whole };
}

test('each compaction is read once, however many came after it', async (context) => {
  const { bench, whole } = await growSession(context);
  const read: number[] = [];
  const archive: Archive = {
    ...bench.archive(),
    readLines: (id) => {
      read.push(id);
      return bench.archive().readLines(id);
    },
  };
  const input = { path: bench.path('s.jsonl'), name: 's.jsonl', format: null };
  const deps = { ...bench.deps, openArchive: async () => ({ ok: true as const, value: archive }) };
  const verified = await withCompacted(deps, input, ({ revision }) =>
    verifyRevisions(deps, { revision, archive, name: input.name }),
  );
  assert.equal(verified.ok && verified.value.result, 'verified');
  assert.deepEqual(
    read,
    Array.from({ length: CYCLES }, (_, at) => CYCLES - at),
  );
  assert.equal(String(await bench.restore('s.jsonl')), whole);
});

test('what does not fit in memory is restored anew whenever it is read', async (context) => {
  const { bench, whole } = await growSession(context);
  const input = { path: bench.path('s.jsonl'), name: 's.jsonl', format: null };
  const steps: ProvenStep[] = [];
  const restored = await withCompacted(bench.deps, input, async ({ revision, archive }) => {
    const full = { ...revision, heldBytes: Number.POSITIVE_INFINITY };
    const onStep = (step: ProvenStep): unknown => steps.push(step);
    const { result } = await verifyRevisions(bench.deps, { revision: full, archive, name: input.name, onStep });
    const pieces: Uint8Array[] = [];
    const first = steps.at(-1)?.before;
    for await (const batch of joinLines(first === undefined ? [] : [first.lines, ...first.appended]))
      pieces.push(...batch);
    return [result, String(Buffer.concat(pieces))];
  });
  assert.deepEqual(restored, { ok: true, value: ['verified', whole] });
  assert.equal(steps.length, CYCLES);
});
