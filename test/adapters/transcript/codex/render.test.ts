import assert from 'node:assert/strict';
import { test } from 'node:test';
import { codex, responsesItems } from '../../../../src/adapters/transcript/codex/codec.ts';
import type { Json } from '../../../../src/ports/codec.ts';
import { compacted, message, said, SUMMARY, summaryInput } from './rollouts.ts';
import { type Fields as JsonObject } from '../reading.ts';

const render = (more: Parameters<typeof summaryInput>[0] = {}): JsonObject =>
  JSON.parse(codex.open().renderSummary(summaryInput(more))[0] ?? '');

const historyOf = (record: JsonObject): Json => Object(record['payload']).replacement_history;

test('the summary is a compaction of Codex whose history is one message of the user, dated like what left last', () => {
  const lastDropped = { timestamp: '2026-03-02T09:00:09.000Z', type: 'response_item', payload: {} };
  assert.deepEqual(render({ lastDropped, firstKept: said('user', 'x') }), {
    timestamp: '2026-03-02T09:00:09.000Z',
    type: 'compacted',
    payload: { message: SUMMARY, replacement_history: [message('user', SUMMARY)] },
  });
});

test('without any time none is made up', () => {
  assert.deepEqual(Object.keys(render({ lastDropped: { timestamp: 7 } })), ['type', 'payload']);
});

test('where records are numbered it takes the number that became free right before its place', () => {
  const lastDropped = { timestamp: 'x', ordinal: 30 };
  assert.deepEqual(
    [render({ lastDropped, lastDroppedBefore: { ordinal: 4 } })['ordinal'], render({ lastDropped })['ordinal']],
    [4, 30],
  );
  assert.equal('ordinal' in render({ lastDropped: { timestamp: 'x' } }), false);
});

test('what the compaction before it held of instructions and of encrypted words goes on, what was said does not', () => {
  const rules = message('developer', 'rules');
  const surroundings = message('user', '<environment_context>x</environment_context>');
  const sealed = { type: 'compaction', encrypted_content: 'x' };
  const prior = compacted([message('user', 'old'), rules, sealed, surroundings, message('user', SUMMARY)]);
  assert.deepEqual(historyOf(render({ prior })), [rules, sealed, surroundings, message('user', SUMMARY)]);
  const again = render({ prior: render({ prior }) });
  assert.deepEqual(historyOf(again), historyOf(render({ prior })), 'and on through further compactions');
});

test('among bare items it is an item of role system, dated only where items are', () => {
  const [line = ''] = responsesItems.open().renderSummary(summaryInput({ lastDropped: { type: 'message' } }));
  assert.deepEqual(JSON.parse(line), {
    type: 'message',
    role: 'system',
    content: [{ type: 'input_text', text: SUMMARY }],
  });
});
