import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import * as fc from 'fast-check';
import { detectFormat } from '../../../src/adapters/transcript/detect.ts';
import { findCodec, FORMATS } from '../../../src/adapters/transcript/registry.ts';
import type { Json } from '../../../src/ports/codec.ts';

type JsonObject = { readonly [key: string]: Json };

function formatOf(...sample: readonly Json[]): string | null {
  const found = detectFormat(sample);
  return found.kind === 'found' ? found.codec.format.name : null;
}

function chatReason(...sample: readonly Json[]): string | undefined {
  const found = detectFormat(sample);
  return found.kind === 'unknown' ? found.near.find(({ format }) => format === 'chat-lines')?.reason : 'found';
}

const SAID: JsonObject = { role: 'user', content: 'hello' };

suite('the format of a file', () => {
  test('is chat lines for every dialect of them', () => {
    const dialects: readonly (readonly JsonObject[])[] = [
      [SAID],
      [{ role: 'assistant', tool_calls: [] }],
      [{ role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a' }] }],
      [{ id: 'msg_1', type: 'message', role: 'assistant', content: [{ type: 'text', text: 'hi' }] }],
      [{ role: '_checkpoint', id: 0 }],
      [{ id: 1, conversation_id: 'c', role: 'user', content: 'x', created_at: '2031-01-01' }],
    ];
    assert.deepEqual(
      dialects.map((sample) => formatOf(...sample)),
      dialects.map(() => 'chat-lines'),
    );
  });

  test('is chat lines where a few messages stand among other records', () => {
    assert.equal(formatOf({ note: 1 }, 7, null, SAID, { log: 'x' }), 'chat-lines');
  });

  test('is Claude Code where records have a parentUuid', () => {
    const record = {
      type: 'user',
      parentUuid: null,
      uuid: 'a',
      sessionId: 's',
      message: { role: 'user', content: 'x' },
    };
    assert.equal(formatOf(record), 'claude-code');
  });

  test('is Codex where records have a payload', () => {
    assert.equal(formatOf({ timestamp: 'x', type: 'session_meta', payload: { id: 'a' } }), 'codex');
  });

  test('is items of the Responses API for those, and for the rollouts of Codex that are such items', () => {
    const item = { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'x' }] };
    assert.deepEqual(
      [formatOf(item), formatOf({ id: 'a', timestamp: 'x', instructions: null, git: {} }, item)],
      ['responses-items', 'responses-items'],
    );
  });

  test('is pi where the first record is the header of a session', () => {
    const entry = { type: 'message', id: 'b', parentId: null, timestamp: 'x', message: SAID };
    assert.equal(formatOf({ type: 'session', version: 3, id: 'a' }, entry), 'pi');
  });

  test('is Gemini CLI for the metadata of a session, and where its answers are told', () => {
    const answer = { id: 'b', timestamp: 'x', type: 'gemini', content: 'hello' };
    assert.deepEqual([formatOf({ sessionId: 'a', projectHash: 'b' }), formatOf(answer)], ['gemini', 'gemini']);
  });

  test('is not known without records', () => {
    assert.equal(formatOf(), null);
  });

  test('is not known for values without a role', () => {
    assert.equal(chatReason({ a: 1 }, [1], 'role', null, 5), 'no record has a role');
  });

  test('is not known where no role is text', () => {
    assert.equal(chatReason({ role: 5, content: 'x' }), 'no record has a role and content');
  });

  test('never throws, whatever the records are', () => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue()), (sample) => {
        detectFormat(JSON.parse(JSON.stringify(sample)));
      }),
    );
  });
});

suite('the table of formats', () => {
  test('finds each by its name, and nothing by another', () => {
    assert.deepEqual(
      FORMATS.map(({ format }) => findCodec(format.name)),
      [...FORMATS],
    );
    assert.equal(findCodec('chat'), null);
  });
});
