import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { geminiStream } from '../../../../src/adapters/transcript/agent-streams/gemini.ts';
import { detectFormat } from '../../../../src/adapters/transcript/detect.ts';
import { joinPieces } from '../../../../src/core/message.ts';
import { benchWith, compactLog, decodeAll, type Fields, FIXTURES, fixtureNames, readFixture, textAt } from './logs.ts';

const FORMAT = 'gemini-stream';

const said = (role: string, content: string, more: Fields = {}): Fields => ({
  type: 'message',
  timestamp: '2031-05-04T10:00:00.000Z',
  role,
  content,
  ...more,
});

suite('a log of gemini -o stream-json', () => {
  test('is told apart from sessions of Gemini CLI, and from chat messages, which its events look like', async () => {
    for (const format of [FORMAT, 'gemini', 'chat-lines']) {
      for (const name of fixtureNames(format)) {
        const found = await detectFormat(readFixture(format, name).slice(0, 50));
        assert.equal(found.kind === 'found' && found.codec.format.name === FORMAT, format === FORMAT, name);
      }
    }
  });

  test('keeps the first and latest beginning and the last result of each session, and has a summary in each', async (t) => {
    const bench = benchWith(t, readFileSync(join(FIXTURES, FORMAT, 'several-runs-and-stderr.jsonl')));
    const after = await compactLog(bench, 1);
    const outline = after.flatMap((event) => {
      if (event['type'] === 'init') return [textAt(event, 'session_id').slice(-1)];
      if (event['type'] === 'result') return [textAt(event, 'status')];
      return textAt(event, 'role') === 'user' ? [textAt(event, 'content').slice(0, 19)] : [];
    });
    const summary = '[Context Summary — ';
    assert.deepEqual(outline, [
      'a',
      'b',
      summary,
      'Run the tests.',
      'error',
      'a',
      summary,
      'Go on with the disp',
      'success',
    ]);
  });

  test('has the pieces of an answer as one text in its summary', async (t) => {
    const bench = benchWith(t, readFileSync(join(FIXTURES, FORMAT, 'run.jsonl')));
    const after = await compactLog(bench, 1);
    const summary = after.map((event) => textAt(event, 'content')).find((text) => text.startsWith('[Context Summary'));
    assert.match(summary ?? '', /All tests pass\./);
    const kept = after.filter((event) => event['delta'] === true).map((event) => textAt(event, 'content'));
    assert.equal(
      kept.join(''),
      'The counter starts at zero, the display rounds down, and the log keeps its fractions.',
      'the last answer stays whole',
    );
  });
});

test('pieces in sequence are one text and stay together; an event between them ends the answer', () => {
  const piece = (content: string): Fields => said('assistant', content, { delta: true });
  const events = [
    said('user', 'Trim?'),
    piece('It is '),
    piece('trimmed.'),
    { type: 'tool_use', tool_id: 'a' },
    piece('Aye.'),
  ];
  const read = decodeAll(geminiStream, events);
  const [, first, second, , third] = read.map(({ groupKey }) => groupKey);
  assert.ok(first !== undefined && first === second && first !== third);
  const messages = joinPieces(read.flatMap(({ message }) => message ?? []));
  assert.deepEqual(
    messages.map(({ role, content }) => [role, content]),
    [
      ['user', 'Trim?'],
      ['assistant', 'It is trimmed.'],
      ['assistant', '{}'],
      ['assistant', 'Aye.'],
    ],
  );
  assert.deepEqual(messages[1]?.parts, [{ kind: 'text', text: 'It is trimmed.' }]);
});

test('what a user says is typed', () => {
  const read = decodeAll(geminiStream, [said('user', 'Trim the jib.'), said('assistant', 'Aye.')]);
  assert.deepEqual(
    read.map(({ isPrompt, message }) => [isPrompt, message?.typed]),
    [
      [true, 'Trim the jib.'],
      [undefined, undefined],
    ],
  );
});

test('a failed call says its reason once', () => {
  const result = (fields: Fields): Fields => ({ type: 'tool_result', tool_id: 'a', status: 'error', ...fields });
  const read = decodeAll(geminiStream, [
    result({ output: 'Path not found.', error: { type: 'x', message: 'Path not found.: /src' } }),
    result({ output: 'half', error: { type: 'x', message: 'torn' } }),
    result({ status: 'success', output: 'done' }),
  ]);
  assert.deepEqual(
    read.flatMap(({ message }) => message?.parts ?? []),
    [
      { kind: 'result', callId: 'a', text: 'Path not found.: /src', isError: true },
      { kind: 'result', callId: 'a', text: 'half\ntorn', isError: true },
      { kind: 'result', callId: 'a', text: 'done', isError: false },
    ],
  );
});

test('a message without a role and a call without an id are problems with their reasons', () => {
  const session = geminiStream.open();
  assert.deepEqual(session.observe({ type: 'message', content: 'x' }, 1), { problem: 'a message without a role' });
  assert.deepEqual(session.observe({ type: 'tool_use' }, 2), { problem: 'a tool_use event without a tool_id' });
});
