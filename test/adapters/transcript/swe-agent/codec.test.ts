import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { sweAgent } from '../../../../src/adapters/transcript/swe-agent/codec.ts';
import type { Json } from '../../../../src/ports/codec.ts';
import { prose } from '../../../support/chat.ts';
import { benchFor, benchWith, reportOf, type Workbench } from '../../../support/workbench.ts';

const FIXTURES = join(import.meta.dirname, '../../../../fixtures/transcripts/swe-agent');

type Element = { readonly [key: string]: Json };
type Trajectory = {
  readonly trajectory: readonly Element[];
  readonly history: readonly Element[];
  readonly messages?: readonly Element[];
};

/** A task, then `turns` answers with an action in their text, each with what the environment said. */
function trajectory(turns: number): Trajectory {
  const said = (at: number): string => `${prose(at, 20)}\n\`\`\`\nread ${at}\n\`\`\``;
  const history = Array.from({ length: turns }, (_, at): readonly Element[] => [
    { role: 'assistant', content: said(at), agent: 'main' },
    { role: 'user', content: prose(at + 500, 80), agent: 'main' },
  ]);
  return {
    trajectory: Array.from({ length: turns }, (_, at) => ({
      action: `read ${at}`,
      observation: prose(at + 500, 80),
      response: said(at),
    })),
    history: [
      { role: 'system', content: 'You use commands.', agent: 'main' },
      { role: 'user', content: 'Mend the gate.', agent: 'main' },
      ...history.flat(),
    ],
  };
}

const settings = (keepRecent: number): object => ({ compaction: { keepRecent, maxSummaryTokens: 120 } });
const read = (bench: Workbench): Trajectory => JSON.parse(bench.read('t.json').toString('utf8'));

/** The inspector shows a step for each answer, and the first message of the user as the problem. */
function assertAligned({ trajectory: steps, history }: Trajectory): void {
  const answers = history.filter(({ role }) => role === 'assistant');
  assert.deepEqual(
    steps.map(({ response }) => response),
    answers.map(({ content }) => content),
  );
  assert.equal(history.find(({ role }) => role === 'user')?.['content'], 'Mend the gate.');
}

test('steps leave with their answers, and the task stays first, through two compactions', async (t) => {
  const bench = benchFor(t);
  const original = JSON.stringify(trajectory(20), null, 2);
  bench.write('t.json', original);
  for (const keepRecent of [9, 3]) {
    reportOf(await bench.compact('t.json', settings(keepRecent)));
    const { history } = read(bench);
    assertAligned(read(bench));
    assert.ok(JSON.stringify(history[2]).includes('"[Context Summary'));
    // An answer and what the environment said to it are never separated.
    assert.equal(history[3]?.['role'], 'assistant');
    assert.equal((await bench.verify('t.json')).result, 'verified');
  }
  assert.equal((await bench.restore('t.json')).toString('utf8'), original);
});

test('older turns that survive keep their steps', async (t) => {
  const bench = benchWith(t, 't.json', JSON.stringify(trajectory(30)));
  reportOf(await bench.compact('t.json', { ...settings(3), targetTokens: 3000 }));
  const { history } = read(bench);
  assert.ok(history.length > 12);
  assertAligned(read(bench));
});

test('a step without an answer stays, and so does the last one', async (t) => {
  const bench = benchFor(t);
  const { trajectory: steps, history } = trajectory(12);
  bench.write('t.json', JSON.stringify({ trajectory: [...steps, { action: 'exit', observation: '' }], history }));
  reportOf(await bench.compact('t.json', settings(1)));
  const { trajectory: kept, history: rest } = read(bench);
  assert.deepEqual(kept.at(-1), { action: 'exit', observation: '' });
  assert.equal(kept.length, rest.filter(({ role }) => role === 'assistant').length + 1);
  assert.ok(kept.length < 12);
});

function decodeAll(name: string): readonly string[] {
  const session = sweAgent.open();
  const {
    trajectory: steps = [],
    history,
    messages = history,
  } = JSON.parse(readFileSync(join(FIXTURES, name), 'utf8')) as Partial<Trajectory>;
  return [...steps, ...(messages ?? [])].map((value, at) => {
    const decoded = session.observe(value, at + 1);
    return 'problem' in decoded ? decoded.problem : `${decoded.kind} ${decoded.message?.role ?? ''}`.trim();
  });
}

test('demonstrations and steps are carried along, the task is an instruction, and observations are results', () => {
  const kinds = decodeAll('actions-in-text-with-demonstration.json');
  assert.deepEqual(kinds.slice(0, 16), [
    ...Array.from({ length: 10 }, () => 'meta'),
    'instruction system',
    'meta',
    'instruction system',
    'message assistant',
    'message tool',
    'message assistant',
  ]);
});

test('mini-swe-agent: answers of the Responses API have their texts and calls, and the exit is a result', () => {
  const session = sweAgent.open();
  const answer: Json = {
    object: 'response',
    output: [
      { type: 'message', content: [{ type: 'output_text', text: 'Reading.' }] },
      { type: 'function_call', id: 'fc', call_id: 'c', name: 'bash', arguments: '{"command":"ls"}' },
    ],
  };
  const decoded = session.observe(answer, 2);
  const answered = session.observe({ type: 'function_call_output', call_id: 'c', output: 'a.txt' }, 3);
  assert.ok('kind' in decoded && 'kind' in answered);
  assert.equal(decoded.message?.content, 'Reading.\nbash {"command":"ls"}');
  assert.deepEqual([decoded.calls, answered.results, answered.message?.content], [['c'], ['c'], 'a.txt']);
  assert.equal(decodeAll('mini-swe-agent.json').at(-1), 'message tool');
});
