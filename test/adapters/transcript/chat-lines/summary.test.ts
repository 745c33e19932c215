import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
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
