import assert from 'node:assert/strict';
import { test } from 'node:test';
import { claudeAi } from '../../../../src/adapters/transcript/claude-ai/codec.ts';
import { prose } from '../../../support/chat.ts';
import { benchFor, benchWith, reportOf } from '../../../support/workbench.ts';

const ROOT = '00000000-0000-4000-8000-000000000000';
type Message = {
  readonly uuid: string;
  readonly text: string;
  readonly sender: string;
  readonly parent_message_uuid?: string;
};

const message = (index: number, more: Partial<Message> = {}): Message => ({
  uuid: `m${index}`,
  text: prose(index, 60),
  sender: index % 2 === 0 ? 'human' : 'assistant',
  parent_message_uuid: index === 0 ? ROOT : `m${index - 1}`,
  ...more,
});
const messages = (count: number): readonly Message[] => Array.from({ length: count }, (_, index) => message(index));

function decode(value: object): unknown {
  const decoded = claudeAi.open().observe(JSON.parse(JSON.stringify(value)), 7);
  return 'problem' in decoded
    ? decoded
    : { kind: decoded.kind, role: decoded.message?.role, content: decoded.message?.content };
}

test('the text of blocks, calls with their results and attachments is what a message says', () => {
  const content = [
    { type: 'thinking', thinking: 'hm' },
    { type: 'text', text: 'I look.' },
    { type: 'tool_use', id: null, name: 'web_search', input: { query: 'tides' } },
    { type: 'tool_result', tool_use_id: null, name: 'web_search', content: [{ type: 'text', text: 'High at nine.' }] },
  ];
  const attachments = [{ file_name: 'a.txt', extracted_content: 'pasted' }];
  assert.deepEqual(decode({ uuid: 'u', sender: 'assistant', text: 'I look.', content, attachments }), {
    kind: 'message',
    role: 'assistant',
    content: 'I look.\nweb_search {"query":"tides"}\nHigh at nine.\npasted',
  });
});

test('an export without blocks has its text', () => {
  assert.deepEqual(decode({ uuid: 'u', sender: 'human', text: 'Hello' }), {
    kind: 'message',
    role: 'user',
    content: 'Hello',
  });
});

test('what neither a person nor the model sent is carried along', () => {
  assert.deepEqual(decode({ uuid: 'u', sender: 'notice', text: 'x' }), {
    kind: 'meta',
    role: undefined,
    content: undefined,
  });
});

test('the summary takes the uuid that the first message that stays names as its parent', async (t) => {
  const bench = benchWith(t, 'c.json', JSON.stringify([{ uuid: 'c', name: 'n', chat_messages: messages(12) }]));
  reportOf(await bench.compact('c.json', { compaction: { keepRecent: 4, maxSummaryTokens: 100 } }));
  const [conversation]: readonly { readonly chat_messages: readonly Message[] }[] = JSON.parse(
    bench.read('c.json').toString(),
  );
  const [summary, ...kept] = conversation?.chat_messages ?? [];
  assert.equal(summary?.uuid, 'm7');
  assert.equal(summary?.parent_message_uuid, ROOT);
  assert.deepEqual(kept, messages(12).slice(8));
});

test('answers that were taken anew and questions that were edited are archived, and in no summary', async (t) => {
  const bench = benchFor(t);
  const branches = [
    message(50, { parent_message_uuid: 'm1', text: 'zebra words' }),
    message(51, { parent_message_uuid: ROOT, text: 'zebra again' }),
  ];
  const all = [...messages(4), ...branches, ...messages(12).slice(4)];
  bench.write('c.json', JSON.stringify([{ uuid: 'c', name: 'n', chat_messages: all }]));
  const report = reportOf(await bench.compact('c.json', { compaction: { keepRecent: 4, maxSummaryTokens: 100 } }));
  assert.deepEqual(report.ledger, { kept: 6, summarized: 8, quoted: 0, other: 2, total: 16 });
  assert.doesNotMatch(bench.read('c.json').toString(), /zebra/);
});
