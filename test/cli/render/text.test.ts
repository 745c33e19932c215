import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatBytes, formatCount, formatSaving } from '../../../src/cli/render/quantities.ts';
import { type Column, layTable } from '../../../src/cli/render/table.ts';
import { clipText, fitText, textWidth, wrapText } from '../../../src/cli/render/text.ts';

test('thousands are parted, the same everywhere', () => {
  assert.deepEqual([0, 999, 1000, 1_234_567].map(formatCount), ['0', '999', '1,000', '1,234,567']);
});

test('a saving never claims more than there is', () => {
  assert.equal(formatSaving({ before: 1000, after: 1 }), '99 % saved');
  assert.equal(formatSaving({ before: 100, after: 130 }), '30 % more');
  assert.equal(formatSaving({ before: 0, after: 0 }), 'nothing saved');
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
