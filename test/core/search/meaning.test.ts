import assert from 'node:assert/strict';
import { test } from 'node:test';
import { weighMeaning } from '../../../src/core/search/meaning.ts';

test('the most alike has a half of the best score by words, the least nothing, the others by their distance', () => {
  const weigh = weighMeaning(
    new Map([
      [1, 0.8],
      [2, 0.6],
      [3, 0.7],
    ]),
  );
  assert.deepEqual(
    [1, 2, 3, 4].map((id) => Math.round(weigh(id) * 1000)),
    [500, 0, 250, 0],
  );
});

test('where all are as much alike, or there are none, nothing speaks for any', () => {
  const same = new Map([
    [1, 0.4],
    [2, 0.4],
  ]);
  assert.deepEqual(
    [weighMeaning(same)(1), weighMeaning(new Map())(1), weighMeaning(new Map([[1, 0.9]]))(1)],
    [0, 0, 0],
  );
});
