import assert from 'node:assert/strict';
import test from 'node:test';
import { claudeCode } from '../../../../src/adapters/transcript/claude-code/codec.ts';
import type { Json } from '../../../../src/ports/codec.ts';
import { readFixture, userRecord } from './records.ts';

function confidence(sample: readonly Json[]): number {
  return claudeCode.detect(sample).confidence;
}

test('a message with a parentUuid is enough', () => {
  assert.deepEqual(claudeCode.detect([userRecord('hello')]), {
    confidence: 1,
    reason: '1 record with the type of a message and a parentUuid',
  });
});

test('dozens of records before the first message do not hide the format', () => {
  assert.equal(confidence(readFixture('leading-meta.jsonl')), 1);
  assert.equal(confidence(readFixture('leading-meta.jsonl').slice(0, 30)), 0.8);
});

test('a file of snapshots and a title only is still recognized', () => {
  assert.deepEqual(claudeCode.detect(readFixture('only-snapshots.jsonl')), {
    confidence: 0.8,
    reason: '5 records that Claude Code keeps beside its messages',
  });
});

test('a foreign first line does not hide the format', () => {
  assert.equal(confidence([{ note: 'exported' }, ...readFixture('session.jsonl')]), 1);
});

test('messages among many foreign records are less sure', () => {
  assert.equal(confidence([userRecord('hello'), {}, {}, {}]), 0.6);
});

const OTHERS: readonly (readonly [string, readonly Json[]])[] = [
  ['nothing', []],
  ['values that are no records', [1, 'x', null, []]],
  ['chat lines', [{ role: 'user', content: 'hello' }]],
  ['a Codex rollout', [{ timestamp: 't', type: 'session_meta', payload: { id: 'x' } }]],
  [
    'a pi session',
    [
      { type: 'session', version: 3, id: 'x' },
      { type: 'message', id: 'a', parentId: null, message: {} },
    ],
  ],
  [
    'a Gemini chat',
    [
      { sessionId: 'x', projectHash: 'y' },
      { id: 'a', type: 'user', content: 'hello' },
    ],
  ],
  ['a Copilot log', [{ type: 'user.message', data: {}, id: 'a', parentId: null }]],
  ['a conversation a line', [{ messages: [{ role: 'user', content: 'hello' }] }]],
];
for (const [what, sample] of OTHERS) {
  test(`${what} is not this format`, () => assert.equal(confidence(sample), 0));
}

test('the output of a headless run is told apart by its missing parents', () => {
  assert.deepEqual(claudeCode.detect([{ type: 'assistant', message: { content: [] }, session_id: 's' }]), {
    confidence: 0,
    reason: 'there are user and assistant records, but none has a parentUuid',
  });
});
