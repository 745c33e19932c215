import assert from 'node:assert/strict';
import test from 'node:test';
import { pi, decodeEntry } from '../../../../src/adapters/transcript/pi/codec.ts';
import type { Decoded } from '../../../../src/core/transcript.ts';
import { compaction, entry, header, readEntries, user } from './entries.ts';
import { type Fields, isoAt } from '../reading.ts';

function decode(value: Fields): Decoded {
  const decoded = pi.open().observe(value, 2);
  if ('problem' in decoded) throw new Error(decoded.problem);
  return decoded;
}

const said = (message: Fields): Decoded => decode(entry('message', 'b', 'a', { message }));
const at = new Date(isoAt(1));

test('the header gives the conversation its id, and only the first is one', () => {
  const { entries } = readEntries([header(), { ...header(), id: 'second' }]);
  assert.deepEqual(
    entries.map(({ kind, conversation }) => [kind, conversation]),
    [
      ['header', 'session-1'],
      ['meta', undefined],
    ],
  );
});

test('what a person typed is a prompt', () => {
  assert.deepEqual(decode(user('hello', ['b', 'a'])), {
    kind: 'message',
    recordId: 'b',
    parentId: 'a',
    isPrompt: true,
    message: {
      id: 'b',
      conversation_id: '',
      role: 'user',
      content: 'hello',
      created_at: at,
      parts: [{ kind: 'text', text: 'hello' }],
      typed: 'hello',
      ruleText: 'hello',
    },
  });
});

test('an image alone is a prompt, blank text is none', () => {
  const image = { type: 'image', data: 'AA', mimeType: 'image/png' };
  assert.deepEqual(
    [[image], ' ', 'text', []].map((content) => said({ role: 'user', content }).isPrompt),
    [true, undefined, true, undefined],
  );
});

test('an answer has its calls, and no thinking', () => {
  const content: readonly Fields[] = [
    { type: 'thinking', thinking: 'hm' },
    { type: 'text', text: 'Looking.' },
    { type: 'toolCall', id: 'c1', name: 'read', arguments: { path: 'a.ts' } },
  ];
  const { calls, message } = said({ role: 'assistant', content });
  assert.deepEqual(calls, ['c1']);
  assert.deepEqual(message, {
    id: 'b',
    conversation_id: '',
    role: 'assistant',
    content: 'Looking.\nread {"path":"a.ts"}',
    tool_calls: [{ id: 'c1', name: 'read', arguments: '{"path":"a.ts"}' }],
    created_at: at,
    parts: [
      { kind: 'text', text: 'Looking.' },
      { kind: 'call', id: 'c1', name: 'read', arguments: '{"path":"a.ts"}' },
    ],
  });
});

test('a result names its call and its tool', () => {
  const content = [{ type: 'text', text: 'no such file' }];
  const { results, message } = said({ role: 'toolResult', toolCallId: 'c1', toolName: 'read', content, isError: true });
  assert.deepEqual(results, ['c1']);
  assert.deepEqual(message, {
    id: 'b',
    conversation_id: '',
    role: 'tool',
    name: 'read',
    content: 'no such file',
    tool_call_id: 'c1',
    created_at: at,
    parts: [{ kind: 'result', callId: 'c1', text: 'no such file', isError: true }],
  });
});

test('the time of a message is that of its entry, else its own, in milliseconds', () => {
  const message = { role: 'user', content: 'x', timestamp: Date.parse(isoAt(9)) };
  const times = ['2026-01-02T03:00:01.000Z', 'yesterday', null].map(
    (timestamp) => decode(entry('message', 'b', 'a', { timestamp, message })).message?.created_at,
  );
  assert.deepEqual(times, [at, new Date(isoAt(9)), new Date(isoAt(9))]);
});

test('a shell command is the text of what was run, printed, and how it ended', () => {
  const shell = { role: 'bashExecution', command: 'npm test', output: '1 failed' };
  const ends: readonly Fields[] = [
    { exitCode: 0 },
    { exitCode: 2 },
    { cancelled: true, exitCode: null },
    { output: '' },
  ];
  const texts = ends.map((end) => said({ ...shell, ...end }).message?.content);
  assert.deepEqual(texts, [
    '$ npm test\n1 failed',
    '$ npm test\n1 failed\n(exit code 2)',
    '$ npm test\n1 failed\n(cancelled)',
    '$ npm test',
  ]);
});

test('what pi sends in the words of others is the user’s, and no prompt', () => {
  const values = [
    entry('message', 'b', 'a', { message: { role: 'hookMessage', customType: 'tide', content: 'low' } }),
    entry('message', 'b', 'a', { message: { role: 'custom', customType: 'tide', content: 'low' } }),
    entry('custom_message', 'b', 'a', { customType: 'tide', content: [{ type: 'text', text: 'low' }] }),
    entry('branch_summary', 'b', 'a', { fromId: 'x', summary: 'low' }),
  ];
  assert.deepEqual(
    values
      .map(decode)
      .map(({ kind, isPrompt, message }) => [kind, isPrompt, message?.role, message?.name, message?.content]),
    [
      ['message', undefined, 'user', 'tide', 'low'],
      ['message', undefined, 'user', 'tide', 'low'],
      ['message', undefined, 'user', 'tide', 'low'],
      ['message', undefined, 'user', undefined, 'low'],
    ],
  );
});

test('a compaction is a summary, and tells where the part begins that it keeps', () => {
  const decoded = decodeEntry(compaction('k', ['b', 'a']), 2);
  assert.ok(!('problem' in decoded));
  const { kind, note, message } = decoded;
  assert.deepEqual(
    [kind, note, message?.role, message?.content],
    ['summary', { keptFrom: 'k' }, 'system', 'It was long.'],
  );
});

test('settings, labels, extensions’ records and unknown types are links of the chain that say nothing', () => {
  const types = [
    'thinking_level_change',
    'model_change',
    'label',
    'session_info',
    'custom',
    'novelty',
    'branch_summary',
  ];
  assert.deepEqual(
    types.map((type) => decode(entry(type, 'b', 'a'))),
    types.map(() => ({ kind: 'meta', recordId: 'b', parentId: 'a' })),
  );
});

test('an entry without an id is called by its line, and is no link', () => {
  const { recordId, message } = decode({ type: 'message', message: { role: 'user', content: 'x' } });
  assert.deepEqual([recordId, message?.id], [undefined, 'line:2']);
});
