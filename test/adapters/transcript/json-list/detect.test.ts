import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { detectDocument } from '../../../../src/adapters/transcript/detect.ts';
import { parseBeginning } from '../../../../src/adapters/transcript/json-list/detect.ts';

async function told(text: string): Promise<string> {
  const found = await detectDocument(Buffer.from(text), true);
  if (found === null) return 'no document';
  if (found.kind === 'found') return found.codec.format.name;
  return found.near.map(({ format, reason }) => `${format}: ${reason}`).join('; ');
}

test('exports are told by the lists in their conversations', async () => {
  const texts = [
    '[{"uuid":"a","chat_messages":[]}]',
    '[{"title":"a","mapping":{}}]',
    '{"info":{"id":"ses_1"},"messages":[]}',
  ];
  assert.deepEqual(await Promise.all(texts.map(told)), ['claude-ai', 'chatgpt', 'opencode']);
});

test('an export that is cut off within its first conversation is told all the same', async () => {
  assert.equal(await told('[{"uuid":"a","name":"n","chat_messages":[{"uuid":"b","text":"so'), 'claude-ai');
});

test('a list of something else is told what each format misses in it', async () => {
  const reasons = await told('[\n{"a":1}\n]');
  assert.match(reasons, /claude-ai: no element of the list has a list "chat_messages"/);
  assert.match(reasons, /opencode: it is not an object/);
});

test('a conversation without the list around it is told how to make one', async () => {
  assert.match(await told('{\n"uuid":"a",\n"chat_messages":[]\n}'), /make it one: jq -c '\[\.\]' FILE/);
});

test('an export with something behind its end is told, and lines of lists are no document', async () => {
  assert.equal(await told('[{"title":"a","mapping":{}}]\nmore'), 'chatgpt');
  assert.equal(await told('[1,2]\n[3,4]\n'), 'no document');
});

test('one line that a format of lines knows is lines: others may follow it some day', async () => {
  const line = '{"messages": [{"role": "user", "content": "x"}]}';
  assert.equal(await detectDocument(Buffer.from(`${line}\n`), true), null);
  assert.equal((await detectDocument(Buffer.from(line.replace('[', '[\n')), true))?.kind, 'found');
});

test('a whole value is that value', () => {
  fc.assert(
    fc.property(fc.oneof(fc.array(fc.jsonValue()), fc.dictionary(fc.string(), fc.jsonValue())), (value) => {
      const text = JSON.stringify(value);
      assert.deepEqual(parseBeginning(text), JSON.parse(text));
    }),
  );
});

test('of a value that is cut off anywhere, what came whole is read', () => {
  const text = '[{"id": "a", "list": [{"role": "user", "text": "say \\"]\\" twice"}, {"role": "ass';
  assert.deepEqual(parseBeginning(text), [{ id: 'a', list: [{ role: 'user', text: 'say "]" twice' }, {}] }]);
});

test('every beginning of a list or an object is read as one', () => {
  fc.assert(
    fc.property(fc.array(fc.jsonValue(), { minLength: 1 }), fc.nat(), (value, cut) => {
      const text = JSON.stringify(value);
      assert.ok(Array.isArray(parseBeginning(text.slice(0, 1 + (cut % text.length)))));
    }),
  );
});

test('of a value with a fault in it, a part before the fault is read', () => {
  assert.deepEqual(parseBeginning('[{"a": 1, "b": [2, 3], "c": d, "e": 4}]'), [{ a: 1, b: [2] }]);
});

test('what is no JSON is nothing', () => {
  assert.deepEqual([parseBeginning(''), parseBeginning('"a" 1'), parseBeginning('x')], [null, null, null]);
});

test('ever more brackets take no more room than there are', () => {
  const depth = 200_000;
  const read = parseBeginning('['.repeat(depth));
  assert.ok(read === null || Array.isArray(read));
});
