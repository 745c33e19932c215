import assert from 'node:assert/strict';
import test from 'node:test';
import type { Json, SummaryInput } from '../../../../src/ports/codec.ts';
import { assistant, compaction, entry, header, readEntries, user } from './entries.ts';
import { type Fields, isoAt, parseLines } from '../reading.ts';

const TEXT = '[Context Summary — 2 messages compressed across 1 compaction cycle]';

/** What is written for a file when the kept part begins at a line. */
function render(values: readonly Json[], line: number, input: Partial<SummaryInput> = {}): readonly Json[] {
  const { session, entries } = readEntries(values);
  const { priorLine } = session.readContext(entries);
  const lines = session.renderSummary({
    text: TEXT,
    conversationId: 'c',
    firstKept: values[line - 1] ?? null,
    lastDropped: null,
    prior: priorLine === null ? null : (values[priorLine - 1] ?? null),
    lastKeptId: null,
    tokensBefore: 4321,
    quotesTools: false,
    uuid: (label) => `made-${label}`,
    ...input,
  });
  return parseLines(lines.join('\n'));
}

const ours: Fields = {
  type: 'compaction',
  id: 'b',
  parentId: null,
  timestamp: isoAt(1),
  summary: TEXT,
  firstKeptEntryId: 'c',
  tokensBefore: 4321,
  fromHook: true,
};

const prompts: readonly Fields[] = [user('one', ['a', null]), user('two', ['b', 'a']), user('three', ['c', 'b'])];

test('the summary takes the id that the kept part hangs on', () => {
  assert.deepEqual(render([header(), ...prompts], 4), [ours]);
});

test('its time is the latest of all entries and messages: pi takes the token counts of what is not later for outdated', () => {
  const late = { ...prompts[2], message: { role: 'user', content: 'three', timestamp: Date.parse(isoAt(50)) } };
  const [summary] = render([header(), ...prompts.slice(0, 2), late], 4);
  assert.deepEqual(summary, { ...ours, timestamp: isoAt(50) });
});

test('in a file without times it has none', () => {
  const untimed = [{ type: 'session', id: 's', version: 3 }, ...prompts].map(
    ({ timestamp: _timestamp, ...rest }: Fields) => rest,
  );
  const { timestamp: _timestamp, ...expected } = ours;
  assert.deepEqual(render(untimed, 4), [expected]);
});

test('settings that would be lost stand before it, one hanging on the other', () => {
  const settings = [
    entry('thinking_level_change', 'x', null, { thinkingLevel: 'low' }),
    entry('thinking_level_change', 'y', 'x', { thinkingLevel: 'high' }),
    entry('session_info', 'z', 'y', { name: 'Ferries' }),
    entry('custom', 'w', 'z', { customType: 'todo', data: [1] }),
  ];
  const [first, second] = [user('one', ['a', 'w']), user('two', ['c', 'a'])];
  assert.deepEqual(render([header(), ...settings, first, second], 7), [
    entry('thinking_level_change', 'made-setting 0', null, { thinkingLevel: 'high' }),
    entry('session_info', 'made-setting 1', 'made-setting 0', { name: 'Ferries' }),
    entry('custom', 'made-setting 2', 'made-setting 1', { customType: 'todo', data: [1] }),
    { ...ours, id: 'a', parentId: 'made-setting 2' },
  ]);
});

test('settings that the kept part has itself are not written again', () => {
  const low = entry('thinking_level_change', 'x', null, { thinkingLevel: 'low' });
  const high = entry('thinking_level_change', 'y', 'b', { thinkingLevel: 'high' });
  const session = [header(), low, user('one', ['a', 'x']), user('two', ['b', 'a']), high, user('three', ['c', 'y'])];
  assert.deepEqual(render(session, 4), [{ ...ours, id: 'a', firstKeptEntryId: 'b' }]);
});

test('a setting of a branch that was left is not taken for that of the thread', () => {
  const low = entry('thinking_level_change', 'x', null, { thinkingLevel: 'low' });
  const left = entry('thinking_level_change', 'y', 'a', { thinkingLevel: 'high' });
  const session = [header(), low, user('one', ['a', 'x']), left, user('two', ['b', 'a']), user('three', ['c', 'b'])];
  const [setting] = render(session, 6);
  assert.equal(Object(setting).thinkingLevel, 'low');
});

test('an extension’s record that is nested too deeply to be written is left out', () => {
  let data: Fields = {};
  for (let depth = 0; depth < 20_000; depth += 1) data = { data };
  const own = entry('custom', 'x', null, { customType: 'todo', data });
  const session = [header(), own, user('one', ['a', 'x']), user('two', ['b', 'a']), user('three', ['c', 'b'])];
  assert.deepEqual(render(session, 5), [ours]);
});

test('the model is told where no answer stays that tells it', () => {
  const session = [header(), assistant('one', ['a', null]), user('two', ['b', 'a']), user('three', ['c', 'b'])];
  assert.deepEqual(render(session, 4), [
    entry('model_change', 'made-setting 0', null, { provider: 'p', modelId: 'm' }),
    { ...ours, parentId: 'made-setting 0' },
  ]);
});

test('where the kept part begins before a compaction of pi, the summary takes the place of that one', () => {
  const session = [header(), ...prompts, compaction('b', ['s', 'c']), user('four', ['d', 's'])];
  assert.deepEqual(render(session, 4), [{ ...ours, id: 's', parentId: 'c' }]);
});

test('where the session ends with that compaction, the kept part hangs on the summary', () => {
  const session = [header(), ...prompts, compaction('b', ['s', 'c'])];
  assert.deepEqual(render(session, 4), [ours]);
});

test('in version 1 there are no ids, and the index of the first kept entry is that of the one after the summary', () => {
  const unnamed = ({ id: _id, parentId: _parentId, ...rest }: Fields): Fields => rest;
  const low = entry('thinking_level_change', 'x', null, { thinkingLevel: 'low' });
  const { id: _id, parentId: _parentId, firstKeptEntryId: _kept, ...numbered } = ours;
  assert.deepEqual(render([header(null), low, ...prompts].map(unnamed), 5), [
    unnamed(low),
    { ...numbered, firstKeptEntryIndex: 3 },
  ]);
});

test('each line is one line, whatever the text holds', () => {
  const text = 'a\nb\r\nc\u2028d\ud800"\\';
  assert.deepEqual(render([header(), ...prompts], 4, { text }), [{ ...ours, summary: text }]);
});
