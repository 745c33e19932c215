import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Json } from '../../../../src/ports/codec.ts';
import { fixtureRecords, readRecords } from './sessions.ts';

const calling = (...names: readonly string[]): Json => ({
  role: 'assistant',
  content: '',
  tool_calls: names.map((name) => ({ function: { name, arguments: {} } })),
});
const result = (name?: string): Json => ({
  role: 'tool',
  content: 'x',
  ...(name !== undefined && { tool_name: name }),
});
const resultsOf = (...records: readonly Json[]): readonly (string | undefined)[] =>
  readRecords(...records).decoded.map(({ results }) => results?.[0]);

suite('a result without an id', () => {
  test('answers the calls of the turn in their order', () => {
    assert.deepEqual(resultsOf(calling('f', 'g'), result(), result()), [undefined, 'call:1:0', 'call:1:1']);
  });

  test('answers the call of its name first', () => {
    assert.deepEqual(resultsOf(calling('f', 'g'), result('g'), result('f')), [undefined, 'call:1:1', 'call:1:0']);
  });

  test('answers calls that have ids', () => {
    const withId = {
      role: 'assistant',
      content: '',
      tool_calls: [{ id: 'a', function: { name: 'f', arguments: '' } }],
    };
    assert.deepEqual(resultsOf(withId, result()), [undefined, 'a']);
  });

  test('answers calls of one turn that stand in several records', () => {
    assert.deepEqual(resultsOf(calling('f'), calling('g'), result(), result()), [
      undefined,
      undefined,
      'call:1:0',
      'call:2:0',
    ]);
  });

  test('does not reach back to a call that was given up', () => {
    const user = { role: 'user', content: 'stop' };
    assert.deepEqual(resultsOf(calling('f'), user, calling('g'), result()), [
      undefined,
      undefined,
      undefined,
      'call:3:0',
    ]);
  });

  test('stands alone where no call is open', () => {
    assert.deepEqual(resultsOf(calling('f'), result(), result()), [undefined, 'call:1:0', undefined]);
  });

  test('answers only within its conversation', () => {
    const inside = (conversation_id: string, record: Json): Json => ({ ...Object(record), conversation_id });
    assert.deepEqual(resultsOf(inside('a', calling('f')), inside('b', result()), inside('a', result())), [
      undefined,
      undefined,
      'call:1:0',
    ]);
  });

  test('of the fixture has its call, every one', () => {
    const { decoded } = readRecords(...fixtureRecords('results-without-ids.jsonl'));
    const made = decoded.flatMap(({ calls }) => calls ?? []);
    const answered = decoded.flatMap(({ results }) => results ?? []);
    assert.equal(made.length, 13);
    assert.deepEqual(answered, made);
  });
});
