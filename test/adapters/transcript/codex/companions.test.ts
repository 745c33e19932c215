import assert from 'node:assert/strict';
import { test } from 'node:test';
import { codex } from '../../../../src/adapters/transcript/codex/codec.ts';
import type { Json } from '../../../../src/ports/codec.ts';
import { call, event, output, read, reasoning, record, said, taskStarted, turn, turnContext } from './rollouts.ts';

/** Of every record, the line of the message that it goes with. */
function companions(...records: readonly Json[]): readonly (number | null)[] {
  const { entries, session } = read(codex, records);
  const { companionOf = () => null } = session.readContext(entries);
  return entries.map(companionOf);
}

test('every record of a turn goes with a message of it', () => {
  assert.deepEqual(companions(...turn('a')), [9, 3, null, 3, 7, 7, null, null, null, null, 9]);
});

test('a mirror goes with the message of its words, before it or after it', () => {
  const mirror = event('user_message', { message: 'same' });
  assert.deepEqual(companions(said('user', 'same'), mirror), [null, 1]);
  assert.deepEqual(companions(mirror, said('user', 'same')), [2, null]);
});

test('of two messages with the same words each has its own mirror', () => {
  const mirror = event('agent_message', { message: 'ok' });
  const message = said('assistant', 'ok');
  assert.deepEqual(companions(mirror, message, mirror, message), [2, null, 4, null]);
  assert.deepEqual(companions(message, mirror, message, mirror), [null, 1, null, 3]);
});

test('the same words far away, or of another speaker, are not mirrored', () => {
  const between = Array.from({ length: 40 }, () => record('other', {}));
  assert.equal(companions(said('user', 'ok'), ...between, event('user_message', { message: 'ok' })).at(-1), null);
  assert.deepEqual(companions(said('user', 'ok'), event('agent_message', { message: 'ok' })), [null, null]);
});

test('mirrors of newer versions, which have the item in them, go with it', () => {
  const user = { type: 'UserMessage', content: [{ type: 'text', text: 'hi' }] };
  const agent = { type: 'AgentMessage', content: [{ type: 'Text', text: 'ho' }] };
  const command = { type: 'CommandExecution', id: 'c1' };
  const records = [said('user', 'hi'), said('assistant', 'ho'), call('c1')];
  const mirrors = [user, agent, command].map((item) => event('item_completed', { item }));
  assert.deepEqual(companions(...records, ...mirrors).slice(3), [1, 2, 3]);
});

test('what happens to a call goes with the call, whichever comes first', () => {
  const begin = event('exec_command_begin', { call_id: 'c1' });
  assert.deepEqual(companions(begin, call('c1'), begin, output('c1')), [2, null, 2, null]);
});

test('an id that is used again is the latest call before the record', () => {
  const end = event('exec_command_end', { call_id: 'c1' });
  assert.deepEqual(companions(call('c1'), output('c1'), call('c1'), end), [null, null, null, 3]);
});

test('where the call is missing its record goes with the output, and with nothing where that is missing too', () => {
  const end = event('patch_apply_end', { call_id: 'c1' });
  assert.deepEqual(companions(end, output('c1')), [2, null]);
  assert.deepEqual(companions(end, output('c2')), [null, null]);
});

test('thoughts go with the answer that follows, and with nothing where a person speaks next', () => {
  assert.deepEqual(companions(reasoning(), call('c1')), [2, null]);
  assert.deepEqual(companions(reasoning(), said('user', 'stop'), said('assistant', 'yes')), [null, null, null]);
});

test('the beginning of a turn goes with the last message of that turn, its settings with the next', () => {
  const records = [taskStarted('1'), turnContext(), said('user', 'a'), said('assistant', 'b'), taskStarted('2')];
  assert.deepEqual(companions(...records, said('user', 'c')), [4, 3, null, null, 6, null]);
});

test('the end of a turn, and its interruption, go with the message before', () => {
  const ends = [event('task_complete'), event('turn_aborted', { turn_id: 't' })];
  assert.deepEqual(companions(said('user', 'a'), ...ends), [null, 1, 1]);
});

test('a turn without a message, and events of their own, go by their place', () => {
  assert.deepEqual(companions(taskStarted('1'), taskStarted('2'), event('error', { message: 'x' })), [
    null,
    null,
    null,
  ]);
});
