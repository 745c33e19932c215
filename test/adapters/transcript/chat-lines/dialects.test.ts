import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { chatLines } from '../../../../src/adapters/transcript/chat-lines/codec.ts';
import {
  findDialect,
  renderInDialect,
  toChatElement,
  toChatMessage,
} from '../../../../src/adapters/transcript/chat-lines/dialects.ts';
import { conversationDocument } from '../../../../src/adapters/transcript/conversations/codec.ts';
import type { Codec, Json, SummaryInput } from '../../../../src/ports/codec.ts';

const ui = (role: string, ...parts: readonly Json[]): Json => ({ id: 'm1', role, parts });
const serialized = (name: string, kwargs: Json): Json => ({
  lc: 1,
  type: 'constructor',
  id: ['langchain', 'schema', 'messages', name],
  kwargs,
});

/** The facts and the text of messages, read one a line. */
function read(...messages: readonly Json[]): readonly unknown[] {
  const session = chatLines.open();
  return messages.map((value, at) => {
    const decoded = session.observe(value, at + 1);
    assert.deepEqual(session.decode(value, at + 1), decoded);
    if ('problem' in decoded) return decoded.problem;
    const { message, calls, results } = decoded;
    return [message?.role, message?.content, ...(calls ?? []), ...(results ?? [])];
  });
}

test('a part of a UI message that is a call with its result is both', () => {
  const call = { toolCallId: 'c', input: { a: 1 } };
  const said: readonly Json[] = [
    { type: 'tool-look', state: 'output-available', ...call, output: { wall: true } },
    { type: 'dynamic-tool', toolName: 'look', state: 'output-error', ...call, errorText: 'dark' },
    { type: 'tool-look', state: 'output-available', ...call, output: { content: [{ type: 'text', text: 'a wall' }] } },
    { type: 'tool-look', state: 'input-available', ...call },
    {
      type: 'tool-invocation',
      toolInvocation: { toolCallId: 'c', toolName: 'look', args: { a: 1 }, result: 'a wall' },
    },
  ];
  assert.deepEqual(read(...said.map((part) => ui('assistant', { type: 'step-start' }, part))), [
    ['assistant', 'look {"a":1}\n{"wall":true}', 'c', 'c'],
    ['assistant', 'look {"a":1}\ndark', 'c', 'c'],
    ['assistant', 'look {"a":1}\na wall', 'c', 'c'],
    ['assistant', 'look {"a":1}', 'c'],
    ['assistant', 'look {"a":1}\na wall', 'c', 'c'],
  ]);
});

test('text, sources and data of a UI message are read; reasoning and files are not', () => {
  const message = ui(
    'user',
    { type: 'text', text: 'What is it?' },
    { type: 'reasoning', text: 'hm' },
    { type: 'file', mediaType: 'image/png', url: 'data:image/png;base64,AA' },
    { type: 'data-weather', data: { wind: 4 } },
  );
  assert.deepEqual(read(message), [['user', 'What is it?\n{"type":"data-weather","data":{"wind":4}}']]);
});

test('messages of LangChain are read in their three forms', () => {
  const call = { name: 'look', args: { a: 1 }, id: 'c', type: 'tool_call' };
  assert.deepEqual(
    read(
      { type: 'human', content: 'Look.' },
      { type: 'ai', data: { content: '', tool_calls: [call] } },
      serialized('ToolMessage', { content: 'a wall', tool_call_id: 'c', type: 'tool' }),
      serialized('AIMessageChunk', { content: [{ type: 'text', text: 'A wall.' }], invalid_tool_calls: [] }),
      { type: 'ai', content: '', tool_calls: [], invalid_tool_calls: [{ name: 'look', args: '{', id: 'd' }] },
      {
        type: 'ai',
        content: '',
        additional_kwargs: { tool_calls: [{ id: 'e', function: { name: 'x', arguments: '' } }] },
      },
      { type: 'chat', role: 'user', content: 'And then?' },
    ),
    [
      ['user', 'Look.'],
      ['assistant', 'look {"a":1}', 'c'],
      ['tool', 'a wall', 'c'],
      ['assistant', 'A wall.'],
      ['assistant', 'look {', 'd'],
      ['assistant', 'x', 'e'],
      ['user', 'And then?'],
    ],
  );
});

test('messages of OpenTelemetry are read with their calls and results', () => {
  assert.deepEqual(
    read(
      { role: 'user', parts: [{ type: 'text', content: 'Look.' }] },
      { role: 'assistant', parts: [{ type: 'tool_call', id: 'c', name: 'look', arguments: { a: 1 } }] },
      { role: 'tool', parts: [{ type: 'tool_call_response', id: 'c', response: 'a wall' }] },
    ),
    [
      ['user', 'Look.'],
      ['assistant', 'look {"a":1}', 'c'],
      ['tool', 'a wall', 'c'],
    ],
  );
});

const INPUT: SummaryInput = {
  text: 'They met.',
  conversationId: 'c',
  firstKept: null,
  lastDropped: null,
  lastKeptId: null,
  tokensBefore: 9,
  quotesTools: false,
  uuid: () => 'fresh',
};

function rendered(firstKept: Json, quotesTools = false): Json {
  return JSON.parse(renderInDialect({ ...INPUT, firstKept, quotesTools }) ?? 'null');
}

test('the summary has the shape of the messages beside it', () => {
  assert.deepEqual(
    [
      rendered(ui('user', { type: 'text', text: 'x' })),
      rendered({ ...(ui('user', { type: 'text', text: 'x' }) as object), content: 'x', createdAt: '2031-05-04' }, true),
      rendered({ type: 'human', content: 'x', id: 'h' }, true),
      rendered({ type: 'human', data: { content: 'x' } }),
      rendered(serialized('HumanMessage', { content: 'x', id: 'h', type: 'human' })),
      rendered({ role: 'user', parts: [{ type: 'text', content: 'x' }] }, true),
      rendered({ role: 'user', content: 'x' }),
    ],
    [
      { id: 'fresh', role: 'system', parts: [{ type: 'text', text: 'They met.' }] },
      {
        id: 'fresh',
        createdAt: '2031-05-04',
        role: 'user',
        content: 'They met.',
        parts: [{ type: 'text', text: 'They met.' }],
      },
      { content: 'They met.', additional_kwargs: {}, response_metadata: {}, id: 'fresh', type: 'human' },
      { type: 'system', data: { content: 'They met.', additional_kwargs: {}, response_metadata: {}, type: 'system' } },
      serialized('SystemMessage', {
        content: 'They met.',
        additional_kwargs: {},
        response_metadata: {},
        id: 'fresh',
        type: 'system',
      }),
      { role: 'user', parts: [{ type: 'text', content: 'They met.' }] },
      null,
    ],
  );
});

test('a summary that was a user message stays one', () => {
  const prior = { type: 'human', content: 'They met.' };
  const line = renderInDialect({ ...INPUT, firstKept: { type: 'ai', content: 'x' }, prior });
  assert.equal(JSON.parse(line ?? '').type, 'human');
});

test('records of other programs have no dialect', () => {
  const others: readonly Json[] = [
    { role: 'user', content: 'x' },
    { role: 'user', parts: [{ text: 'x' }] },
    { role: 'user', parts: [{ type: 'novel', words: 'x' }] },
    { type: 'system', content: 'x', uuid: 'u', parentUuid: null },
    { type: 'user', content: 'x' },
    { type: 'tool_result', content: 'x' },
  ];
  assert.deepEqual(
    others.map((value) => findDialect(value)),
    Array(6).fill(null),
  );
});

test('documents and lines of these messages are recognized', () => {
  const messages = [ui('user', { type: 'text', text: 'x' }), ui('assistant', { type: 'text', text: 'y' })];
  const states: readonly Json[] = [
    { id: 'c', messages },
    messages,
    { values: { messages: [{ type: 'human', content: 'x' }] } },
  ];
  const sure = (codec: Codec, sample: readonly Json[]): boolean => codec.detect(sample).confidence > 0.8;
  assert.deepEqual(
    [...states.map((one) => sure(conversationDocument, [one])), sure(chatLines, messages)],
    Array(4).fill(true),
  );
});

test('any value has a dialect or none, without an error', () => {
  fc.assert(fc.property(fc.jsonValue(), (value) => void toChatMessage(JSON.parse(JSON.stringify(value)))));
});

const UNTRANSLATED: readonly Json[] = [
  { role: 'assistant', content: [{ type: 'tool_call', value: 'look around' }] },
  { role: 'user', content: [{ type: 'text', text: 'x' }], from: 'me', value: 'y' },
  7,
  null,
];

const CALL = '{"name":"look","arguments":{"at":1}}';

/** An element of a conversation, and the chat message that it is. */
const ELEMENTS: readonly (readonly [string, Json, Json])[] = [
  ...[
    ['human', 'human'],
    ['gpt', 'assistant'],
    ['system', 'system'],
    ['observation', 'tool'],
    ['Customer', 'Customer'],
  ].map(([from = '', role = '']): [string, Json, Json] => [
    `ShareGPT's ${from} speaks as ${role}`,
    { from, value: 'x' },
    { role, content: 'x' },
  ]),
  [
    'the value of a function call is a call',
    { from: 'function_call', value: CALL },
    { role: 'assistant', content: '', tool_calls: [JSON.parse(CALL)] },
  ],
  [
    'the value of a function call that is none is text',
    { from: 'function_call', value: 'look!' },
    { role: 'assistant', content: 'look!' },
  ],
  [
    'parts with a value are text and calls, and others stay as they are',
    {
      role: 'assistant',
      content: [
        { type: 'reasoning', value: 'hm' },
        { type: 'text', value: 'so' },
        { type: 'tool_call', value: CALL },
      ],
    },
    {
      role: 'assistant',
      content: [
        { type: 'reasoning', value: 'hm' },
        { type: 'text', text: 'so' },
      ],
      tool_calls: [JSON.parse(CALL)],
    },
  ],
  ...UNTRANSLATED.map((value): [string, Json, Json] => [`${JSON.stringify(value)} stays as it is`, value, value]),
];

for (const [what, element, expected] of ELEMENTS)
  test(`an element of a conversation: ${what}`, () => assert.deepEqual(toChatElement(element), expected));
