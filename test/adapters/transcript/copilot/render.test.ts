import assert from 'node:assert/strict';
import test from 'node:test';
import type { Json, SummaryInput } from '../../../../src/ports/codec.ts';
import { answer, meta, readEntries, session, user, uuidOf } from './events.ts';
import { type Fields, isoAt } from '../reading.ts';

const TEXT = '[Context Summary — 2 messages compressed across 1 compaction cycle]';

/** What is written for a file when the kept part begins at a line. */
function render(values: readonly Json[], line: number, input: Partial<SummaryInput> = {}): readonly Json[] {
  const { session: reading } = readEntries(values);
  const lines = reading.renderSummary({
    text: TEXT,
    conversationId: 'c',
    firstKept: values[line - 1] ?? null,
    lastDropped: values[line - 2] ?? null,
    lastDroppedBefore: values[line - 2] ?? null,
    lastKeptId: null,
    tokensBefore: 4321,
    quotesTools: false,
    uuid: () => uuidOf(999),
    ...input,
  });
  return lines.map((text): Json => JSON.parse(text));
}

const events = session(user('one'), answer('two'), user('three'));

const ours: Fields = {
  type: 'session.compaction_complete',
  data: { success: true, preCompactionTokens: 4321, summaryContent: TEXT },
  id: uuidOf(2),
  timestamp: isoAt(2),
  parentId: uuidOf(0),
};

test('the summary is a compaction that takes the id that the kept part hangs on, and the time of what left last', () => {
  assert.deepEqual(render(events, 4), [ours]);
});

test('an id of an event that stays is not taken', () => {
  const withModel = session(user('one'), meta('session.model_change', { newModel: 'm' }), user('two'));
  assert.deepEqual(render(withModel, 4), [{ ...ours, id: uuidOf(999) }]);
  assert.deepEqual(render(session(user('one')), 2), [{ ...ours, id: uuidOf(999), timestamp: isoAt(0) }]);
});

test('where the kept part has no parent, or one that is no UUID, the summary has an id of its own', () => {
  for (const parentId of [null, 'a', 5]) {
    const loose = events.map((event) => ({ ...event, parentId }));
    assert.deepEqual(render(loose, 4), [{ ...ours, id: uuidOf(999) }]);
  }
});

test('without a start there is nothing to hang on', () => {
  assert.deepEqual(render(events.slice(1), 3), [{ ...ours, parentId: null }]);
});

test('a time that Copilot would refuse is not taken', () => {
  for (const timestamp of [
    '2026-01-02 03:00:01Z',
    '2026-01-02T03:00Z',
    '2026-01-02T03:00:01',
    '2026-13-02T03:00:01Z',
  ]) {
    assert.deepEqual(render(events, 4, { lastDroppedBefore: { type: 'x', timestamp } }), [ours], timestamp);
  }
  const { timestamp: _timestamp, ...timeless } = ours;
  const untimed = events.map(({ timestamp: _time, ...rest }: Fields) => rest);
  assert.deepEqual(render(untimed, 4), [timeless]);
});

test('each line is one line, whatever the text holds', () => {
  const text = 'a\nb\r\nc\u2028d\ud800"\\';
  const data = { success: true, preCompactionTokens: 4321, summaryContent: text };
  assert.deepEqual(render(events, 4, { text }), [{ ...ours, data }]);
});
