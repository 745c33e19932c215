import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { ConversationMessage } from '../../../../src/core/message.ts';
import type { Decoded } from '../../../../src/core/transcript.ts';
import type { Json } from '../../../../src/ports/codec.ts';

import { brought, calling, model, readSession, response, user } from './sessions.ts';
import { type Fields as JsonObject } from '../reading.ts';

function decode(record: Json): Decoded {
  const { session } = readSession();
  const decoded = session.observe(record, 1);
  assert.ok(!('problem' in decoded), JSON.stringify(decoded));
  return decoded;
}

function messageOf(record: Json): ConversationMessage {
  return decode(record).message ?? assert.fail('no message');
}

suite('a message', () => {
  test('of the user is a prompt, with its id, its time and its words', () => {
    assert.deepEqual(decode(user('a', 'Why is it slow?')), {
      kind: 'message',
      isPrompt: true,
      message: {
        id: 'a',
        conversation_id: '',
        role: 'user',
        content: 'Why is it slow?',
        created_at: new Date('2026-03-02T09:00:00.000Z'),
        parts: [{ kind: 'text', text: 'Why is it slow?' }],
        typed: 'Why is it slow?',
        ruleText: 'Why is it slow?',
      },
    });
  });

  test('of the model has its calls with their results', () => {
    const { calls, results, message } = decode(calling('b', 'x', 'forty lines'));
    assert.deepEqual({ calls, results }, { calls: ['x'], results: ['x'] });
    assert.equal(message?.role, 'assistant');
    assert.equal(message.content, 'look {"at":"x"}\nforty lines');
    assert.deepEqual(message.parts, [
      { kind: 'call', id: 'x', name: 'look', arguments: '{"at":"x"}' },
      { kind: 'result', callId: 'x', text: 'forty lines', isError: false },
    ]);
  });

  test('tells a call once that stands in its content as well', () => {
    const call: JsonObject = { functionCall: { id: 'x', name: 'look', args: { at: 'x' } } };
    const both = { ...calling('b', 'x', 'done'), content: [{ text: 'I look.' }, call] };
    assert.equal(messageOf(both).content, 'I look.\nlook {"at":"x"}\ndone');
  });

  test('does not tell thoughts, counts and what stands on the screen', () => {
    const thinking = model('b', '', {
      content: [{ text: 'hm', thought: true }, { text: 'So be it.' }],
      thoughts: [{ subject: 'Plan', description: 'secret' }],
      displayContent: [{ text: 'shown' }],
      tokens: { input: 900_000 },
    });
    assert.equal(messageOf(thinking).content, 'So be it.');
  });

  test('may have one part, texts without parts, or plain text for its content', () => {
    const contents: readonly Json[] = ['plain', { text: 'one part' }, ['bare, ', { text: 'and a part' }]];
    assert.deepEqual(
      contents.map((content) => messageOf({ ...user('a', ''), content }).content),
      ['plain', 'one part', 'bare, \nand a part'],
    );
  });

  test('that brought results to the model is of the tool', () => {
    const { results, isPrompt, message } = decode(brought('c', 'x', 'y'));
    assert.deepEqual(
      { results, isPrompt, role: message?.role },
      { results: ['x', 'y'], isPrompt: undefined, role: 'tool' },
    );
  });

  test('of a picture alone is a prompt', () => {
    const picture = { ...user('a', ''), content: [{ inlineData: { mimeType: 'image/png', data: 'AA' } }] };
    const { kind, isPrompt, message } = decode(picture);
    assert.deepEqual([kind, isPrompt, message?.content], ['message', true, '']);
  });
});

suite('the result of a call', () => {
  const resultOf = (result: Json, status = 'success'): readonly unknown[] => {
    const record = model('b', '', { toolCalls: [{ id: 'x', name: 'look', args: {}, result, status }] });
    return (messageOf(record).parts ?? [])
      .slice(1)
      .map((part) => ('isError' in part ? [part.text, part.isError] : part));
  };

  test('may be text, a part or parts', () => {
    const part = response('x', 'three');
    const forms = ['one', { functionResponse: { id: 'x', response: { error: 'two' } } }, [part, { text: 'and four' }]];
    assert.deepEqual(
      forms.flatMap((form) => resultOf(form)),
      [
        ['one', false],
        ['two', false],
        ['three\nand four', false],
      ],
    );
  });

  test('is JSON where the tool is not one of its own', () => {
    assert.deepEqual(resultOf({ functionResponse: { id: 'x', response: { status: 503 } } }), [
      ['{"status":503}', false],
    ]);
  });

  test('of a call that failed or was cancelled is an error', () => {
    assert.deepEqual([resultOf('no', 'error'), resultOf('no', 'cancelled')], [[['no', true]], [['no', true]]]);
  });

  test('may be missing', () => {
    const { calls, results } = decode(
      model('b', '', { toolCalls: [{ id: 'x', name: 'look', args: {}, result: null }] }),
    );
    assert.deepEqual({ calls, results }, { calls: ['x'], results: undefined });
  });

  test('stands as text where the call has no id', () => {
    const record = model('b', '', { toolCalls: [{ name: 'look', args: { at: 1 }, result: 'found' }] });
    assert.equal(messageOf(record).content, 'look {"at":1}\nfound');
    assert.equal(decode(record).calls, undefined);
  });
});

suite('what is not sent when a session is resumed', () => {
  const silent: readonly (readonly [string, Json])[] = [
    ['a command', user('a', '/stats model')],
    ['the surroundings', user('a', '<session_context>\nthe folder\n</session_context>')],
    ['words of a hook', user('a', '<hook_context>the branch</hook_context>')],
    ['nothing', user('a', ' \n')],
    ['a notice', { id: 'a', type: 'info', content: 'Update available' }],
    ['an error', { id: 'a', type: 'error', content: [{ text: 'quota' }] }],
    ['a thought alone', model('b', '', { thoughts: [{ subject: 'Plan', description: 'x' }] })],
    ['a message of a type that nobody knows', { id: 'a', type: 'robot', content: 5 }],
  ];
  for (const [what, record] of silent) {
    test(`${what} is no message`, () => assert.deepEqual(decode(record), { kind: 'meta' }));
  }
});

test('a question that begins with its mark is a message', () => {
  assert.equal(messageOf(user('a', '?why twice')).content, '?why twice');
});
