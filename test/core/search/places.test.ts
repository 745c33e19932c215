import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { findPlaces, weighWord } from '../../../src/core/search/places.ts';

test('places with more of the words in them, or nearer, come first', () => {
  const words = [
    { lineIds: [10, 50], weight: 1 },
    { lineIds: [11, 50], weight: 2 },
  ];
  assert.deepEqual(findPlaces(words, 4), [50, 11, 10, 12]);
});

test('of a word that stands around a place several times the nearest counts alone', () => {
  assert.deepEqual(findPlaces([{ lineIds: [1, 2, 3, 4, 5], weight: 1 }], 9).slice(0, 5), [1, 2, 3, 4, 5]);
});

test('there are no places where there are no hits', () => {
  assert.deepEqual([findPlaces([], 5), findPlaces([{ lineIds: [], weight: 1 }], 5)], [[], []]);
});

test('the best places are those of the highest scores, whatever their number', () => {
  const hits = fc
    .uniqueArray(fc.integer({ min: 1, max: 60 }), { maxLength: 20 })
    .map((ids) => ids.toSorted((a, b) => a - b));
  fc.assert(
    fc.property(fc.array(hits, { maxLength: 4 }), fc.integer({ min: 1, max: 10 }), (lists, limit) => {
      const words = lists.map((lineIds, at) => ({ lineIds, weight: 1 + at }));
      assert.deepEqual(findPlaces(words, limit), findPlaces(words, 200).slice(0, limit));
    }),
  );
});

test('a rarer word weighs more, and one that all messages have still something', () => {
  const weights = [1, 10, 100, 1000].map((count) => weighWord(count, 1000, 1));
  assert.deepEqual(
    weights,
    weights.toSorted((a, b) => b - a),
  );
  assert.ok((weights.at(-1) ?? 0) > 0);
});
