import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gemini } from '../../../../src/adapters/transcript/gemini/codec.ts';
import { SUMMARY, summaryInput } from '../codex/rollouts.ts';
import { header, model, user } from './sessions.ts';

const { renderSummary } = gemini.open();

test('the summary is a message of the user, of the time at which the last message left', () => {
  const input = summaryInput({ lastDropped: model('b', 'two'), firstKept: user('c', 'three') });
  assert.deepEqual(renderSummary(input), [
    `{"id":"summary","timestamp":"2026-03-02T09:00:07.000Z","type":"user","content":[{"text":${JSON.stringify(SUMMARY)}}]}`,
  ]);
});

test('the summary is of the time of the first message that stays where what left has none', () => {
  const [line = ''] = renderSummary(summaryInput({ lastDropped: header(), firstKept: user('c', 'three') }));
  assert.equal(JSON.parse(line).timestamp, '2026-03-02T09:00:00.000Z');
});

test('the summary has no time where nothing has one', () => {
  const [line = ''] = renderSummary(summaryInput());
  assert.deepEqual(Object.keys(JSON.parse(line)), ['id', 'type', 'content']);
});

test('the summary is one line also for readers that end lines at U+2028 and U+2029', () => {
  const text = `${SUMMARY}\u2028one\u2029two\rthree`;
  const [line = ''] = renderSummary(summaryInput({ text }));
  assert.doesNotMatch(line, /[\u2028\u2029\r\n]/);
  assert.equal(JSON.parse(line).content[0].text, text);
});
