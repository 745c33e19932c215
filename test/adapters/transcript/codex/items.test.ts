import assert from 'node:assert/strict';
import { test } from 'node:test';
import { responsesItems } from '../../../../src/adapters/transcript/codex/codec.ts';
import { type JsonObject, message, read, SUMMARY } from './rollouts.ts';

const OLD_HEADER = { id: 'thread-1', timestamp: '2025-07-01T10:00:00.000Z', instructions: 'be brief', git: {} };
const clip: JsonObject = { type: 'message', role: 'system', content: [{ type: 'input_text', text: SUMMARY }] };

const kinds = (...records: readonly JsonObject[]): readonly string[] =>
  read(responsesItems, records).entries.map(({ kind }) => kind);

test('the first line of an older rollout is its header, and names the conversation', () => {
  const { entries } = read(responsesItems, [OLD_HEADER, { record_type: 'state' }, message('user', 'x'), OLD_HEADER]);
  assert.deepEqual(
    entries.map(({ kind, conversation }) => [kind, conversation]),
    [
      ['header', 'thread-1'],
      ['meta', undefined],
      ['message', undefined],
      ['meta', undefined],
    ],
  );
});

test('our summary is known by its words and role before anything was said, after instructions', () => {
  assert.deepEqual(kinds(message('developer', 'rules'), clip, message('user', 'x')), [
    'instruction',
    'summary',
    'message',
  ]);
});

test('the same words later on, or of a person, are something that was said', () => {
  assert.deepEqual(kinds(message('user', 'x'), clip), ['message', 'message']);
  assert.deepEqual(kinds(message('user', SUMMARY)), ['message']);
});

test('a line that is read again is what it was', () => {
  const records = [OLD_HEADER, clip, message('user', 'x'), OLD_HEADER];
  const { entries, session } = read(responsesItems, records);
  const again = records.map((value, index) => session.decode(value, index + 1));
  assert.deepEqual(
    again.map((one) => ('problem' in one ? one.problem : one.kind)),
    entries.map(({ kind }) => kind),
  );
});

test('thoughts go with the answer that follows them', () => {
  const { entries, session } = read(responsesItems, [{ type: 'reasoning', summary: [] }, message('assistant', 'x')]);
  assert.deepEqual(entries.map(session.readContext(entries).companionOf ?? (() => null)), [2, null]);
});
