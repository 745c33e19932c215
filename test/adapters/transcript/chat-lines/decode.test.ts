import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import * as fc from 'fast-check';
import { chatLines } from '../../../../src/adapters/transcript/chat-lines/codec.ts';
import { decodeOne, messageOf, mustDecode, readRecords } from './sessions.ts';

suite('a message of OpenAI', () => {
  test('is its role, its text and its name', () => {
    assert.deepEqual(decodeOne({ role: 'user', content: 'hello', name: 'ada' }), {
      kind: 'message',
      isPrompt: true,
      message: {
        id: 'line:1',
        conversation_id: '',
        role: 'user',
        name: 'ada',
        content: 'hello',
        created_at: null,
        parts: [{ kind: 'text', text: 'hello' }],
        typed: 'hello',
      },
    });
  });

  test('has the names and arguments of its calls in its content', () => {
    const call = { id: 'c1', type: 'function', function: { name: 'look', arguments: '{"at": 1}' } };
    assert.deepEqual(decodeOne({ role: 'assistant', content: null, tool_calls: [call] }), {
      kind: 'message',
      calls: ['c1'],
      message: {
        id: 'line:1',
        conversation_id: '',
        role: 'assistant',
        content: 'look {"at": 1}',
        tool_calls: [{ id: 'c1', name: 'look', arguments: '{"at": 1}' }],
        created_at: null,
        parts: [{ kind: 'call', id: 'c1', name: 'look', arguments: '{"at": 1}' }],
      },
    });
  });

  test('that is a result names its call', () => {
    assert.deepEqual(decodeOne({ role: 'tool', tool_call_id: 'c1', content: 'found' }), {
      kind: 'message',
      results: ['c1'],
      message: {
        id: 'line:1',
        conversation_id: '',
        role: 'tool',
        content: 'found',
        tool_call_id: 'c1',
        created_at: null,
        parts: [{ kind: 'result', callId: 'c1', text: 'found', isError: false }],
      },
    });
  });

  test('in parts has the text of its text parts, and no media', () => {
    const content = [
      { type: 'text', text: 'one' },
      { type: 'image_url', image_url: { url: 'data:xyz' } },
      { type: 'refusal', refusal: 'two' },
      'three',
    ];
    assert.equal(messageOf({ role: 'user', content }).content, 'one\ntwo\nthree');
  });

  test('has its text before its calls', () => {
    const tool_calls = [{ id: 'a', type: 'custom', custom: { name: 'patch', input: '*** Begin' } }];
    assert.equal(messageOf({ role: 'assistant', content: 'So:', tool_calls }).content, 'So:\npatch *** Begin');
  });

  test('with an empty list of calls makes none', () => {
    const { message, calls } = decodeOne({ role: 'assistant', content: 'x', tool_calls: [] });
    assert.deepEqual([message?.tool_calls, calls], [undefined, undefined]);
  });

  test('with the older function_call pairs with the function that answers', () => {
    const { decoded } = readRecords(
      { role: 'assistant', content: null, function_call: { name: 'f', arguments: '{}' } },
      { role: 'function', name: 'f', content: 'done' },
    );
    assert.deepEqual(
      [decoded[0]?.calls, decoded[1]?.results, decoded[1]?.message?.role],
      [['call:1:0'], ['call:1:0'], 'tool'],
    );
  });
});

suite('a message of Anthropic', () => {
  test('leaves thinking and media out', () => {
    const content = [
      { type: 'thinking', thinking: 'secret', signature: 'x' },
      { type: 'text', text: 'seen' },
      { type: 'image', source: { type: 'base64', data: 'eA==' } },
    ];
    assert.equal(messageOf({ role: 'assistant', content }).content, 'seen');
  });

  test('has its calls as blocks', () => {
    const block = { type: 'tool_use', id: 't1', name: 'look', input: { at: 1 } };
    const { message, calls } = decodeOne({ role: 'assistant', content: [block] });
    const call = { id: 't1', name: 'look', arguments: '{"at":1}' };
    assert.deepEqual([message?.content, message?.tool_calls, calls], ['look {"at":1}', [call], ['t1']]);
  });

  test("of a user's that holds results is a tool's and no prompt", () => {
    const content = [
      {
        type: 'tool_result',
        tool_use_id: 't1',
        content: [{ type: 'text', text: 'a' }, { type: 'image' }],
        is_error: true,
      },
      { type: 'tool_result', tool_use_id: 't2', content: 'b' },
      { type: 'text', text: 'and now?' },
    ];
    assert.deepEqual(decodeOne({ role: 'user', content }), {
      kind: 'message',
      results: ['t1', 't2'],
      message: {
        id: 'line:1',
        conversation_id: '',
        role: 'tool',
        content: 'a\nb\nand now?',
        tool_call_id: 't1',
        created_at: null,
        parts: [
          { kind: 'result', callId: 't1', text: 'a', isError: true },
          { kind: 'result', callId: 't2', text: 'b', isError: false },
          { kind: 'text', text: 'and now?' },
        ],
      },
    });
  });

  test("of an assistant's whose server ran a tool stays the assistant's", () => {
    const content = [
      { type: 'server_tool_use', id: 's1', name: 'web_search', input: {} },
      { type: 'web_search_tool_result', tool_use_id: 's1', content: [] },
    ];
    const { message, calls, results } = decodeOne({ role: 'assistant', content });
    assert.deepEqual([message?.role, calls, results], ['assistant', ['s1'], ['s1']]);
  });
});

suite('a row of a database', () => {
  const row = {
    id: 17,
    conversation_id: 'c1',
    role: 'assistant',
    content: 'Let me look.',
    tool_calls: [{ type: 'tool_use', id: 't1', name: 'look', input: { at: 1 } }],
    created_at: '2031-01-02 10:00:00.123456+00',
  };

  test('has its id, its conversation and its time', () => {
    const { conversation, message } = decodeOne(row);
    assert.deepEqual(
      [conversation, message?.id, message?.conversation_id, message?.created_at],
      ['c1', '17', 'c1', new Date('2031-01-02T10:00:00.123Z')],
    );
  });

  test('has the same calls whether they are a list or the JSON text of one', () => {
    assert.deepEqual(messageOf({ ...row, tool_calls: JSON.stringify(row.tool_calls) }), messageOf(row));
    assert.equal(messageOf(row).content, 'Let me look.\nlook {"at":1}');
  });

  test('with calls that are no JSON has them as text', () => {
    assert.equal(messageOf({ ...row, tool_calls: 'look(1)' }).content, 'Let me look.\nlook(1)');
  });

  test('that writes a call twice, as a block and in its column, makes it once', () => {
    const twice = { ...row, content: row.tool_calls };
    assert.deepEqual(decodeOne(twice).calls, ['t1']);
  });

  test('without a role belongs to its conversation and is carried', () => {
    assert.deepEqual(decodeOne({ conversation_id: 4, note: 'x' }), { kind: 'meta', conversation: '4' });
  });
});

suite('records of Kimi', () => {
  test('that begin with an underscore are carried, the latest of each kind', () => {
    assert.deepEqual(decodeOne({ role: '_checkpoint', id: 3 }), { kind: 'meta', latestKey: '_checkpoint' });
    assert.deepEqual(decodeOne({ role: '_anything', content: 'x' }), { kind: 'meta', latestKey: '_anything' });
  });

  test('hold a system prompt that is an instruction', () => {
    const { kind, message } = decodeOne({ role: '_system_prompt', content: 'Be kind.' });
    assert.deepEqual([kind, message?.role, message?.content], ['instruction', 'system', 'Be kind.']);
  });

  test('hold think parts that are left out', () => {
    const content = [
      { type: 'think', think: 'hm' },
      { type: 'text', text: 'yes' },
    ];
    assert.equal(messageOf({ role: 'assistant', content }).content, 'yes');
  });

  test('hold notes of the client in the role of the user, which are no prompts', () => {
    const isPrompt = (text: string): boolean | undefined =>
      decodeOne({ role: 'user', content: [{ type: 'text', text }] }).isPrompt;
    assert.equal(isPrompt('<system>CHECKPOINT 3</system>'), undefined);
    assert.equal(isPrompt('<system>CHECKPOINT 3</system> Go on.'), true);
    assert.equal(isPrompt('<system> is a tag that I do not know'), true);
  });
});

suite('what is a prompt', () => {
  const isPrompt = (record: unknown): boolean | undefined => decodeOne(record).isPrompt;

  test("only a user's words are one", () => {
    assert.equal(isPrompt({ role: 'user', content: 'x' }), true);
    assert.equal(isPrompt({ role: 'assistant', content: 'x' }), undefined);
    assert.equal(isPrompt({ role: 'system', content: 'x' }), undefined);
    assert.equal(isPrompt({ role: 'critic', content: 'x' }), undefined);
  });

  test('blank text and images alone are none', () => {
    assert.equal(isPrompt({ role: 'user', content: ' \n' }), undefined);
    assert.equal(isPrompt({ role: 'user', content: [{ type: 'image_url' }] }), undefined);
  });
});

suite('odd records', () => {
  test('without a role, or that are no records, are carried', () => {
    for (const value of [{ note: 1 }, [1], 'text', 5, null, true]) assert.deepEqual(decodeOne(value), { kind: 'meta' });
  });

  test('with content are a problem only if their role is no text', () => {
    const role = fc.option(fc.oneof(fc.string(), fc.integer(), fc.constant(null), fc.constant(['user'])), {
      nil: undefined,
    });
    fc.assert(
      fc.property(role, fc.jsonValue(), (given, content) => {
        const record = JSON.parse(JSON.stringify({ role: given, content }));
        const decoded = chatLines.open().observe(record, 1);
        const problem = 'problem' in decoded ? decoded.problem : null;
        const isRefused = given !== undefined && typeof given !== 'string';
        assert.equal(problem, isRefused ? 'a record whose role is not a string' : null);
      }),
    );
  });

  test('with a role of nobody speak as a user of that name', () => {
    const { role, name } = messageOf({ role: 'critic', content: 'x' });
    assert.deepEqual([role, name], ['user', 'critic']);
  });

  test('of Cursor are carried', () => {
    assert.deepEqual(decodeOne({ role: 'user', message: { content: 'x' } }), { kind: 'meta' });
  });

  test('with content that is neither text nor a list have it as JSON', () => {
    assert.equal(messageOf({ role: 'tool', content: { ok: true } }).content, '{"ok":true}');
  });

  test('with nothing to say are empty messages', () => {
    assert.equal(messageOf({ role: 'assistant', content: null }).content, '');
    assert.equal(messageOf({ role: 'assistant' }).content, '');
  });

  test('with words that stand where they are not read are a problem, and not an empty message', () => {
    const segments = [{ type: 'text', text: 'hello there' }];
    for (const [record, key] of [
      [{ role: 'user', segments }, 'segments'],
      [{ role: 'user', content: null, text: 'hello' }, 'text'],
      [{ role: 'user', utterance: 'hello there' }, 'utterance'],
    ] as const) {
      const problem = `a message of role ${record.role} whose text is under ${key}, where it is not read`;
      assert.deepEqual(chatLines.open().observe(record, 1), { problem });
    }
  });

  test('with words in the parts of a UI message, beside empty content too, have these words', () => {
    const parts = [{ type: 'text', text: 'hello there' }];
    assert.equal(messageOf({ role: 'user', parts }).content, 'hello there');
    assert.equal(messageOf({ id: 'm1', role: 'assistant', content: '', parts }).content, 'hello there');
  });

  test('with times, ids and thoughts beside no content are empty messages', () => {
    const aside = {
      id: 'a1',
      created_at: '2026-03-01 09:30:00+00',
      reasoning_content: 'I think so',
      usage: { tokens: 4 },
    };
    assert.equal(messageOf({ role: 'assistant', ...aside }).content, '');
    assert.equal(messageOf({ role: 'assistant', content: '', annotations: [{}], ...aside }).content, '');
    assert.equal(messageOf({ role: 'assistant', content: null, parts: [] }).content, '');
  });

  test('with a refusal or a sound in the place of content say its words', () => {
    assert.equal(messageOf({ role: 'assistant', content: null, refusal: 'I may not' }).content, 'I may not');
    const audio = { id: 'x', data: 'UklGRg', transcript: 'as I said' };
    assert.equal(messageOf({ role: 'assistant', content: null, audio }).content, 'as I said');
  });

  test('with blocks that are not known are read as JSON', () => {
    const content = [{ bearing: { degrees: 40, name: 'look', of: { at: 'the boat' } } }];
    const read = '{"bearing":{"degrees":40,"name":"look","of":{"at":"the boat"}}}';
    assert.equal(messageOf({ role: 'assistant', content }).content, read);
  });

  test('with a key __proto__ have no other role than their own', () => {
    const record = JSON.parse('{"__proto__":{"role":"tool"},"role":"user","content":"x"}');
    assert.equal(mustDecode(chatLines.open(), record, 1).message?.role, 'user');
  });

  test('with arguments nested too deeply to be written are a problem', () => {
    const input = JSON.parse(`${'['.repeat(100_000)}${']'.repeat(100_000)}`);
    const content = [{ type: 'tool_use', id: 'a', name: 'f', input }];
    const decoded = chatLines.open().observe({ role: 'assistant', content }, 1);
    assert.deepEqual(decoded, { problem: 'a record that is nested too deeply to be read' });
  });
});

suite('decoding', () => {
  const keys = fc.constantFrom(
    'role',
    'content',
    'tool_calls',
    'tool_call_id',
    'type',
    'text',
    'id',
    'created_at',
    'conversation_id',
  );
  const leaf = fc.oneof(
    fc.constantFrom(
      'user',
      'assistant',
      'tool',
      'system',
      '_usage',
      'text',
      'tool_use',
      'tool_result',
      '[Context Summary —',
      '[{}]',
      '',
    ),
    fc.integer(),
    fc.constant(null),
    fc.boolean(),
  );
  const { record } = fc.letrec((tie) => ({
    value: fc.oneof({ maxDepth: 4 }, leaf, tie('record'), fc.array(tie('value'), { maxLength: 4 })),
    record: fc.dictionary(keys, tie('value'), { maxKeys: 6 }),
  }));
  const values = fc.array(
    record.map((one) => JSON.parse(JSON.stringify(one))),
    { maxLength: 12 },
  );

  test('never throws, whatever the records are', () => {
    fc.assert(
      fc.property(values, (records) => {
        const session = chatLines.open();
        records.forEach((one, index) => session.observe(one, index + 1));
      }),
    );
  });

  test('of a line a second time gives the same', () => {
    fc.assert(
      fc.property(values, (records) => {
        const session = chatLines.open();
        const first = records.map((one, index) => session.observe(one, index + 1));
        const second = records.map((one, index) => session.decode(one, index + 1));
        assert.deepEqual(second, first);
      }),
    );
  });
});
