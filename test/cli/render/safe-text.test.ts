import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { createTerminalFilter, safeJson, safeLines, safeText, shellWord } from '../../../src/cli/render/text.ts';
import { codePoint } from '../../support/code-points.ts';

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

test('invisible tag characters are shown', () => {
  assert.equal(safeText('a\u{e0041}\u{e007f}'), 'a\\u{e0041}\\u{e007f}');
  assert.equal(safeJson('"\u{e0041}"'), '"\\udb40\\udc41"');
});

test('rendered lines keep our styles and their ends, and no other sequence', () => {
  const styled = '\u001b[1mname\u001b[22m \u001b[31mred\u001b[39m\n';
  assert.equal(safeLines(styled), styled);
  assert.equal(
    safeLines('\u001b]0;title\u0007\u001b[2J\u001b[8mhidden\u001b[0m'),
    '\\x1b]0;title\\x07\\x1b[2J\\x1b[8mhidden\\x1b[0m',
  );
});

test('raw output on a terminal is shown, not obeyed, wherever the pieces are cut', () => {
  const text = 'a\tb\r\n\u001b[31mred\u001b]52;c;eHh4\u0007 \u0000 é日本😀\u009b2J\n';
  const shown = 'a\tb\n\\x1b[31mred\\x1b]52;c;eHh4\\x07 \\x00 é日本😀\\x9b2J\n';
  const bytes = Buffer.from(text);
  assert.equal(createTerminalFilter()(bytes), shown);
  for (let cut = 7; cut < bytes.length; cut += 1) {
    const filter = createTerminalFilter();
    assert.equal(filter(bytes.subarray(0, cut)) + filter(bytes.subarray(cut)), shown);
  }
});

test('no control character gets through, whatever the text', () => {
  fc.assert(fc.property(fc.string({ unit: codePoint }), (text) => !/[\p{Cc}\p{Cs}]/u.test(safeText(text))));
});

test('JSON that was made safe is the same value', () => {
  fc.assert(
    fc.property(fc.string({ unit: codePoint }), (text) => {
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
