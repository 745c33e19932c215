import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import * as fc from 'fast-check';
import { readLogLine } from '../../../src/adapters/transcript/gemini/decode.ts';
import { findCodec, CODECS } from '../../support/codecs.ts';
import type { Decoded } from '../../../src/core/transcript.ts';
import type { Json, RecordProblem } from '../../../src/ports/codec.ts';
import { runsOf } from '../../support/runs.ts';

type Fields = { readonly [key: string]: unknown };

/** What a format makes of a record on the first line of a file. */
function observe(format: string, value: unknown): Decoded | RecordProblem {
  const json: Json = JSON.parse(JSON.stringify(value));
  return findCodec(format)?.open().observe(json, 1) ?? assert.fail(format);
}

const isString = (value: unknown): value is string => typeof value === 'string';
const isRecord = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isContent = (value: unknown): boolean => isString(value) || Array.isArray(value);
const isMissing = (value: unknown): boolean => value === undefined || value === null;

const odd = fc.oneof(fc.constantFrom(null, true, 7, 'text', ''), fc.constant([]), fc.constant({}));
const oddContent = fc.oneof(odd, fc.array(odd));
/** Records in which each of the keys is missing, or has a value of some kind. */
const fields = (of: Readonly<Record<string, fc.Arbitrary<unknown>>>, ...required: string[]): fc.Arbitrary<Fields> =>
  fc.record(of, { requiredKeys: required });

/** Records of a format, and which of them it refuses; all others it must read or carry along. */
type Refusals = {
  readonly format: string;
  readonly what: string;
  readonly records: fc.Arbitrary<Fields>;
  readonly wrap?: (record: Fields) => Fields;
  readonly isRefused: (record: Fields) => boolean;
};

const codexMessages = {
  what: 'messages',
  records: fields({ type: fc.constant('message'), role: odd, content: oddContent }, 'type'),
  isRefused: ({ role, content }: Fields) => !isString(role) || !isContent(content),
};

const REFUSALS: readonly Refusals[] = [
  {
    format: 'claude-code',
    what: 'messages',
    records: fields(
      {
        type: fc.constantFrom('user', 'assistant'),
        uuid: odd,
        parentUuid: odd,
        message: fc.oneof(odd, fields({ role: odd, content: oddContent })),
      },
      'type',
    ),
    isRefused: ({ uuid, parentUuid, message }) =>
      !isRecord(message) ||
      !isContent(message['content']) ||
      !(message['role'] === undefined || isString(message['role'])) ||
      [uuid, parentUuid].some((id) => !isMissing(id) && !isString(id)),
  },
  {
    format: 'codex',
    what: 'records of known types',
    records: fields(
      {
        type: fc.constantFrom('response_item', 'compacted', 'event_msg', 'turn_context', 'inter_agent_communication'),
        timestamp: odd,
        ordinal: odd,
        payload: odd,
      },
      'type',
    ),
    isRefused: ({ payload }) => !isRecord(payload),
  },
  { format: 'codex', ...codexMessages, wrap: (payload) => ({ type: 'response_item', payload }) },
  { format: 'responses-items', ...codexMessages },
  {
    format: 'gemini',
    what: 'messages',
    records: fields(
      {
        id: fc.constant('a'),
        type: fc.constantFrom('user', 'gemini'),
        timestamp: odd,
        content: odd,
        toolCalls: odd,
      },
      'id',
      'type',
    ),
    isRefused: ({ content, toolCalls }) =>
      (!isMissing(content) && !isString(content) && typeof content !== 'object') ||
      (!isMissing(toolCalls) && !Array.isArray(toolCalls)),
  },
  {
    format: 'pi',
    what: 'messages and compactions',
    records: fields(
      {
        type: fc.constantFrom('message', 'compaction'),
        summary: odd,
        message: fc.oneof(
          odd,
          fields({
            role: fc.oneof(
              odd,
              fc.constantFrom('user', 'assistant', 'toolResult', 'custom', 'bashExecution', 'branchSummary', 'robot'),
            ),
            content: oddContent,
            summary: odd,
          }),
        ),
      },
      'type',
    ),
    isRefused: ({ type, summary, message }) => {
      if (type === 'compaction') return !isString(summary);
      if (!isRecord(message) || !isString(message['role'])) return true;
      if (message['role'] === 'branchSummary') return !isString(message['summary']);
      const hasContent = ['user', 'assistant', 'toolResult', 'custom'].includes(message['role']);
      return hasContent && !isContent(message['content']);
    },
  },
  {
    format: 'copilot',
    what: 'events that are sent',
    records: fields(
      {
        type: fc.constantFrom('user.message', 'assistant.message', 'tool.execution_complete', 'system.notification'),
        data: fields({
          content: odd,
          toolCallId: odd,
          isUserRequested: fc.boolean(),
          kind: fc.oneof(
            odd,
            fields({ type: fc.constantFrom('shell_completed', 'instruction_discovered', 5) }, 'type'),
          ),
        }),
      },
      'type',
      'data',
    ),
    isRefused: ({ type, data }) => {
      const { content, toolCallId, isUserRequested, kind } = Object(data);
      if (type === 'tool.execution_complete') return isUserRequested !== true && !isString(toolCallId);
      if (type === 'system.notification' && Object(kind).type === 'instruction_discovered') return false;
      return !isString(content);
    },
  },
];

for (const { format, what, records, wrap = (record: Fields) => record, isRefused } of REFUSALS)
  test(`${format}: of ${what}, those that the program could not read are problems, and no others`, () => {
    fc.assert(
      fc.property(records, (record) => {
        assert.equal('problem' in observe(format, wrap(record)), isRefused(JSON.parse(JSON.stringify(record))));
      }),
      { numRuns: runsOf(500) },
    );
  });

suite('calls and results', () => {
  type Block = {
    readonly format: string;
    readonly types: readonly string[];
    readonly wrap: (block: Fields) => Fields;
    /** By type: the key of the id with which a block is a call or a result, and where the text of a text block is. */
    readonly call: (block: Fields) => unknown;
    readonly result?: (block: Fields) => unknown;
    readonly more?: Readonly<Record<string, fc.Arbitrary<unknown>>>;
  };
  const BLOCKS: readonly Block[] = [
    {
      format: 'claude-code',
      types: ['text', 'tool_use', 'mcp_tool_use', 'tool_result', 'thinking'],
      more: { name: fc.constant('Read'), content: fc.constantFrom('ok', []) },
      wrap: (block) => ({ type: 'user', message: { content: [block] } }),
      call: ({ type, id }) => (String(type).endsWith('tool_use') ? id : null),
      result: ({ type, tool_use_id: id }) => (type === 'tool_result' ? id : null),
    },
    {
      format: 'codex',
      types: ['function_call', 'custom_tool_call', 'function_call_output'],
      wrap: (payload) => ({ type: 'response_item', payload: { ...payload, id: undefined } }),
      call: ({ type, call_id: id }) => (String(type).endsWith('_call') ? id : null),
      result: ({ type, call_id: id }) => (type === 'function_call_output' ? id : null),
    },
    {
      format: 'pi',
      types: ['text', 'toolCall', 'thinking', 'image'],
      more: { name: fc.constant('read'), arguments: odd },
      wrap: (block) => ({ type: 'message', message: { role: 'assistant', content: [block] } }),
      call: ({ type, id }) => (type === 'toolCall' ? id : null),
    },
    {
      format: 'copilot',
      types: ['any'],
      more: { toolCallId: odd, name: fc.constant('view'), arguments: odd },
      wrap: (block) => ({ type: 'assistant.message', data: { content: '', toolRequests: [block] } }),
      call: ({ toolCallId }) => toolCallId,
    },
  ];
  for (const { format, types, more = {}, wrap, call, result = () => null } of BLOCKS)
    test(`${format}: a block is one exactly if it has its id, and a text says what it says`, () => {
      const block = fields(
        { type: fc.constantFrom(...types), text: odd, id: odd, tool_use_id: odd, call_id: odd, ...more },
        'type',
      );
      fc.assert(
        fc.property(block, (one) => {
          const decoded = observe(format, wrap(one));
          assert.ok(!('problem' in decoded));
          assert.equal(decoded.calls?.length ?? 0, isString(call(one)) ? 1 : 0);
          assert.equal(decoded.results?.length ?? 0, isString(result(one)) ? 1 : 0);
          if (one['type'] === 'text' && isString(one['text'])) assert.equal(decoded.message?.content, one['text']);
        }),
        { numRuns: runsOf(500) },
      );
    });
});

test('gemini: a line is a rewind, an update or metadata exactly if it has the keys of one', () => {
  const set = fc.oneof(odd, fields({ messages: odd }));
  const kindOf = ({ $rewindTo: to, $set: update, sessionId, projectHash }: Fields): string => {
    if (isString(to)) return 'rewind';
    if (isRecord(update)) return Array.isArray(update['messages']) ? 'checkpoint' : 'update';
    return isString(sessionId) && isString(projectHash) ? 'metadata' : 'other';
  };
  fc.assert(
    fc.property(fields({ $rewindTo: odd, $set: set, sessionId: odd, projectHash: odd }), (record) => {
      assert.equal(readLogLine(JSON.parse(JSON.stringify(record))).kind, kindOf(record));
    }),
  );
});

/** Records that a program could not read, and what is said of them. */
const PROBLEMS: readonly (readonly [format: string, record: Fields, problem: string])[] = [
  ['claude-code', { type: 'user' }, 'a user record without a message'],
  ['claude-code', { type: 'assistant', message: 'hello' }, 'an assistant record without a message'],
  [
    'claude-code',
    { type: 'user', message: { content: 7 } },
    "a user record whose message's content is neither text nor a list",
  ],
  [
    'claude-code',
    { type: 'user', message: { role: 7, content: 'x' } },
    "a user record whose message's role is not a string",
  ],
  ['claude-code', { type: 'user', uuid: 7, message: { content: 'x' } }, 'a user record whose uuid is not a string'],
  [
    'claude-code',
    { type: 'user', parentUuid: {}, message: { content: 'x' } },
    'a user record whose parentUuid is not a string',
  ],
  ['codex', { type: 'response_item', payload: null }, 'a response_item record without a payload'],
  [
    'codex',
    { type: 'response_item', payload: { type: 'message', role: 5, content: [] } },
    'a message whose role is not a string',
  ],
  ['pi', { type: 'message' }, 'a message entry without a message'],
  ['pi', { type: 'message', message: { role: 5 } }, "a message entry whose message's role is not a string"],
  [
    'pi',
    { type: 'message', message: { role: 'user' } },
    "a message entry whose user message's content is neither text nor a list",
  ],
  ['pi', { type: 'compaction', summary: null }, 'a compaction entry whose summary is not a string'],
  ['copilot', { type: 'user.message' }, 'a user.message event whose content is not a string'],
  [
    'copilot',
    { type: 'assistant.message', data: { content: null } },
    'an assistant.message event whose content is not a string',
  ],
  [
    'copilot',
    { type: 'tool.execution_complete', data: { success: true } },
    'a tool.execution_complete event that names no call',
  ],
  [
    'copilot',
    { type: 'system.notification', data: { content: 4 } },
    'a system.notification event whose content is not a string',
  ],
  ['gemini', { id: 'a', type: 'user', content: 7 }, 'a user message whose content is neither text nor parts'],
  ['gemini', { id: 'b', type: 'gemini', toolCalls: 'none' }, 'a gemini message whose toolCalls are not a list'],
];
for (const [format, record, problem] of PROBLEMS)
  test(`${format}: ${problem} is a problem`, () => assert.deepEqual(observe(format, record), { problem }));

const DEEP: Json = JSON.parse(`${'['.repeat(20_000)}${']'.repeat(20_000)}`);
const DEEP_CALLS: readonly (readonly [format: string, record: Json, what: string])[] = [
  [
    'claude-code',
    { type: 'assistant', message: { content: [{ type: 'tool_use', id: 't', name: 'f', input: DEEP }] } },
    'a message that is',
  ],
  [
    'codex',
    { type: 'response_item', payload: { type: 'local_shell_call', call_id: 'c', action: { DEEP } } },
    'an item that is',
  ],
  ['gemini', { id: 'b', type: 'gemini', toolCalls: [{ id: 'x', name: 'f', args: { DEEP } }] }, 'a message that is'],
  [
    'pi',
    { type: 'message', message: { role: 'assistant', content: [{ type: 'toolCall', id: 'c', arguments: { DEEP } }] } },
    'a call whose arguments are',
  ],
  [
    'copilot',
    { type: 'assistant.message', data: { content: '', toolRequests: [{ toolCallId: 'c', arguments: { DEEP } }] } },
    'a call whose arguments are',
  ],
];
for (const [format, record, what] of DEEP_CALLS)
  test(`${format}: a call that is nested too deeply is a problem, not a crash`, () => {
    const problem = `${what} nested too deeply to be read`;
    assert.deepEqual(findCodec(format)?.open().observe(record, 1), { problem });
  });

for (const format of ['claude-code', 'codex', 'gemini', 'pi', 'copilot', 'qwen', 'kimi-code', 'droid', 'cursor'])
  test(`${format}: values that are no record of it are carried along`, () => {
    for (const value of [null, true, 7, 'text', [], [{ type: 'user' }], {}, { type: 7 }])
      assert.deepEqual(observe(format, value), { kind: 'meta' });
  });

/** Where each format keeps what is said, so that odd values come to the code that reads it. */
const PLACES: readonly ((value: Json) => Json)[] = [
  (value) => value,
  (message) => ({ type: 'user', uuid: 'u', parentUuid: null, sessionId: 's', message, origin: message }),
  (value) => ({ type: 'assistant', message: { content: [value], parts: [value] } }),
  (compactMetadata) => ({ type: 'system', subtype: 'compact_boundary', uuid: 'b', compactMetadata }),
  (attachment) => ({ type: 'attachment', uuid: 'a', attachment }),
  (payload) => ({ type: 'response_item', payload }),
  (value) => ({ id: 'a', type: 'gemini', content: value, toolCalls: [value] }),
  (messages) => ({ $set: { messages } }),
  (message) => ({ type: 'message', id: 'a', parentId: null, message }),
  (value) => ({ type: 'compaction', summary: 's', firstKeptEntryId: value, firstKeptEntryIndex: value }),
  (data) => ({ type: 'session.compaction_complete', id: 'a', parentId: null, data }),
  (event) => ({ type: 'context.append_loop_event', event }),
];

for (const { format, open } of CODECS.filter((codec) => codec.records === undefined))
  test(`${format.name}: any JSON value is read, carried along or a problem that says what is wrong`, () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.jsonValue(), fc.constantFrom(...PLACES)), { maxLength: 8 }), (values) => {
        const session = open();
        for (const [at, [value, place]] of values.entries()) {
          const decoded = session.observe(JSON.parse(JSON.stringify(place(JSON.parse(JSON.stringify(value))))), at + 1);
          assert.ok('problem' in decoded ? decoded.problem !== '' : decoded.kind !== 'opaque');
        }
      }),
    );
  });
