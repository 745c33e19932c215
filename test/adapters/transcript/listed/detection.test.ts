import assert from 'node:assert/strict';
import { test } from 'node:test';
import { detectDocument } from '../../../../src/adapters/transcript/detect.ts';

function told(text: string): string {
  const found = detectDocument(Buffer.from(text), true);
  if (found === null) return 'no document';
  if (found.kind === 'found') return found.codec.format.name;
  return found.near.map(({ format, reason }) => `${format}: ${reason}`).join('; ');
}

test('exports are told by the lists in their conversations', () => {
  const texts = [
    '[{"uuid":"a","chat_messages":[]}]',
    '[{"title":"a","mapping":{}}]',
    '{"info":{"id":"ses_1"},"messages":[]}',
  ];
  assert.deepEqual(texts.map(told), ['claude-ai', 'chatgpt', 'opencode']);
});

test('an export that is cut off within its first conversation is told all the same', () => {
  assert.equal(told('[{"uuid":"a","name":"n","chat_messages":[{"uuid":"b","text":"so'), 'claude-ai');
});

test('a list of something else is told what each format misses in it', () => {
  const reasons = told('[\n{"a":1}\n]');
  assert.match(reasons, /claude-ai: no element of the list has a list "chat_messages"/);
  assert.match(reasons, /opencode: it is no object/);
});

test('a conversation without the list around it is told how to make one', () => {
  assert.match(told('{\n"uuid":"a",\n"chat_messages":[]\n}'), /make it one: jq -c '\[\.\]' FILE/);
});

test('an export with something behind its end is told, and lines of lists are no document', () => {
  assert.equal(told('[{"title":"a","mapping":{}}]\nmore'), 'chatgpt');
  assert.equal(told('[1,2]\n[3,4]\n'), 'no document');
});

test('one line that a format of lines knows is lines: others may follow it some day', () => {
  const line = '{"messages": [{"role": "user", "content": "x"}]}';
  assert.equal(detectDocument(Buffer.from(`${line}\n`), true), null);
  assert.equal(detectDocument(Buffer.from(line.replace('[', '[\n')), true)?.kind, 'found');
});
