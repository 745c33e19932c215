import assert from 'node:assert/strict';
import test from 'node:test';
import { claudeCode } from '../../../../src/adapters/transcript/claude-code/codec.ts';
import { decodeRecord } from '../../../../src/adapters/transcript/claude-code/decode.ts';
import type { Json } from '../../../../src/ports/codec.ts';
import { assistantRecord, record, SESSION_ID, userRecord } from './records.ts';

function decode(value: Json, line = 1): ReturnType<ReturnType<typeof claudeCode.open>['decode']> {
  return claudeCode.open().observe(value, line);
}

function contentOf(value: Json): string | undefined {
  const decoded = decode(value);
  return 'problem' in decoded ? undefined : decoded.message?.content;
}

function isPrompt(value: Json): boolean {
  const decoded = decode(value);
  return !('problem' in decoded) && decoded.isPrompt === true;
}

const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } };

test('a typed prompt is a message of the user with its place in the chain', () => {
  assert.deepEqual(decode(userRecord('Fix the gate.', { uuid: 'u2', parentUuid: 'u1' })), {
    kind: 'message',
    conversation: SESSION_ID,
    recordId: 'u2',
    parentId: 'u1',
    isPrompt: true,
    message: {
      id: 'u2',
      conversation_id: SESSION_ID,
      role: 'user',
      content: 'Fix the gate.',
      created_at: new Date('2026-03-02T10:00:00.000Z'),
      parts: [{ kind: 'text', text: 'Fix the gate.' }],
      typed: 'Fix the gate.',
      ruleText: 'Fix the gate.',
    },
  });
});

test('an answer with a call has the call in its content, its parts and its facts', () => {
  const value = record('assistant', {
    uuid: 'a1',
    requestId: 'req1',
    message: {
      id: 'msg1',
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'secret thought', signature: 's' },
        { type: 'text', text: 'I look.' },
        { type: 'tool_use', id: 't1', name: 'Read', input: { path: 'gate.md' } },
      ],
    },
  });
  assert.deepEqual(decode(value), {
    kind: 'message',
    conversation: SESSION_ID,
    recordId: 'a1',
    parentId: null,
    calls: ['t1'],
    groupKey: 'msg1 req1',
    message: {
      id: 'a1',
      conversation_id: SESSION_ID,
      role: 'assistant',
      content: 'I look.\nRead {"path":"gate.md"}',
      tool_calls: [{ id: 't1', name: 'Read', arguments: '{"path":"gate.md"}' }],
      created_at: new Date('2026-03-02T10:00:00.000Z'),
      parts: [
        { kind: 'text', text: 'I look.' },
        { kind: 'call', id: 't1', name: 'Read', arguments: '{"path":"gate.md"}' },
      ],
    },
  });
});

test('a user record with results of tools has role tool and is no prompt', () => {
  const content: Json = [
    { type: 'tool_result', tool_use_id: 't1', content: 'oak', is_error: false },
    {
      type: 'tool_result',
      tool_use_id: 't2',
      content: [{ type: 'text', text: 'no' }, image, { type: 'text', text: 'hinge' }],
      is_error: true,
    },
    { type: 'text', text: 'go on' },
  ];
  assert.deepEqual(decode(userRecord(content, { uuid: 'r1' })), {
    kind: 'message',
    conversation: SESSION_ID,
    recordId: 'r1',
    parentId: null,
    results: ['t1', 't2'],
    message: {
      id: 'r1',
      conversation_id: SESSION_ID,
      role: 'tool',
      content: 'oak\nno\nhinge\ngo on',
      tool_call_id: 't1',
      created_at: new Date('2026-03-02T10:00:00.000Z'),
      parts: [
        { kind: 'result', callId: 't1', text: 'oak', isError: false },
        { kind: 'result', callId: 't2', text: 'no\nhinge', isError: true },
        { kind: 'text', text: 'go on' },
      ],
    },
  });
});

test('calls and results of server tools stand in the same answer', () => {
  const decoded = decode(
    assistantRecord([
      { type: 'server_tool_use', id: 's1', name: 'web_search', input: { query: 'tide' } },
      { type: 'web_search_tool_result', tool_use_id: 's1', content: [{ type: 'web_search_result', title: 'Tides' }] },
    ]),
  );
  assert.ok(!('problem' in decoded));
  assert.deepEqual([decoded.calls, decoded.results, decoded.message?.role], [['s1'], ['s1'], 'assistant']);
});

test('a message without a uuid is named by its line and is no part of the chain', () => {
  const decoded = decode(userRecord('hello', { parentUuid: 'p' }), 17);
  assert.ok(!('problem' in decoded));
  assert.deepEqual([decoded.message?.id, decoded.recordId, decoded.parentId], ['line:17', undefined, undefined]);
});

test('a message without a parentUuid is a root', () => {
  const { parentUuid: _, ...value } = userRecord('hello', { uuid: 'u1' });
  const decoded = decode(value);
  assert.ok(!('problem' in decoded));
  assert.deepEqual([decoded.recordId, decoded.parentId], ['u1', null]);
});

for (const timestamp of [undefined, 'not a time', 1772445600000, '5', '2026-03-02T10:00:00', '2026-13-40T99:00:00Z']) {
  test(`the timestamp ${JSON.stringify(timestamp)} is no time`, () => {
    const { timestamp: _, ...untimed } = userRecord('hello');
    const decoded = decode(timestamp === undefined ? untimed : { ...untimed, timestamp });
    assert.ok(!('problem' in decoded));
    assert.equal(decoded.message?.created_at, null);
  });
}

const NO_PROMPTS: readonly (readonly [string, Json])[] = [
  ['a record of the client (isMeta)', userRecord('Base directory for this skill', { isMeta: true })],
  ['a summary', userRecord('continued', { isCompactSummary: true })],
  ['a text for the screen only', userRecord('note', { isVisibleInTranscriptOnly: true })],
  ['a notice with an origin', userRecord('done', { origin: { kind: 'task-notification' } })],
  ['an empty text', userRecord(' \n')],
  ['an empty list', userRecord([])],
  ['an interruption', userRecord([{ type: 'text', text: '[Request interrupted by user for tool use]' }])],
  ['output of a local command', userRecord('<local-command-stdout>Bye!</local-command-stdout>')],
  ['a command that the client answers', userRecord('<command-name>/model</command-name>')],
  ['a shell command', userRecord('<bash-input>ls</bash-input>')],
  ['a notice of a background task', userRecord('<task-notification>\n</task-notification>')],
  ['a reminder as the only block', userRecord([{ type: 'text', text: '<system-reminder>x</system-reminder>' }])],
  ['an answer', assistantRecord('hello')],
];
for (const [what, value] of NO_PROMPTS) {
  test(`${what} is no typed prompt, but a line all the same`, () => {
    assert.ok(!('problem' in decode(value)));
    assert.equal(isPrompt(value), false);
  });
}

const PROMPTS: readonly (readonly [string, Json])[] = [
  ['text that begins with a tag', userRecord('<b> is not shown, why?')],
  ['an image alone', userRecord([image])],
  [
    'text after a reminder',
    userRecord([
      { type: 'text', text: '<system-reminder>x</system-reminder>' },
      { type: 'text', text: 'Go.' },
    ]),
  ],
  [
    'a slash command that the model answers',
    userRecord('<command-message>review</command-message>\n<command-name>/review</command-name>'),
  ],
  ["a subagent's task, to the subagent", userRecord('compare', { isSidechain: true })],
  ['a record of human origin', userRecord('Go.', { origin: { kind: 'human' } })],
];
for (const [what, value] of PROMPTS) {
  test(`${what} is a typed prompt`, () => assert.equal(isPrompt(value), true));
}

test('words behind an interruption, and words about the tag of a command, are typed', () => {
  for (const text of [
    '[Request interrupted by user]\nPaint it blue.',
    '<command-name>/dry</command-name> is in my log, why?',
  ]) {
    const decoded = decode(userRecord(text));
    assert.ok(!('problem' in decoded));
    assert.equal(decoded.message?.typed, text);
  }
});

test('an image adds nothing to the content', () => {
  assert.equal(contentOf(userRecord([{ type: 'text', text: 'see' }, image])), 'see');
});

test('blocks that are strange are read for what they hold', () => {
  const content: Json = [
    'bare',
    7,
    null,
    { type: 'tool_use', name: 'Read', input: { a: 1 } },
    { type: 'tool_result', content: 'lost' },
    { text: 'no type' },
  ];
  const decoded = decode(userRecord(content));
  assert.ok(!('problem' in decoded));
  assert.deepEqual(
    [decoded.message?.content, decoded.calls, decoded.results],
    ['bare\n7\nRead {"a":1}\nlost\nno type', undefined, undefined],
  );
});

test('lone surrogates and separators of lines stay as they are', () => {
  assert.equal(contentOf(userRecord('a\ud800b\u2028c')), 'a\ud800b\u2028c');
});

test('a record of a subagent is a message of a side thread', () => {
  const decoded = decode(assistantRecord('found', { isSidechain: true, uuid: 's1' }));
  assert.ok(!('problem' in decoded));
  assert.deepEqual([decoded.kind, decoded.isSide], ['message', true]);
});

test('a compact summary is a summary with its text, in the role of the system', () => {
  const decoded = decode(userRecord('This session is being continued', { uuid: 's', isCompactSummary: true }));
  assert.ok(!('problem' in decoded));
  assert.deepEqual(
    [decoded.kind, decoded.message?.role, decoded.message?.content],
    ['summary', 'system', 'This session is being continued'],
  );
});

test("the summary and the boundary of a subagent's own compaction are those of a side thread", () => {
  const side = { isSidechain: true };
  const decoded = [
    decode(userRecord('continued', { isCompactSummary: true, ...side })),
    decodeRecord(record('system', { subtype: 'compact_boundary', uuid: 'b', ...side }), 1),
  ].map((one) => ('problem' in one ? one : [one.kind, one.isSide, 'note' in one ? one.note : undefined]));
  assert.deepEqual(decoded, [
    ['summary', true, undefined],
    ['meta', true, { kind: 'boundary' }],
  ]);
});

test('a boundary names the ends of what the client kept', () => {
  const boundary = (compactMetadata: Json): ReturnType<typeof record> =>
    record('system', { subtype: 'compact_boundary', uuid: 'b', logicalParentUuid: 'x', compactMetadata });
  const facts = { kind: 'meta', conversation: SESSION_ID, recordId: 'b', parentId: null };
  const whole = { ...facts, note: { kind: 'boundary' } };
  const ranged = { ...facts, note: { kind: 'boundary', keptFrom: 'h', keptTo: 't' } };
  const read = (value: ReturnType<typeof record>): ReturnType<typeof decodeRecord> => decodeRecord(value, 1);
  const segment = { headUuid: 'h', anchorUuid: 's', tailUuid: 't' };
  assert.deepEqual(read(boundary({ trigger: 'auto' })), whole);
  assert.deepEqual(read(boundary({ preservedSegment: segment })), ranged);
  assert.deepEqual(read(boundary({ preservedMessages: { uuids: ['h', 't'] } })), ranged);
  assert.deepEqual(read(boundary({ preservedMessages: { uuids: [] } })), whole);
  const listed = { uuids: ['h', 't'], allUuids: ['h', 'never-written'] };
  assert.deepEqual(read(boundary({ preservedMessages: listed })), ranged);
  const other = { headUuid: 'x', anchorUuid: 's', tailUuid: 'y' };
  const both = { preservedSegment: other, preservedMessages: listed };
  assert.deepEqual(read(boundary(both)), ranged, 'the list counts where there are both');
  assert.deepEqual(read(boundary({ preservedSegment: { headUuid: 7 } })), whole);
  assert.deepEqual(read(record('system', { subtype: 'compact_boundary', uuid: 'b' })), whole);
});

test('a microcompact boundary is an ordinary row of the chain', () => {
  assert.deepEqual(decode(record('system', { subtype: 'microcompact_boundary', uuid: 'm', parentUuid: 'a' })), {
    kind: 'meta',
    conversation: SESSION_ID,
    recordId: 'm',
    parentId: 'a',
  });
});

test('an API error is a row of the chain, not something that the model said', () => {
  const value = assistantRecord([{ type: 'text', text: 'API Error: 529' }], {
    uuid: 'e',
    parentUuid: 'u',
    isApiErrorMessage: true,
  });
  assert.deepEqual(decode(value), { kind: 'meta', conversation: SESSION_ID, recordId: 'e', parentId: 'u' });
});

test('no record of what was sent to the API has to stay', () => {
  for (const type of ['api-request', 'api-request-blob', 'api-request-shape']) {
    assert.deepEqual(decode({ type, sessionId: 's' }), { kind: 'meta', conversation: 's' });
  }
});

test('a record of an unknown type is carried: in the chain if it names a parent, else pinned by its type', () => {
  assert.deepEqual(decode(record('novelty', { uuid: 'n', parentUuid: 'u' })), {
    kind: 'meta',
    conversation: SESSION_ID,
    recordId: 'n',
    parentId: 'u',
  });
  assert.deepEqual(decode({ type: 'novelty', uuid: 'n' }), { kind: 'meta', latestKey: 'novelty' });
  assert.deepEqual(decode({ type: 'custom-title', customTitle: 'x', sessionId: 's' }), {
    kind: 'meta',
    conversation: 's',
    latestKey: 'custom-title',
  });
});

test('a system row without a uuid is never pinned', () => {
  assert.deepEqual(decode({ type: 'system', subtype: 'note' }), { kind: 'meta' });
});
