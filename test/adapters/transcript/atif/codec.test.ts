import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { atif } from '../../../../src/adapters/transcript/atif/codec.ts';
import { formatRegistry } from '../../../../src/adapters/transcript/detect.ts';
import type { Json } from '../../../../src/ports/codec.ts';
import { prose } from '../../../support/chat.ts';
import { benchFor, benchWith, reportOf, type Workbench } from '../../../support/workbench.ts';
import { findFaults } from './validator.ts';

const FIXTURES = join(import.meta.dirname, '../../../../fixtures/transcripts/atif');

type Step = { readonly [key: string]: Json };
type Trajectory = { readonly steps: readonly Step[]; readonly [key: string]: Json | readonly Step[] };

/** An instruction, then requests and answers with a call each. */
function trajectory(count: number): Trajectory {
  const steps = Array.from({ length: count }, (_, at): Step => {
    const step_id = at + 1;
    if (at === 0) return { step_id, source: 'system', message: 'You tend a mill.' };
    if (at % 4 === 1) return { step_id, source: 'user', message: `Request ${at}: ${prose(at, 20)}` };
    const call = { tool_call_id: `c${at}`, function_name: 'read', arguments: { at } };
    const observation = { results: [{ source_call_id: `c${at}`, content: prose(at, 80) }] };
    return { step_id, source: 'agent', message: prose(at, 20), tool_calls: [call], observation };
  });
  return { schema_version: 'ATIF-v1.7', session_id: 's', agent: { name: 'a', version: '1' }, steps };
}

const stepsIn = (bench: Workbench): readonly Step[] => {
  const { steps }: Trajectory = JSON.parse(bench.read('t.json').toString('utf8'));
  return steps;
};
const settings = (keepRecent: number): object => ({ compaction: { keepRecent, maxSummaryTokens: 120 } });

test('kept steps keep their numbers; the summary and placeholders take those of the steps that left', async (t) => {
  const bench = benchFor(t);
  const original = trajectory(24);
  bench.write('t.json', JSON.stringify(original));
  reportOf(await bench.compact('t.json', settings(6)));
  const steps = stepsIn(bench);
  assert.deepEqual(steps[0], original.steps[0]);
  const at = steps.findIndex(({ extra }) => extra !== undefined);
  assert.deepEqual(steps[at]?.['extra'], { context_management: { type: 'compaction', boundary: 'replace' } });
  assert.deepEqual(
    steps.slice(1, at),
    steps.slice(1, at).map((_, index) => ({ step_id: index + 2, source: 'system', message: '(compacted)' })),
  );
  assert.deepEqual(steps.slice(at + 1), original.steps.slice(at + 1));
  assert.equal(steps.length, 24);
});

test('without the instructions, the placeholders begin with the first step', async (t) => {
  const bench = benchWith(t, 't.json', JSON.stringify(trajectory(20)));
  reportOf(await bench.compact('t.json', { ...settings(5), keepSystem: false }));
  assert.deepEqual(stepsIn(bench)[0], { step_id: 1, source: 'system', message: '(compacted)' });
  assert.deepEqual(findFaults(JSON.parse(bench.read('t.json').toString('utf8'))), []);
});

test('messages that survive are quoted in the summary, so that no gap is left', async (t) => {
  const bench = benchWith(t, 't.json', JSON.stringify(trajectory(40)));
  const report = reportOf(await bench.compact('t.json', { ...settings(4), targetTokens: 2500 }));
  assert.ok(report.ledger.quoted > 0);
  assert.deepEqual(findFaults(JSON.parse(bench.read('t.json').toString('utf8'))), []);
});

for (const name of readdirSync(FIXTURES).filter((one) => !['cut-off.json', 'no-messages.json'].includes(one))) {
  test(`${name}: Harbor's rules hold after each of three compactions if they held before`, async (t) => {
    const bench = benchFor(t);
    const original = readFileSync(join(FIXTURES, name));
    const faults = findFaults(JSON.parse(original.toString('utf8')));
    assert.equal(faults.length > 0, name === 'gaps-in-step-ids.json');
    bench.write('t.json', original);
    for (const keepRecent of [6, 3, 1]) {
      reportOf(await bench.compact('t.json', settings(keepRecent)));
      const after = findFaults(JSON.parse(bench.read('t.json').toString('utf8')));
      if (faults.length === 0) assert.deepEqual(after, []);
      assert.equal(stepsIn(bench).filter(({ extra }) => Object(extra).context_management !== undefined).length, 1);
    }
  });
}

function decode(step: Step): unknown {
  const session = atif.open();
  session.observe({ step_id: 1, source: 'user', message: 'Go on.' }, 2);
  const decoded = session.observe(step, 3);
  return 'problem' in decoded
    ? decoded.problem
    : { kind: decoded.kind, role: decoded.message?.role, content: decoded.message?.content };
}

test('a step has its calls and their results; reasoning is not part of it', () => {
  const said = {
    step_id: 3,
    source: 'agent',
    message: 'Looking.',
    reasoning_content: 'hm',
    tool_calls: [{ tool_call_id: 'c', function_name: 'read', arguments: { path: 'a' } }],
    observation: { results: [{ content: [{ type: 'text', text: 'b' }] }] },
  };
  assert.deepEqual(decode(said), { kind: 'message', role: 'assistant', content: 'Looking.\nread {"path":"a"}\nb' });
});

test('a later step of the system counts as the result of a tool; without a source it is a problem', () => {
  const later = decode({ step_id: 3, source: 'system', message: 'Disk full.' });
  assert.deepEqual(later, { kind: 'message', role: 'tool', content: 'Disk full.' });
  assert.equal(decode({ step_id: 3, message: 'x' }), 'a step whose source is not a string');
});

test('another major version is refused by name', async () => {
  const head = Buffer.from(JSON.stringify({ ...trajectory(3), schema_version: 'ATIF-v2.0' }, null, 2));
  const found = await formatRegistry.detectDocument(head, true);
  assert.equal(found?.kind, 'unknown');
  assert.equal(found.looksLike, 'an ATIF trajectory of a version other than 1.x');
});
