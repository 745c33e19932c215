import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toChatRecord } from '../../../../src/adapters/transcript/conversations/decode.ts';

test("ShareGPT's speakers have the roles of chat models", () => {
  const said = (from: string): unknown => toChatRecord({ from, value: 'x' });
  assert.deepEqual(
    ['human', 'gpt', 'system', 'observation', 'Customer'].map(said),
    ['human', 'assistant', 'system', 'tool', 'Customer'].map((role) => ({ role, content: 'x' })),
  );
});

test('the value of a function call is a call; where it is none, it is text', () => {
  const value = '{"name":"look","arguments":{"at":1}}';
  assert.deepEqual(
    [toChatRecord({ from: 'function_call', value }), toChatRecord({ from: 'function_call', value: 'look!' })],
    [
      { role: 'assistant', content: '', tool_calls: [{ name: 'look', arguments: { at: 1 } }] },
      { role: 'assistant', content: 'look!' },
    ],
  );
});

test('parts with a value are text and calls, and others stay as they are', () => {
  const content = [
    { type: 'reasoning', value: 'hm' },
    { type: 'text', value: 'so' },
    { type: 'tool_call', value: '{"name":"look","arguments":{}}' },
  ];
  assert.deepEqual(toChatRecord({ role: 'assistant', content }), {
    role: 'assistant',
    content: [
      { type: 'reasoning', value: 'hm' },
      { type: 'text', text: 'so' },
    ],
    tool_calls: [{ name: 'look', arguments: {} }],
  });
  const unreadable = { role: 'assistant', content: [{ type: 'tool_call', value: 'look around' }] };
  assert.deepEqual(toChatRecord(unreadable), unreadable);
});

test('a message with a role, and what is no message, is left as it is', () => {
  const message = { role: 'user', content: [{ type: 'text', text: 'x' }], from: 'me', value: 'y' };
  assert.deepEqual([toChatRecord(message), toChatRecord(7), toChatRecord(null)], [message, 7, null]);
});
