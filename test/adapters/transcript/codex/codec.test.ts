import assert from 'node:assert/strict';
import { test } from 'node:test';
import { codex, responsesItems } from '../../../../src/adapters/transcript/codex/codec.ts';
import { call, event, header, message, said } from './rollouts.ts';

test('a rollout is known by its records, for sure by its header', () => {
  assert.deepEqual(codex.detect([header(), said('user', 'x')]), { confidence: 1, reason: '2 records of a rollout' });
  assert.deepEqual(codex.detect([event('x')]), {
    confidence: 0.8,
    reason: '1 record of a rollout, but no session_meta',
  });
});

test('a rollout among more records of others is less sure', () => {
  assert.equal(codex.detect([header(), 7, { a: 1 }, null]).confidence, 0.6);
});

test('bare items, messages of others and records without a payload are no rollout', () => {
  for (const value of [message('user', 'x'), { role: 'user', content: 'x' }, { type: 'event_msg' }, 7])
    assert.deepEqual(codex.detect([value]), {
      confidence: 0,
      reason: 'no record has a payload and one of the types of a rollout',
    });
});

test('bare items are known by their parts and their types', () => {
  const items = [message('user', 'x'), { type: 'reasoning', summary: [] }, Object(call('c'))['payload']];
  assert.deepEqual(responsesItems.detect(items), { confidence: 0.95, reason: '3 items of the Responses API' });
});

test('the header of an older rollout is known without an item', () => {
  assert.deepEqual(responsesItems.detect([{ id: 'a', timestamp: 'x', instructions: null }, { record_type: 'state' }]), {
    confidence: 0.95,
    reason: '0 items of the Responses API, and a header of older Codex versions',
  });
});

test('messages of other APIs are no items', () => {
  const anthropic = { type: 'message', role: 'user', content: [{ type: 'text', text: 'x' }] };
  for (const value of [anthropic, { role: 'user', content: 'x' }, { type: 'message', message: {} }, said('user', 'x')])
    assert.equal(responsesItems.detect([value]).confidence, 0);
});
