import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openCode } from '../../../../src/adapters/transcript/opencode/codec.ts';
import { prose } from '../../../support/chat.ts';
import { benchFor, benchWith, reportOf } from '../../../support/workbench.ts';

type Message = {
  readonly info: { readonly id: string; readonly role: string; readonly [key: string]: unknown };
  readonly parts: readonly { readonly type: string; readonly [key: string]: unknown }[];
};

const idAt = (index: number): string => `msg_1c00000${String(index).padStart(5, '0')}AAAAAAAAAAAAAA`;

function message(
  index: number,
  more: { readonly info?: Readonly<Record<string, unknown>>; readonly parts?: Message['parts'] } = {},
): Message {
  const isUser = index % 2 === 0;
  const info = {
    id: idAt(index),
    role: isUser ? 'user' : 'assistant',
    sessionID: 'ses_1',
    time: { created: 1000 + index },
  };
  const model = isUser
    ? { agent: 'build', model: { providerID: 'p', modelID: 'm' } }
    : { parentID: idAt(index - 1), providerID: 'p', modelID: 'm' };
  const parts = more.parts ?? [{ type: 'text', text: prose(index, 60) }];
  return { info: { ...info, ...model, ...more.info }, parts };
}

const messages = (count: number, from = 0): readonly Message[] =>
  Array.from({ length: count }, (_, at) => message(from + at));
const sessionOf = (all: readonly Message[]): string =>
  JSON.stringify({ info: { id: 'ses_1', directory: '/d' }, messages: all });
const asked = (index: number, more: Readonly<Record<string, unknown>> = {}): Message =>
  message(index, { parts: [{ type: 'compaction', auto: false, ...more }] });
const answered = (index: number): Message =>
  message(index, { info: { summary: true, finish: 'stop' }, parts: [{ type: 'text', text: 'Goal: build a mill.' }] });

function decode(value: Message): unknown {
  const decoded = openCode.open().observe(JSON.parse(JSON.stringify(value)), 3);
  return 'problem' in decoded
    ? decoded
    : { kind: decoded.kind, role: decoded.message?.role, content: decoded.message?.content };
}

test('a call and its result stand in one message; reasoning and what is not sent are no part of it', () => {
  const state = { status: 'completed', input: { filePath: 'a' }, output: 'b', time: { start: 1, end: 2 } };
  const parts = [
    { type: 'reasoning', text: 'hm' },
    { type: 'text', text: 'shown only', ignored: true },
    { type: 'tool', callID: 'c1', tool: 'read', state },
    { type: 'text', text: 'Done.' },
  ];
  assert.deepEqual(decode(message(1, { parts })), {
    kind: 'message',
    role: 'assistant',
    content: 'read {"filePath":"a"}\nb\nDone.',
  });
});

test('a summary that failed or is not finished is none', () => {
  const kindOf = (info: Message['info']): unknown => decode({ ...answered(1), info });
  const { info } = answered(1);
  const kinds = [info, { ...info, finish: '' }, { ...info, error: { name: 'x' } }].map((one) =>
    JSON.stringify(kindOf(one)),
  );
  assert.deepEqual(
    kinds.map((one) => one.includes('"summary"')),
    [true, false, false],
  );
});

test('the summary answers a message that asks for a compaction, in time before all that stays', async (t) => {
  const bench = benchWith(t, 's.json', sessionOf(messages(12)));
  reportOf(await bench.compact('s.json', { compaction: { keepRecent: 4, maxSummaryTokens: 100 } }));
  const result: { readonly messages: readonly Message[] } = JSON.parse(bench.read('s.json').toString());
  const [ask, answer, ...kept] = result.messages;
  assert.ok(ask !== undefined && answer !== undefined);
  assert.deepEqual(
    [ask.info.role, ask.parts[0]?.type, answer.info['parentID'] === ask.info.id],
    ['user', 'compaction', true],
  );
  assert.deepEqual(
    [answer.info['summary'], answer.info['finish'], answer.info['time']],
    [true, 'stop', { created: 1007, completed: 1007 }],
  );
  const ids = result.messages.map(({ info }) => info.id);
  assert.deepEqual(ids, ids.toSorted());
  assert.deepEqual(kept, messages(12).slice(8));
});

test("the program's own compaction goes with the message that asked for it, and its summary is kept as a batch", async (t) => {
  const bench = benchWith(t, 's.json', sessionOf([...messages(4), asked(4), answered(5), ...messages(12, 6)]));
  const report = reportOf(await bench.compact('s.json', { compaction: { keepRecent: 4, maxSummaryTokens: 100 } }));
  assert.deepEqual(report.ledger, { kept: 6, summarized: 8, quoted: 0, other: 6, total: 20 });
  assert.match(bench.read('s.json').toString(), /Goal: build a mill\./);
});

test('the tail that a compaction of the program kept is still said, and not stale', async (t) => {
  const bench = benchFor(t);
  bench.write(
    's.json',
    sessionOf([...messages(8), asked(8, { tail_start_id: idAt(4) }), answered(9), ...messages(8, 10)]),
  );
  const report = reportOf(await bench.compact('s.json', { compaction: { keepRecent: 4, maxSummaryTokens: 100 } }));
  assert.deepEqual(report.ledger, { kept: 6, summarized: 8, quoted: 0, other: 6, total: 20 });
});

test('a compaction that was asked for and not yet made stays where it is', async (t) => {
  const bench = benchFor(t);
  const all = [...messages(12), asked(12)];
  bench.write('s.json', sessionOf(all));
  reportOf(await bench.compact('s.json', { compaction: { keepRecent: 4, maxSummaryTokens: 100 } }));
  const result: { readonly messages: readonly Message[] } = JSON.parse(bench.read('s.json').toString());
  assert.deepEqual(result.messages.at(-1), all.at(-1));
});

test('a message that asked for a compaction goes with its summary also where it stands among what stays', async (t) => {
  const bench = benchFor(t);
  const tail = asked(16, { tail_start_id: idAt(2) });
  bench.write('s.json', sessionOf([...messages(16), tail, answered(17), ...messages(2, 18)]));
  reportOf(await bench.compact('s.json', { compaction: { keepRecent: 6, maxSummaryTokens: 100 } }));
  const result: { readonly messages: readonly Message[] } = JSON.parse(bench.read('s.json').toString());
  const types = result.messages.map(({ parts }) => parts[0]?.type);
  assert.deepEqual(types, ['compaction', 'text', 'text', 'text', 'text', 'text', 'text', 'text']);
});
