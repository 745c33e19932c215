import assert from 'node:assert/strict';
import test from 'node:test';
import { readFixture, readRecords } from './records.ts';

const entriesOf = (name: string): ReturnType<typeof readRecords> => readRecords(readFixture(name));

test('a session of several turns has prompts, answers and results, and a text worth compacting', () => {
  const { session, entries } = entriesOf('session.jsonl');
  const said = readFixture('session.jsonl').flatMap((value, index) => {
    const decoded = session.observe(value, index + 1);
    return 'problem' in decoded || decoded.message === undefined ? [] : [decoded.message];
  });
  const counts = Object.fromEntries(
    ['user', 'assistant', 'tool'].map((role) => [role, said.filter((message) => message.role === role).length]),
  );
  assert.deepEqual(counts, { user: 5, assistant: 34, tool: 18 });
  assert.equal(entries.filter((entry) => entry.isPrompt === true).length, 5);
  assert.ok(said.reduce((sum, message) => sum + message.content.length, 0) > 12_000);
});

test('the records of one answer bear one key though others stand between them', () => {
  const { entries } = entriesOf('split-answer-not-contiguous.jsonl');
  const key = entries[1]?.groupKey;
  assert.notEqual(key, undefined);
  assert.deepEqual(
    entries.filter((entry) => entry.groupKey === key).map((entry) => entry.line),
    [2, 3, 7],
  );
});

test('prompts are told apart from what the client writes as the user', () => {
  const { entries } = entriesOf('local-commands.jsonl');
  assert.deepEqual(
    entries.filter((entry) => entry.isPrompt === true).map((entry) => entry.line),
    [6, 14],
  );
});

test('prompts may be images alone', () => {
  const { entries } = entriesOf('image-prompts.jsonl');
  assert.deepEqual(
    entries.filter((entry) => entry.isPrompt === true).map((entry) => entry.line),
    [1, 3],
  );
});

test('a result without its call and a call without its result are decoded as they are', () => {
  const { entries } = entriesOf('orphan-result-and-call.jsonl');
  assert.deepEqual(
    entries.map(({ calls, results }) => [calls, results]),
    [
      [undefined, ['toolu_gone']],
      [undefined, undefined],
      [undefined, undefined],
      [['toolu_last'], undefined],
    ],
  );
});

test('empty thinking leaves an empty message, and times that run backwards stay as they are', () => {
  const { session } = entriesOf('odd-times-and-empty-thinking.jsonl');
  const said = readFixture('odd-times-and-empty-thinking.jsonl').map((value, index) => {
    const decoded = session.observe(value, index + 1);
    return 'problem' in decoded ? null : [decoded.message?.content, decoded.message?.created_at?.toISOString()];
  });
  assert.deepEqual(said.slice(0, 5), [
    ['First.', '2026-03-02T12:00:00.000Z'],
    ['Second.', '2026-03-02T11:59:58.000Z'],
    ['Third.', undefined],
    ['', '2026-03-02T09:00:07.000Z'],
    ['', '2026-03-02T09:00:14.000Z'],
  ]);
});
