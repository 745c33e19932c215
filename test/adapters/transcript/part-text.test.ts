import assert from 'node:assert/strict';
import { test } from 'node:test';
import { documentText } from '../../../src/adapters/transcript/document-block.ts';
import { readPartText } from '../../../src/adapters/transcript/part-text.ts';
import type { Json } from '../../../src/ports/codec.ts';

const CASES: readonly (readonly [string, Json | undefined, string])[] = [
  ['a text', { type: 'text', text: 'hello' }, 'hello'],
  ['a text without a type', { text: 'hello' }, 'hello'],
  ['a bare text', 'hello', 'hello'],
  ['a text of another kind', { type: 'markdown', text: '# hello' }, '# hello'],
  ['a number', 7, '7'],
  [
    'a part that is not known',
    { toolUse: { name: 'look', input: { at: 1 } } },
    '{"toolUse":{"name":"look","input":{"at":1}}}',
  ],
  ['a text that is no text', { type: 'text', text: { value: 'hi' } }, '{"type":"text","text":{"value":"hi"}}'],
  ['thinking', { type: 'thinking', thinking: 'hm' }, ''],
  ['thinking with a text', { type: 'reasoning', text: 'hm' }, ''],
  ['a picture', { type: 'image_url', image_url: { url: 'data:…' } }, ''],
  ['a file with a text', { type: 'input_file', text: 'hello' }, 'hello'],
  ['nothing', null, ''],
  ['nothing at all', undefined, ''],
];

for (const [what, part, text] of CASES) {
  test(`${what} is read as ${JSON.stringify(text)}`, () => assert.equal(readPartText(part), text));
}

test('data is shortened, and words are not, however long', () => {
  const words = 'a long story '.repeat(100);
  const part = { kind: 'novel', data: 'A'.repeat(100_000), words };
  assert.equal(readPartText(part), JSON.stringify({ kind: 'novel', data: `${'A'.repeat(32)}…`, words }));
});

test('of a document the text is read, or the text of its blocks, and a PDF is media', () => {
  const text = { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'Once upon a time' } };
  const blocks: Json = [
    { type: 'text', text: 'Once' },
    { type: 'image', source: {} },
    { type: 'text', text: 'more' },
  ];
  const pdf = { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0' } };
  assert.equal(documentText(text), 'Once upon a time');
  assert.equal(documentText({ type: 'document', source: { type: 'content', content: blocks } }), 'Once\nmore');
  assert.equal(documentText({ type: 'document', source: { type: 'content', content: 'all of it' } }), 'all of it');
  assert.equal(documentText(pdf), '');
});
