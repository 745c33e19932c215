import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import test from 'node:test';
import { copilot } from '../../../../src/adapters/transcript/copilot/codec.ts';
import type { Json } from '../../../../src/ports/codec.ts';
import { answer, chain, FIXTURES, readFixture, session, start, user } from './events.ts';

for (const name of readdirSync(FIXTURES)) {
  test(`${name} is a session of Copilot CLI`, () => {
    const expected = name.includes('no-header') ? 0.7 : 1;
    assert.equal(copilot.detect(readFixture(name).slice(0, 50)).confidence, expected);
  });
}

test('events without the start are less sure, and the reason says what is missing', () => {
  assert.deepEqual(copilot.detect(chain([user('hello'), answer('hi')])), {
    confidence: 0.7,
    reason: '2 events of a session, but the first record is no session.start',
  });
});

test('a few events among other records are not enough', () => {
  assert.equal(copilot.detect([{ a: 1 }, { b: 2 }, ...chain([start])]).confidence, 0.4);
});

test('the project is the folder that the session was begun in', () => {
  const context = { cwd: '/home/ada/lock', gitRoot: '/home/ada' };
  const begun = { ...start, data: { ...start.data, context } };
  assert.deepEqual(
    [chain([begun]), session(user('hello')), [1, null, { data: { context: { cwd: 5 } } }]].map((sample) =>
      copilot.readProject?.(sample),
    ),
    ['/home/ada/lock', null, null],
  );
});

const OTHERS: readonly (readonly [string, readonly Json[]])[] = [
  ['nothing', []],
  ['values that are no records', [1, 'x', null, []]],
  ['chat lines', [{ role: 'user', content: 'hello' }]],
  ['a Claude Code session', [{ type: 'user', parentUuid: null, uuid: 'a', message: { role: 'user', content: 'x' } }]],
  ['a session of pi', [{ type: 'session', version: 3, id: 'x', timestamp: 't', cwd: '/' }]],
  ['a Codex rollout', [{ timestamp: 't', type: 'session_meta', payload: { id: 'x' } }]],
  ['an event log of another make', [{ type: 'user.message', data: { content: 'x' }, id: 'a' }]],
  ['events of a type that Copilot has not', [{ type: 'gate.opened', data: {}, id: 'a', parentId: null }]],
];
for (const [what, sample] of OTHERS) {
  test(`${what} is no session of Copilot CLI`, () => {
    assert.equal(copilot.detect(sample).confidence, 0);
  });
}
