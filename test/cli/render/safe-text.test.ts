import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { safeJson, safeText } from '../../../src/cli/render/safe-text.ts';
import { shellWord } from '../../../src/cli/render/shell-word.ts';

test('escape sequences and line ends are shown, not obeyed', () => {
  assert.equal(safeText('a\u001b[31mred\u0007\r\n\tb\u007f\u009b1m'), 'a\\x1b[31mred\\x07\\r\\n\\tb\\x7f\\x9b1m');
});

test('what reorders or hides text is shown', () => {
  assert.equal(safeText('\u202eabc\u2066\u2028\ufeff'), '\\u202eabc\\u2066\\u2028\\ufeff');
});

test('text of any language and joined emoji stay as they are', () => {
  const text = 'naïve 日本語 العربية 👩‍👩‍👧 é';
  assert.equal(safeText(text), text);
});

test('half of a surrogate pair is shown, and a whole pair stays', () => {
  assert.equal(safeText('\ud83d 😀 \ude00'), '\\ud83d 😀 \\ude00');
});

test('no control character gets through, whatever the text', () => {
  fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => !/[\p{Cc}\p{Cs}]/u.test(safeText(text))));
});

test('JSON that was made safe is the same value', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const json = safeJson(JSON.stringify({ text }));
      assert.deepEqual(JSON.parse(json), { text });
      assert.doesNotMatch(json, /[\p{Cc}\u202a-\u202e]/u);
    }),
  );
});

for (const [name, word] of [
  ['d/x-1.jsonl', 'd/x-1.jsonl'],
  ['two words.jsonl', "'two words.jsonl'"],
  ["it's", `'it'\\''s'`],
  ['-n', './-n'],
  ['~x', "'~x'"],
  ['$(rm)', "'$(rm)'"],
  ['日本.jsonl', "'日本.jsonl'"],
  ["a\u001b[2J'é", "$'a\\x1b[2J\\'\\xc3\\xa9'"],
] as const) {
  test(`a shell reads ${JSON.stringify(word)} as the name it stands for`, () => {
    assert.equal(shellWord(name), word);
  });
}
