import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatRegistry } from '../../../../src/adapters/transcript/detect.ts';
import { inspect } from '../../../../src/adapters/transcript/inspect/codec.ts';
import type { Json } from '../../../../src/ports/codec.ts';
import { prose } from '../../../support/chat.ts';
import { benchFor, reportOf, type Workbench } from '../../../support/workbench.ts';

type Item = { readonly [key: string]: Json };
type Sample = {
  readonly messages: readonly Item[];
  readonly events: readonly Item[];
  readonly [key: string]: Json | readonly Item[];
};
type Log = { readonly samples: readonly Sample[]; readonly [key: string]: Json | readonly Sample[] };

/** A prompt, then `turns` calls of a tool with their results, and the events of each. */
function sample(name: string, turns: number): Sample {
  const id = (at: number, what: string): string => `${name}-${what}-${at}`;
  const rounds = Array.from({ length: turns }, (_, at): readonly Item[] => [
    {
      id: id(at, 'a'),
      role: 'assistant',
      content: prose(at, 20),
      tool_calls: [{ id: id(at, 'c'), function: 'bash', arguments: { cmd: `read ${at}` } }],
    },
    { id: id(at, 't'), role: 'tool', content: prose(at + 300, 80), tool_call_id: id(at, 'c'), function: 'bash' },
  ]);
  const events = Array.from({ length: turns }, (_, at): readonly Item[] => [
    {
      event: 'model',
      uuid: id(at, 'm'),
      input: [],
      output: { choices: [{ message: { id: id(at, 'a'), role: 'assistant' } }] },
    },
    { event: 'span_begin', id: id(at, 's') },
    { event: 'tool', id: id(at, 'c'), function: 'bash', result: 'x' },
    { event: 'sandbox', action: 'exec', cmd: `read ${at}` },
    { event: 'span_end', id: id(at, 's') },
  ]);
  return {
    id: name,
    epoch: 1,
    input: 'Mend the gate.',
    target: 'done',
    messages: [{ id: id(0, 'u'), role: 'user', content: `Mend gate ${name}.`, source: 'input' }, ...rounds.flat()],
    output: { model: 'm', choices: [] },
    events: [{ event: 'sample_init' }, ...events.flat(), { event: 'score' }],
    attachments: {},
  };
}

const log = (...samples: readonly Sample[]): Log => ({
  version: 2,
  status: 'success',
  eval: { task: 'mill', created: '2026-02-16T08:00:00+00:00' },
  samples,
});
const settings = (keepRecent: number): object => ({ compaction: { keepRecent, maxSummaryTokens: 120 } });
const read = (bench: Workbench): Log => JSON.parse(bench.read('log.json').toString('utf8'));
const kindsOf = ({ events }: Sample, kind: string): readonly Item[] => events.filter(({ event }) => event === kind);

test('each sample is compacted by itself, and a short one stays as it is', async (t) => {
  const bench = benchFor(t);
  const original = log(sample('a', 12), sample('b', 1), sample('c', 12));
  bench.write('log.json', JSON.stringify(original, null, 2));
  const report = reportOf(await bench.compact('log.json', settings(5)));
  assert.deepEqual(
    report.conversations.map(({ id, batches }) => [id, batches.length]),
    [
      ['a', 1],
      ['b', 0],
      ['c', 1],
    ],
  );
  const { samples, ...rest } = read(bench);
  const { samples: _, ...head } = original;
  assert.deepEqual(rest, head);
  assert.deepEqual(samples[1], original.samples[1]);
  for (const at of [0, 2]) {
    const { messages = [] } = samples[at] ?? {};
    assert.match(JSON.stringify(messages), /\[Context Summary/);
    assert.deepEqual(messages.at(-1), original.samples[at]?.messages.at(-1));
  }
});

test('calls of models, tools and the sandbox leave with the answer that they belong to; other events stay', async (t) => {
  const bench = benchFor(t);
  const original = JSON.stringify(log(sample('a', 20)));
  bench.write('log.json', original);
  for (const keepRecent of [9, 3]) {
    reportOf(await bench.compact('log.json', settings(keepRecent)));
    const [only] = read(bench).samples;
    assert.ok(only !== undefined);
    const answers = only.messages.filter(({ role }) => role === 'assistant').length;
    assert.ok(answers < 12);
    const counts = ['model', 'tool', 'sandbox', 'span_begin', 'span_end', 'score'].map(
      (kind) => kindsOf(only, kind).length,
    );
    assert.deepEqual(counts, [answers, answers, answers, 20, 20, 1]);
    assert.equal((await bench.verify('log.json')).result, 'verified');
  }
  assert.equal((await bench.restore('log.json')).toString('utf8'), original);
});

test('events that timelines name, and those of another conversation, stay', async (t) => {
  const bench = benchFor(t);
  const foreign = { event: 'model', output: { choices: [{ message: { id: 'elsewhere' } }] } };
  const plain = sample('a', 12);
  const before = plain.events.length;
  bench.write('log.json', JSON.stringify(log({ ...plain, timelines: [] }, { ...plain, events: [foreign, foreign] })));
  reportOf(await bench.compact('log.json', settings(3)));
  assert.deepEqual(
    read(bench).samples.map(({ events }) => events.length),
    [before, 2],
  );
});

test('a text among the attachments is read, and so are a failed call and a tool of the server', () => {
  const session = inspect.open();
  session.openList?.({ id: 1, attachments: { h1: 'The gate is open.' }, messages: [] }, 1);
  const contentOf = (record: Json, line: number): string | undefined => {
    const decoded = session.observe(record, line);
    return 'problem' in decoded ? decoded.problem : decoded.message?.content;
  };
  const server = { type: 'tool_use', id: 's', name: 'web_search', arguments: '{"q":"gate"}', result: 'found' };
  const parts: Json = [{ type: 'text', text: 'attachment://h1' }, { type: 'reasoning', reasoning: 'hm' }, server];
  const call = { id: 'c', function: 'bash', arguments: { cmd: 'ls' } };
  assert.deepEqual(
    [
      contentOf({ role: 'user', content: 'attachment://h1' }, 2),
      contentOf({ role: 'assistant', content: parts, tool_calls: [call] }, 3),
      contentOf({ role: 'tool', content: '', tool_call_id: 'c', error: { type: 'timeout', message: 'too slow' } }, 4),
    ],
    ['The gate is open.', 'The gate is open.\nweb_search {"q":"gate"}\nfound\nbash {"cmd":"ls"}', 'too slow'],
  );
});

test('a log of a newer version is refused by name', async () => {
  const head = Buffer.from(JSON.stringify({ ...log(), version: 3 }, null, 2));
  const found = await formatRegistry.detectDocument(head, true);
  assert.equal(found?.kind, 'unknown');
  assert.equal(found.looksLike, 'a log of Inspect AI in a version newer than 2');
});
