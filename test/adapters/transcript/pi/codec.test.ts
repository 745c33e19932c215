import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import test from 'node:test';
import { pi } from '../../../../src/adapters/transcript/pi/codec.ts';
import type { Json } from '../../../../src/ports/codec.ts';
import { FIXTURES, header, readFixture, thread } from './entries.ts';

for (const name of readdirSync(FIXTURES)) {
  test(`${name} is a session of pi for certain`, () => {
    assert.equal(pi.detect(readFixture(name).slice(0, 50)).confidence, 1);
  });
}

test('entries without the header are less sure, and the reason says what is missing', () => {
  assert.deepEqual(pi.detect(thread('ab')), {
    confidence: 0.7,
    reason: '2 entries of a session, but the first record is not a header of type session',
  });
});

test('a header that is not the first record does not count as one', () => {
  assert.equal(pi.detect([{ note: 'exported' }, header(), ...thread('ab')]).confidence, 0.7);
});

const OTHERS: readonly (readonly [string, readonly Json[]])[] = [
  ['nothing', []],
  ['values that are no records', [1, 'x', null, []]],
  ['a header without an id', [{ type: 'session', version: 3 }]],
  ['chat lines', [{ role: 'user', content: 'hello' }]],
  ['a Claude Code session', [{ type: 'user', parentUuid: null, uuid: 'a', message: { role: 'user', content: 'x' } }]],
  ['a log of messages without times', [{ type: 'message', message: { role: 'user', content: 'x' } }]],
  ['a Codex rollout', [{ timestamp: 't', type: 'session_meta', payload: { id: 'x' } }]],
  ['items of the Responses API', [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'x' }] }]],
  ['a Copilot log', [{ type: 'session.start', data: {}, id: 'a', parentId: null, timestamp: 't' }]],
];
for (const [what, sample] of OTHERS) {
  test(`${what} is no session of pi`, () => {
    assert.equal(pi.detect(sample).confidence, 0);
  });
}
