import assert from 'node:assert/strict';
import { test } from 'node:test';
import { locateKeys } from '../../src/config/parse.ts';

function lines(text: string, ...paths: readonly (readonly string[])[]): readonly (number | null)[] {
  const { lineOf } = locateKeys(text);
  return paths.map(lineOf);
}

test('a key of a table is located on the line of its assignment', () => {
  assert.deepEqual(
    lines('# head\n[a]\nx = 1\n\n  y = 2 # why\n[b]\nx = 3\n', ['a', 'x'], ['a', 'y'], ['b', 'x']),
    [3, 5, 7],
  );
});

test('text inside a value is not mistaken for a key', () => {
  const text = 'a = """\nb = 1\n\\""" still\n"""\nc = [\n  "d = [", # e = 2\n  1,\n]\nf = \'g = "\'\nb = 9\n';
  assert.deepEqual(lines(text, ['a'], ['b'], ['c'], ['f'], ['e']), [1, 10, 5, 9, null]);
});

test('dotted, quoted and escaped keys are found under their plain names', () => {
  const text = 'a.b = 1\n"c d".e = 2\n[x."y.z"]\n"\\u0041" = 3\n';
  assert.deepEqual(lines(text, ['a', 'b'], ['c d', 'e'], ['x', 'y.z', 'A']), [1, 2, 4]);
});

test('a key inside an inline table is located on the line of its table', () => {
  assert.deepEqual(lines('\n[prices]\nm = { input = 1, output = 2 }\n', ['prices', 'm', 'output']), [3]);
});

test('a table of tables and carriage returns do not shift the lines', () => {
  assert.deepEqual(lines('[[t]]\r\na = 1\r\n[[t]]\r\nb = 2\r\n', ['t', 'a'], ['t', 'b']), [2, 4]);
});
