import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { codex, responsesItems } from '../../../../src/adapters/transcript/codex/codec.ts';
import type { Json } from '../../../../src/ports/codec.ts';
import { readFixture } from './rollouts.ts';
import { callItem, compaction, messageItem, outputItem, readRecord } from './schema.ts';

const scalar = fc.oneof(fc.constantFrom(null, true, 7, 'text', ''), fc.constant([]), fc.constant({}));

function isProblem(value: Json): boolean {
  return 'problem' in codex.open().observe(value, 1);
}

test('decoding refuses exactly the records without a payload that the schema refuses', () => {
  const record = fc.record(
    {
      type: fc.constantFrom('response_item', 'compacted', 'event_msg', 'turn_context', 'inter_agent_communication'),
      timestamp: scalar,
      ordinal: scalar,
      payload: scalar,
    },
    { requiredKeys: ['type'] },
  );
  fc.assert(
    fc.property(record, (value) => {
      assert.equal(isProblem(value), !readRecord.safeParse(value).success);
    }),
  );
});

test('decoding refuses exactly the messages that the schema refuses, in a rollout and alone', () => {
  const item = fc.record(
    { type: fc.constant('message'), role: scalar, content: fc.oneof(scalar, fc.array(scalar)) },
    { requiredKeys: ['type'] },
  );
  fc.assert(
    fc.property(item, (payload) => {
      const isRefused = !messageItem.safeParse(payload).success;
      assert.equal(isProblem({ type: 'response_item', payload }), isRefused);
      assert.equal('problem' in responsesItems.open().observe(payload, 1), isRefused);
    }),
  );
});

test('decoding pairs exactly the calls and outputs that have the ids of the schemas', () => {
  const item = fc.record(
    { type: fc.constantFrom('function_call', 'custom_tool_call', 'function_call_output'), call_id: scalar },
    { requiredKeys: ['type'] },
  );
  fc.assert(
    fc.property(item, (payload) => {
      const decoded = codex.open().observe({ type: 'response_item', payload }, 1);
      assert.ok(!('problem' in decoded));
      const hasId = 'call_id' in payload && typeof payload.call_id === 'string';
      assert.equal(decoded.calls?.length ?? 0, hasId && callItem.safeParse(payload).success ? 1 : 0);
      assert.equal(decoded.results?.length ?? 0, outputItem.safeParse(payload).success ? 1 : 0);
    }),
  );
});

test("Codex's own compactions have the shape that the schema describes", () => {
  for (const name of ['own-compaction.jsonl', 'message-only-compaction.jsonl', 'encrypted-compaction.jsonl']) {
    const found = readFixture('codex', name).filter(({ type }) => type === 'compacted');
    assert.equal(found.length, 1, name);
    for (const { payload } of found) compaction.parse(payload);
  }
});

test('any JSON value decodes without an exception', () => {
  fc.assert(
    fc.property(fc.array(fc.jsonValue()), (values) => {
      const sessions = [codex.open(), responsesItems.open()];
      values.forEach((value, at) => {
        for (const session of sessions) session.observe(JSON.parse(JSON.stringify(value)), at + 1);
        for (const session of sessions)
          session.observe(JSON.parse(JSON.stringify({ type: 'response_item', payload: value })), at + 1);
      });
    }),
  );
});
