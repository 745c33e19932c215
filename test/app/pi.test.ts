import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import * as fc from 'fast-check';
import type { Json } from '../../src/ports/codec.ts';
import { compaction, entry, header, user } from '../adapters/transcript/pi/entries.ts';
import { replay } from '../adapters/transcript/pi/replay.ts';
import { sessions } from '../adapters/transcript/pi/sessions.ts';
import { prose } from '../support/chat.ts';
import { TITLES } from '../support/client-lists.ts';
import { benchFor, type BenchSettings, createWorkbench, reportOf, type Workbench } from '../support/workbench.ts';
import { runsOf } from '../support/runs.ts';
import { FIXTURES, type Fields, parseLines } from '../adapters/transcript/reading.ts';

const keep = (keepRecent: number): BenchSettings => ({ compaction: { keepRecent, maxSummaryTokens: 200 } });

const toText = (values: readonly Json[]): string => values.map((value) => `${JSON.stringify(value)}\n`).join('');

const read = (bench: Workbench): readonly Json[] => parseLines(bench.read('s.jsonl').toString());

/** Turns of a prompt, a call with its result, and an answer, each hanging on the one before; `n` keeps their ids apart. */
function turns(
  count: number,
  n: number,
  from: string | null,
): { readonly entries: readonly Fields[]; readonly tip: string } {
  const entries: Fields[] = [];
  let tip = from;
  const say = (message: Fields): void => {
    const id = `e${n}-${entries.length}`;
    const timestamp = new Date(Date.UTC(2026, 0, 2, 3, n, entries.length)).toISOString();
    entries.push(entry('message', id, tip, { timestamp, message }));
    tip = id;
  };
  for (let turn = 0; turn < count; turn += 1) {
    const seed = n * 100 + turn;
    const text = (value: string): readonly Fields[] => [{ type: 'text', text: value }];
    const answer = { role: 'assistant', provider: 'p', model: 'm', usage: { totalTokens: 900_000 } };
    say({ role: 'user', content: prose(seed, 40) });
    say({
      ...answer,
      content: [{ type: 'toolCall', id: `c${seed}`, name: 'read', arguments: { path: `${seed}.ts` } }],
    });
    say({ role: 'toolResult', toolCallId: `c${seed}`, toolName: 'read', content: text(prose(seed + 50, 80)) });
    say({ ...answer, content: text(prose(seed + 90, 40)) });
  }
  return { entries, tip: tip ?? '' };
}

test("a compaction of pi's becomes a batch of ours that counts what it stood for, not what was left or kept", async (t) => {
  const bench = benchFor(t);
  const first = turns(3, 0, null);
  const left = turns(2, 1, first.tip);
  const kept = turns(1, 2, first.tip);
  const own = compaction('e2-0', ['own', kept.tip], 'All about the flamingo module.');
  const later = turns(6, 3, 'own');
  bench.write('s.jsonl', toText([header(), ...first.entries, ...left.entries, ...kept.entries, own, ...later.entries]));
  const { batches = [] } = reportOf(await bench.compact('s.jsonl', keep(4))).conversations[0] ?? {};
  assert.deepEqual(
    batches.map(({ count }) => count),
    [12, 4 + 20],
  );
  assert.match(replay(read(bench)).summary ?? '', /All about the flamingo module\./);
  assert.equal(bench.read('s.jsonl').includes('e1-'), false, 'what was left is archived');
});

test('a session that pi has just compacted is compacted within what pi kept', async (t) => {
  const bench = benchFor(t);
  for (const name of ['ends-with-compaction.jsonl', 'compaction-near-the-end.jsonl']) {
    const original = readFileSync(join(FIXTURES, 'pi', name));
    bench.write('s.jsonl', original);
    const before = replay(read(bench));
    assert.equal(reportOf(await bench.compact('s.jsonl', keep(8))).result, 'compacted');
    const { summary, sent, ...settings } = replay(read(bench));
    assert.match(summary ?? '', /^\[Context Summary — .* across 2 compaction cycles\]/);
    assert.deepEqual(sent, before.sent.slice(-sent.length));
    assert.equal(sent.length < 12, true);
    assert.deepEqual([settings.thinking, settings.model], [before.thinking, before.model]);
    assert.equal(TITLES.get('pi')?.(bench.read('s.jsonl')), TITLES.get('pi')?.(original));
    assert.deepEqual(await bench.restore('s.jsonl'), original);
  }
});

test('survivors stand word for word in the summary, and no line is changed', async (t) => {
  const bench = benchFor(t);
  const first = turns(4, 0, null);
  const important = user(`Decided: the constraint is an error to fix? ${prose(3, 60)}`, ['w', first.tip]);
  const rest = turns(5, 1, 'w');
  const original = toText([header(), ...first.entries, important, ...rest.entries]);
  bench.write('s.jsonl', original);
  reportOf(await bench.compact('s.jsonl', { ...keep(4), targetTokens: 1000 }));
  assert.match(
    replay(read(bench)).summary ?? '',
    /## Kept word for word\n[^]*Decided: the constraint is an error to fix\?/,
  );
  for (const line of bench.read('s.jsonl').toString().split('\n').slice(3)) assert.ok(original.includes(line));
  assert.equal((await bench.restore('s.jsonl')).toString(), original);
});

test('any session, compacted twice: it verifies and restores, and pi has our summary and then an end of what it had', async () => {
  const bench = createWorkbench();
  try {
    await fc.assert(
      fc.asyncProperty(sessions, fc.nat({ max: 4 }), async (values, keepRecent) => {
        const original = toText(values).replaceAll(
          /(asked|said|note|left) (\d+)"/g,
          (_, word, n) => `${word} ${n} ${prose(Number(n), 150)}"`,
        );
        bench.write('s.jsonl', original);
        for (const kept of [keepRecent + 3, keepRecent]) {
          const before = replay(read(bench));
          const title = TITLES.get('pi')?.(bench.read('s.jsonl'));
          const done = await bench.compact('s.jsonl', { compaction: { keepRecent: kept, maxSummaryTokens: 100 } });
          if (!done.ok) return assert.equal(done.error.kind, 'no-messages');
          if (done.value.result !== 'compacted') continue;
          assert.deepEqual((await bench.verify('s.jsonl')).problems, []);
          assert.equal((await bench.restore('s.jsonl')).toString(), original);
          const { summary, sent, ...settings } = replay(read(bench));
          assert.match(summary ?? '', /^\[Context Summary — /);
          assert.deepEqual(sent, before.sent.slice(before.sent.length - sent.length));
          assert.deepEqual([settings.thinking, settings.model], [before.thinking, before.model]);
          assert.equal(TITLES.get('pi')?.(bench.read('s.jsonl')), title);
          assert.equal(Object(read(bench)[0]).type, 'session');
        }
      }),
      { numRuns: runsOf(80) },
    );
  } finally {
    bench.remove();
  }
});
