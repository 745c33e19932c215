import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { readableLine } from '../../../src/core/handover/tool-result.ts';

test('a line with a word of more than 100 characters is encoded data, wherever the word stands', () => {
  fc.assert(
    fc.property(fc.nat(300), fc.integer({ min: 90, max: 230 }), fc.nat(300), (before, length, after) => {
      const words = (chars: number): string => 'some words '.repeat(30).slice(0, chars).trimStart();
      const line = `${words(before)} ${'q'.repeat(length)} ${words(after)}`.trim();
      assert.equal(readableLine(line), length > 100 ? null : line);
    }),
  );
});

test('a line needs letters', () => {
  assert.equal(readableLine('letters 1234567'), 'letters 1234567');
  assert.equal(readableLine('letters 12345678'), null);
  assert.equal(readableLine('1 2 3 4 5 6 7 8 9'), null);
});
