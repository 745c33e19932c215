import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { parseTime } from '../../../../src/adapters/transcript/chat-lines/decode.ts';
import type { Json } from '../../../../src/ports/codec.ts';
import { CLIP, fixtureRecords, kindsOf, readRecords } from './sessions.ts';

const system = { role: 'system', content: 'Be brief.' };
const clip = { role: 'system', content: CLIP };
const userClip = { role: 'user', content: CLIP };
const user = { role: 'user', content: 'hello' };
const answer = { role: 'assistant', content: 'yes' };

const priorLine = (...records: readonly unknown[]): number | null => {
  const { session, entries } = readRecords(...records);
  return session.readContext(entries).priorLine;
};

suite('the summary of an earlier compaction (P3)', () => {
  test('stands after leading instructions and records of the producer', () => {
    const developer = { role: 'developer', content: 'In verse.' };
    assert.deepEqual(kindsOf(system, { role: '_usage' }, developer, clip, user), [
      'instruction',
      'meta',
      'instruction',
      'summary',
      'message',
    ]);
    assert.equal(priorLine(system, { role: '_usage' }, developer, clip, user), 4);
  });

  test("is a system's message, whatever the format calls it", () => {
    const { decoded } = readRecords(userClip, answer);
    assert.deepEqual(
      [decoded[0]?.kind, decoded[0]?.message?.role, decoded[0]?.isPrompt],
      ['summary', 'system', undefined],
    );
  });

  test("may be another program's, if a system says it", () => {
    assert.deepEqual(kindsOf({ role: 'system', content: '[Context Summary — of sorts]' }), ['summary']);
  });

  test("may be a user's only with a whole first line", () => {
    assert.deepEqual(kindsOf({ role: 'user', content: '[Context Summary — what is this?' }), ['message']);
  });

  test("may be a user's only where nothing tells of Kimi or of a database", () => {
    assert.deepEqual(kindsOf({ role: '_checkpoint', id: 0 }, userClip), ['meta', 'message']);
    assert.deepEqual(kindsOf({ ...userClip, conversation_id: 'c' }), ['message']);
  });

  test('is only the first: a second one is no instruction either, and goes as what was said goes', () => {
    assert.deepEqual(kindsOf(clip, clip, user), ['summary', 'message', 'message']);
  });

  test('is none once something was said: it is a message then', () => {
    assert.deepEqual(kindsOf(user, clip, userClip, answer), ['message', 'message', 'message', 'message']);
    assert.equal(priorLine(user, clip, userClip, answer), null);
  });

  test('is no prompt where a user pastes one later', () => {
    assert.equal(readRecords(user, userClip).decoded[1]?.isPrompt, undefined);
  });

  test('is each conversation’s own', () => {
    const a = { ...clip, conversation_id: 'a' };
    const b = { ...clip, conversation_id: 'b' };
    assert.deepEqual(kindsOf(a, { ...user, conversation_id: 'a' }, b, { ...clip, conversation_id: 'a' }), [
      'summary',
      'message',
      'summary',
      'message',
    ]);
  });

  test('is the same when its line is read again after the rest of the file', () => {
    const { session, decoded } = readRecords(clip, user, answer);
    assert.deepEqual(session.decode(clip, 1), decoded[0]);
  });
});

suite('the context', () => {
  test('is the whole file: nothing is stale, and every line may be the first that stays', () => {
    const { session, entries } = readRecords(...fixtureRecords('late-instructions.jsonl'));
    const { isStale } = session.readContext(entries);
    const cuts = session.legalCuts(entries);
    assert.ok(entries.every((entry) => !isStale(entry) && cuts(entry.line) === null));
  });
});

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

const iso = (value: Json): string | undefined => parseTime(value)?.toISOString();

suite('a time', () => {
  test('in ISO 8601, with an offset in any of its spellings', () => {
    for (const text of [
      '2031-01-02T10:00:00Z',
      '2031-01-02T10:00:00.000Z',
      '2031-01-02T10:00:00.000999z',
      '2031-01-02T12:00:00+02:00',
      '2031-01-02T12:00:00+0200',
      '2031-01-02 12:00:00+02',
      '2031-01-02 08:30:00-01:30',
      ' 2031-01-02 10:00 ',
    ]) {
      assert.equal(iso(text), '2031-01-02T10:00:00.000Z', text);
    }
  });

  test('without an offset is UTC, on every machine', () => {
    assert.equal(iso('2031-01-02T10:00:00.5'), '2031-01-02T10:00:00.500Z');
    assert.equal(iso('2031-01-02'), '2031-01-02T00:00:00.000Z');
  });

  test('is a number of seconds or of milliseconds', () => {
    assert.equal(iso(1930000000), iso(1930000000000));
    assert.equal(iso(0.5), '1970-01-01T00:00:00.500Z');
  });

  test('is nothing else', () => {
    for (const value of ['yesterday', '2031-13-02T10:00:00Z', '10:00', '', null, true, [1], {}, Infinity, 1e17]) {
      assert.equal(iso(value), undefined, JSON.stringify(value));
    }
  });
});
