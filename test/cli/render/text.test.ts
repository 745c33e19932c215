import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { formatRegistry } from '../../../src/adapters/transcript/detect.ts';
import { renderFormats } from '../../../src/cli/render/help.ts';
import { formatBytes, formatCount, formatSaving } from '../../../src/messages/quantities.ts';
import { type Column, layTable } from '../../../src/cli/render/table.ts';
import {
  clipText,
  createTerminalFilter,
  fitText,
  safeJson,
  safeLines,
  safeText,
  shellWord,
  textWidth,
  wrapText,
} from '../../../src/messages/text.ts';
import { decideColor, loadTheme, PLAIN_THEME } from '../../../src/cli/render/theme.ts';
import { codePoint } from '../../support/code-points.ts';
import { CHAT_FORMAT } from '../fakes.ts';

test('thousands are parted, the same everywhere', () => {
  assert.deepEqual([0, 999, 1000, 1_234_567].map(formatCount), ['0', '999', '1,000', '1,234,567']);
});

test('a saving never claims more than there is', () => {
  assert.equal(formatSaving({ before: 1000, after: 1 }), '99 % saved');
  assert.equal(formatSaving({ before: 100, after: 130 }), '30 % more');
  assert.equal(formatSaving({ before: 0, after: 0 }), 'nothing saved');
  assert.equal(formatSaving({ before: 1000, after: 999 }), 'less than 1 % saved');
  assert.equal(formatSaving({ before: 1000, after: 1000 }), 'as many as before');
});

test('bytes are shown in the usual unit', () => {
  assert.deepEqual([1, 999, 1000, 4_200_000, 5e12].map(formatBytes), [
    '1 byte',
    '999 bytes',
    '1.0 kB',
    '4.2 MB',
    '5.0 TB',
  ]);
});

test('wide characters take two columns, and none is cut in half', () => {
  assert.equal(textWidth('日本'), 4);
  assert.deepEqual(['été – naïve', 'ф✅😀', 'e\u0301', '👍🏽', '가\u3099'].map(textWidth), [11, 5, 1, 2, 2]);
  assert.equal(clipText('日本語', 4), '日…');
  assert.equal(fitText('日本語', 4), '日… ');
  assert.equal(fitText('7', 3, 'right'), '  7');
});

test('a table that is too wide takes from its widest columns, down to what they need', () => {
  const rows = [
    { n: 1, long: 'abcdefghij', short: 'abcdef' },
    { n: 10, long: 'x', short: 'y' },
  ];
  const columns: readonly Column<(typeof rows)[number]>[] = [
    { title: 'n', align: 'right', cell: ({ n }) => String(n) },
    { title: 'long', cell: ({ long }) => long, minColumns: 4 },
    { title: 'short', cell: ({ short }) => short, minColumns: 5 },
  ];
  const paintHead = (line: string) => line;
  assert.deepEqual(layTable(rows, columns, { widthColumns: 80, paintHead }), [
    ' n long       short',
    ' 1 abcdefghij abcdef',
    '10 x          y',
  ]);
  assert.deepEqual(layTable(rows, columns, { widthColumns: 13, paintHead }), [
    ' n long short',
    ' 1 abc… abcd…',
    '10 x    y',
  ]);
});

test('text breaks at spaces, and a word that is too long gets its own line', () => {
  assert.deepEqual(wrapText('one two three', 7), ['one two', 'three']);
  assert.deepEqual(wrapText('a abcdefghij b', 5), ['a', 'abcdefghij', 'b']);
  assert.deepEqual(wrapText('', 5), ['']);
});

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

for (const [when, environment, isTerminal, expected] of [
  ['auto', {}, true, true],
  ['auto', {}, false, false],
  ['auto', { NO_COLOR: '1' }, true, false],
  ['auto', { NO_COLOR: '' }, true, true],
  ['auto', { FORCE_COLOR: '1' }, false, true],
  ['auto', { FORCE_COLOR: '0' }, true, false],
  ['auto', { FORCE_COLOR: '1', NO_COLOR: '1' }, false, true],
  ['auto', { CI: 'true' }, true, false],
  ['auto', { CI: 'false' }, true, true],
  ['auto', { TERM: 'dumb' }, true, false],
  ['always', { NO_COLOR: '1', CI: '1' }, false, true],
  ['never', { FORCE_COLOR: '1' }, true, false],
] as const) {
  const where = isTerminal ? 'a terminal' : 'a pipe';
  test(`--color ${when} on ${where} with ${JSON.stringify(environment)} is ${expected ? 'color' : 'plain'}`, () => {
    assert.equal(decideColor(when, { environment, isTerminal }), expected);
  });
}

test('a theme without color changes no text, and one with color does on any stream', async () => {
  assert.equal(await loadTheme(false), PLAIN_THEME);
  assert.equal((await loadTheme(true)).bad('x'), '\u001b[31mx\u001b[39m');
});

test('a format is listed by its name, with what it is and how that was checked', () => {
  const format = { ...CHAT_FORMAT, name: 'x', summary: 'what X writes', checked: 'read back by X 2' };
  assert.deepEqual(renderFormats([format], { theme: PLAIN_THEME, widthColumns: 80 }), [
    'x  what X writes',
    '   checked: read back by X 2',
  ]);
});

test('the list of every format fits into 60 columns', () => {
  const lines = renderFormats(formatRegistry.list(), { theme: PLAIN_THEME, widthColumns: 60 });
  assert.deepEqual(
    lines.filter((line) => textWidth(line) > 60),
    [],
  );
});
