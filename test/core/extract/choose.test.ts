import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { createChosenPlaces } from '../../../src/core/extract/choose.ts';
import { createHeap } from '../../../src/core/heap.ts';

test('the nearest chosen places are those of a plain search', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.nat({ max: 5_000 }), { maxLength: 40 }), fc.nat({ max: 5_000 }), (chosen, place) => {
      const places = createChosenPlaces(5_001);
      for (const one of chosen) places.add(one);
      const expected = {
        has: chosen.includes(place),
        before: Math.max(-1, ...chosen.filter((one) => one < place)),
        after: chosen.filter((one) => one > place).sort((a, b) => a - b)[0] ?? -1,
      };
      assert.deepEqual({ has: places.has(place), before: places.before(place), after: places.after(place) }, expected);
    }),
  );
});

test('a heap gives the highest key first, of equal keys the lowest item', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 5 })), (keys) => {
      const heap = createHeap();
      keys.forEach((key, item) => heap.push(item, key));
      const popped = keys.map(() => heap.pop());
      const sorted = keys.map((key, item) => ({ key, item })).sort((a, b) => b.key - a.key || a.item - b.item);
      assert.deepEqual([...popped, heap.pop()], [...sorted.map(({ item }) => item), null]);
    }),
  );
});
