import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cursor } from '../../../../src/adapters/transcript/cursor/codec.ts';
import { detectFormat } from '../../../../src/adapters/transcript/detect.ts';
import type { Decoded } from '../../../../src/core/transcript.ts';
import type { Json } from '../../../../src/ports/codec.ts';

const CLIP = '[Context Summary — 3 messages compressed across 1 compaction cycle]\nThey met.';
const text = (said: string): Json => ({ type: 'text', text: said });
const say = (role: string, ...content: readonly Json[]): Json => ({ role, message: { content } });

function decode(...values: readonly Json[]): readonly Decoded[] {
  const session = cursor.open();
  return values.map((value, at) => {
    const decoded = session.observe(value, at + 1);
    assert.ok(!('problem' in decoded));
    assert.deepEqual(session.decode(value, at + 1), decoded);
    return decoded;
  });
}

test('only what a person typed is typed', () => {
  const typed = decode(
    say('user', text('<timestamp>Monday</timestamp>\n<user_query>\nTrim the jib.\n</user_query>')),
    say('user', text('Trim the jib.')),
    say('user', text('<dynamic_tools>\nnew tools\n</dynamic_tools>')),
    say('assistant', text('<user_query>\nnot me\n</user_query>')),
  );
  assert.deepEqual(
    typed.map(({ message, isPrompt = false }) => [message?.typed, isPrompt]),
    [
      ['Trim the jib.', true],
      ['Trim the jib.', true],
      [undefined, false],
      [undefined, false],
    ],
  );
});

test('calls without ids are read, and the end of a turn is no message', () => {
  const call: Json = { type: 'tool_use', name: 'Read', input: { path: 'jib.md' } };
  const [answer, end] = decode(say('assistant', text('I look.'), call, call), {
    type: 'turn_ended',
    status: 'success',
  });
  assert.match(answer?.message?.content ?? '', /Read \{"path":"jib\.md"\}/);
  assert.equal(new Set(answer?.calls).size, 2);
  assert.equal(end?.kind, 'meta');
});

test('the summary is the first message with its words, and is written like a prompt', () => {
  const [line = ''] = cursor.open().renderSummary({
    text: CLIP,
    conversationId: '',
    firstKept: null,
    lastDropped: null,
    lastKeptId: null,
    tokensBefore: 9,
    quotesTools: true,
    uuid: () => '',
  });
  const summary: Json = JSON.parse(line);
  assert.deepEqual(summary, say('user', text(CLIP)));
  assert.deepEqual(
    decode(summary, say('user', text('And then?')), summary).map(({ kind }) => kind),
    ['summary', 'message', 'message'],
  );
});

test('a message without content is a problem, not silence', () => {
  const session = cursor.open();
  assert.deepEqual(
    [
      { role: 'user', message: 'x' },
      { role: 'user', message: { content: 7 } },
    ].map((value) => 'problem' in session.observe(value, 1)),
    [true, true],
  );
});

test('its transcripts are told from chat lines', async () => {
  const formatOf = async (...sample: readonly Json[]): Promise<string> => {
    const found = await detectFormat(sample);
    return found.kind === 'found' ? found.codec.format.name : found.kind;
  };
  assert.deepEqual(
    [
      await formatOf(say('user', text('Trim the jib.')), { type: 'turn_ended', status: 'success' }),
      await formatOf({ role: 'user', message: { content: 'Trim the jib.' } }),
      await formatOf({ role: 'user', content: 'Trim the jib.' }),
    ],
    ['cursor', 'cursor', 'chat-lines'],
  );
});
