import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { codePoint } from '../support/code-points.ts';
import { estimateTokens, estimateTokensByBytes, TOKEN_MEASURE, utf8Length } from '../../src/core/tokens.ts';

test('tokens by characters are a quarter of them, rounded up', () => {
  assert.deepEqual(['', 'a', 'abcd', 'abcde', '日本語日本'].map(estimateTokens), [0, 1, 1, 2, 2]);
});

test('tokens by bytes are a quarter of them, rounded up', () => {
  assert.deepEqual(['', 'a', 'abcd', 'abcde', '日本語日本'].map(estimateTokensByBytes), [0, 1, 1, 2, 4]);
});

test('the measure says what is counted', () => {
  assert.equal(TOKEN_MEASURE, 'utf8-bytes/4');
});

test('half of a surrogate pair counts three bytes, a whole one four', () => {
  assert.deepEqual(['\ud83d', '\ude00', '\ude00\ud83d', '\ud83d\ud83d\ude00', '😀'].map(utf8Length), [3, 3, 6, 7, 4]);
});

test('bytes are counted as the encoder would write them', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 20 }), (units) => {
      const text = String.fromCharCode(...units);
      assert.equal(utf8Length(text), new TextEncoder().encode(text).length);
    }),
  );
  fc.assert(
    fc.property(fc.string({ unit: codePoint }), (text) => {
      assert.equal(utf8Length(text), new TextEncoder().encode(text).length);
    }),
  );
});
