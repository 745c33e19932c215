import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { codex } from '../../../../src/adapters/transcript/codex/codec.ts';
import { decodeRecord } from '../../../../src/adapters/transcript/codex/decode.ts';
import type { Decoded } from '../../../../src/core/transcript.ts';
import type { Json, RecordProblem } from '../../../../src/ports/codec.ts';
import { call, event, header, item, message, output, record, said, SUMMARY, turnContext } from './rollouts.ts';
import { type Fields as JsonObject, readEntries } from '../reading.ts';

const decode = (value: Json, line = 1): Decoded | RecordProblem => codex.open().observe(value, line);

function contentOf(payload: { readonly [key: string]: Json }): string | undefined {
  const decoded = decode(item(payload));
  return 'problem' in decoded ? decoded.problem : decoded.message?.content;
}

function kindOf(value: Json): { kind: string; isPrompt: boolean } | string {
  const decoded = decode(value);
  return 'problem' in decoded ? decoded.problem : { kind: decoded.kind, isPrompt: decoded.isPrompt === true };
}

suite('messages', () => {
  test('a message has its role, its texts and the time of its record', () => {
    const decoded = decode(record('response_item', { ...message('user', 'one', 'two'), id: 'msg_1' }, 7));
    assert.ok(!('problem' in decoded));
    assert.deepEqual(decoded.message, {
      id: 'msg_1',
      conversation_id: '',
      role: 'user',
      content: 'one\ntwo',
      created_at: new Date('2026-03-02T09:00:07.000Z'),
      parts: [
        { kind: 'text', text: 'one' },
        { kind: 'text', text: 'two' },
      ],
      typed: 'one\ntwo',
      ruleText: 'one\ntwo',
    });
  });

  test('without an id and a time it is known by its line, and no time is made up', () => {
    const decoded = decode({ type: 'response_item', timestamp: 'yesterday', payload: message('user', 'hi') }, 12);
    assert.ok(!('problem' in decoded));
    assert.deepEqual([decoded.message?.id, decoded.message?.created_at], ['line:12', null]);
  });

  test('pictures are no text, and a prompt of one is a prompt', () => {
    const picture = { type: 'message', role: 'user', content: [{ type: 'input_image', image_url: 'data:' }] };
    const decoded = decode(item(picture));
    assert.ok(!('problem' in decoded));
    assert.deepEqual([decoded.message?.content, decoded.isPrompt], ['', true]);
  });

  test("developer messages, and what Codex puts in the user's mouth for good, are instructions", () => {
    const texts = [
      '# AGENTS.md instructions for /w\n\n<INSTRUCTIONS>\nbe brief\n</INSTRUCTIONS>',
      '<environment_context>\n<cwd>/w</cwd>\n</environment_context>',
      '<user_instructions>\n\nbe brief\n\n</user_instructions>',
    ];
    const kinds = [said('developer', 'be brief'), ...texts.map((text) => said('user', text))].map(kindOf);
    assert.deepEqual(
      kinds,
      kinds.map(() => ({ kind: 'instruction', isPrompt: false })),
    );
  });

  test('what Codex reports as the user is said, but no prompt', () => {
    const texts = [
      '<turn_aborted>\nstopped\n</turn_aborted>',
      '<subagent_notification>{}</subagent_notification>',
      '<skill>\n<name>x</name>\n</skill>',
      '<user_shell_command>ls</user_shell_command>',
    ];
    const kinds = texts.map((text) => kindOf(said('user', text)));
    assert.deepEqual(
      kinds,
      kinds.map(() => ({ kind: 'message', isPrompt: false })),
    );
  });

  test('what a person types is a prompt, also about such things and with the context of an editor', () => {
    const texts = ['fix <environment_context>', '# Context from my IDE setup:\n\n## My request for Codex:\nfix it'];
    const kinds = texts.map((text) => kindOf(said('user', text)));
    assert.deepEqual(
      kinds,
      kinds.map(() => ({ kind: 'message', isPrompt: true })),
    );
  });

  test('words of another agent are a message that opens a turn and no prompt', () => {
    const decoded = decodeRecord(record('inter_agent_communication', { author: '/root/a', content: 'go on' }), 1);
    assert.ok(!('problem' in decoded));
    assert.deepEqual(
      [decoded.message?.name, decoded.message?.content, decoded.note, decoded.isPrompt],
      ['/root/a', 'go on', { kind: 'said', turnPart: 'opens' }, undefined],
    );
  });
});

suite('calls', () => {
  const calls: readonly [string, { readonly [key: string]: Json }, string][] = [
    ['function_call', { name: 'exec', arguments: '{"cmd":"ls"}', call_id: 'c' }, 'exec {"cmd":"ls"}'],
    ['function_call', { name: 'view', namespace: 'atlas', arguments: '{}', call_id: 'c' }, 'atlas.view {}'],
    ['custom_tool_call', { name: 'apply_patch', input: '*** Begin', call_id: 'c' }, 'apply_patch *** Begin'],
    ['local_shell_call', { action: { command: ['ls'] }, call_id: 'c' }, 'local_shell {"command":["ls"]}'],
    ['tool_search_call', { arguments: { query: 'x' }, call_id: 'c' }, 'tool_search {"query":"x"}'],
    ['web_search_call', { action: { query: 'x' }, id: 'c' }, 'web_search {"query":"x"}'],
    [
      'image_generation_call',
      { revised_prompt: 'a cat', result: 'AAAA', id: 'c' },
      'image_generation {"prompt":"a cat"}',
    ],
  ];
  for (const [type, more, content] of calls) {
    test(`${content} is what a ${type} says`, () => {
      const decoded = decode(item({ type, ...more }));
      assert.ok(!('problem' in decoded));
      assert.deepEqual([decoded.message?.role, decoded.message?.content, decoded.calls], ['assistant', content, ['c']]);
    });
  }

  test('a call without an id is said and never answered', () => {
    const decoded = decode(item({ type: 'web_search_call', action: { query: 'x' } }));
    assert.ok(!('problem' in decoded));
    assert.deepEqual([decoded.kind, decoded.calls], ['message', undefined]);
  });

  test('an output is text, parts without their pictures, or what an object holds', () => {
    const parts: readonly Json[] = [
      { type: 'input_text', text: 'a' },
      { type: 'input_image', image_url: 'data:' },
    ];
    const outputs: readonly Json[] = ['a', parts, { content: 'a', success: false }];
    assert.deepEqual(
      outputs.map((value) => contentOf({ type: 'function_call_output', call_id: 'c', output: value })),
      ['a', 'a', 'a'],
    );
  });

  test('the text that older versions wrapped in JSON is unwrapped, other JSON is not', () => {
    const wrapped = JSON.stringify({ output: 'listing', metadata: { exit_code: 0 } });
    const other = JSON.stringify({ output: 'listing' });
    const torn = '{"output":"list';
    assert.deepEqual(
      [wrapped, other, torn].map((value) => contentOf({ type: 'function_call_output', call_id: 'c', output: value })),
      ['listing', other, torn],
    );
  });

  test('what a search for tools found is told by their names', () => {
    const found = { type: 'tool_search_output', call_id: 'c', tools: [{ name: 'a' }, { name: 'b' }] };
    assert.equal(contentOf(found), 'a\nb');
  });

  test('what the model says, thinks and calls until something else is said is one answer', () => {
    const records = [said('user', 'q'), item({ type: 'reasoning' }), said('assistant', 'a'), call('1'), call('2')];
    const { entries } = readEntries('codex', [...records, output('1'), output('2'), said('assistant', 'b')]);
    assert.deepEqual(
      entries.map(({ groupKey }) => groupKey),
      [undefined, undefined, 'answer:2', 'answer:2', 'answer:2', undefined, undefined, 'answer:8'],
    );
  });
});

suite('other records', () => {
  test('the first session_meta is the header and names the conversation, later ones are not', () => {
    const { entries } = readEntries('codex', [header(), header({ id: 'parent' })]);
    assert.deepEqual(
      entries.map(({ kind, conversation }) => [kind, conversation]),
      [
        ['header', 'thread-1'],
        ['meta', undefined],
      ],
    );
  });

  test('a line that is read again is what it was', () => {
    const records = [header(), header({ id: 'parent' }), said('user', 'q'), said('assistant', 'a')];
    const { entries, session } = readEntries('codex', records);
    const again = records.map((value, index) => session.decode(value, index + 1));
    assert.deepEqual(
      again.map((one) => ('problem' in one ? one.problem : one.kind)),
      entries.map(({ kind }) => kind),
    );
  });

  test('the latest turn_context stays, and every change of the surroundings since they were noted in full', () => {
    const state = (full: boolean): Json => record('world_state', { full, state: {} });
    const { entries } = readEntries('codex', [
      turnContext(),
      state(true),
      state(false),
      state(false),
      state(true),
      state(false),
    ]);
    assert.deepEqual(
      entries.map(({ latestKey }) => latestKey),
      ['turn_context', 'world_state', 'world_state+1', 'world_state+2', 'world_state', 'world_state+1'],
    );
  });

  test('a count of tokens states the size of the context, limits alone do not', () => {
    const events = [event('token_count', { info: {} }), event('token_count', { info: null })];
    assert.deepEqual(
      events.map((one) => decodeRecord(one, 1)),
      [{ kind: 'meta', note: { kind: 'context-size' } }, { kind: 'meta' }],
    );
  });

  test('records of unknown types, and what is no record, are carried', () => {
    for (const value of [record('tomorrow', 5), { a: 1 }, 7, null, ['x'], item({ type: 'novelty' })])
      assert.deepEqual(kindOf(value), { kind: 'meta', isPrompt: false });
  });
});

const OLD_HEADER = { id: 'thread-1', timestamp: '2025-07-01T10:00:00.000Z', instructions: 'be brief', git: {} };
const clip: JsonObject = { type: 'message', role: 'system', content: [{ type: 'input_text', text: SUMMARY }] };

const kinds = (...records: readonly JsonObject[]): readonly string[] =>
  readEntries('responses-items', records).entries.map(({ kind }) => kind);

test('the first line of an older rollout is its header, and names the conversation', () => {
  const { entries } = readEntries('responses-items', [
    OLD_HEADER,
    { record_type: 'state' },
    message('user', 'x'),
    OLD_HEADER,
  ]);
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
  const { entries, session } = readEntries('responses-items', records);
  const again = records.map((value, index) => session.decode(value, index + 1));
  assert.deepEqual(
    again.map((one) => ('problem' in one ? one.problem : one.kind)),
    entries.map(({ kind }) => kind),
  );
});

test('thoughts go with the answer that follows them', () => {
  const { entries, session } = readEntries('responses-items', [
    { type: 'reasoning', summary: [] },
    message('assistant', 'x'),
  ]);
  assert.deepEqual(entries.map(session.readContext(entries).anchorOf ?? (() => null)), [2, null]);
});
