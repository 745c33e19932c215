import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { chooseLines, createChosenPlaces } from '../../../src/core/extract/choose.ts';
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

/** Three lines are of one message. Each line has one term, which is worth less each time. */
function choose(lines: readonly (readonly [chars: number, term: number, factor: number])[], isKnown: boolean) {
  const counts = new Map<number, number>();
  const asked = new Set<number>();
  const termOf = (place: number): number => lines[place]?.[1] ?? 0;
  const factorAt = (place: number): number => lines[place]?.[2] ?? 0;
  const places = chooseLines(
    {
      count: lines.length,
      lineAt: (place) => ({
        text: '.'.repeat(lines[place]?.[0] ?? 0),
        day: null,
        speaker: '',
        isNamed: false,
        isQuoted: false,
      }),
      charsAt: (place) => lines[place]?.[0] ?? 0,
      passageAt: (place) => (place in lines ? Math.floor(place / 3) : undefined),
      gainOf: (place) => (1 + termOf(place)) / (1 + (counts.get(termOf(place)) ?? 0)),
      knownFactorOf: (place) => (isKnown || asked.has(place) ? factorAt(place) : null),
      factorOf: (place) => {
        asked.add(place);
        return factorAt(place);
      },
      keep: (place) => void counts.set(termOf(place), (counts.get(termOf(place)) ?? 0) + 1),
    },
    60,
  );
  return { places, asked };
}

test('factors that are known only when they are needed lead to the same choice', () => {
  // Many are equal: then the first one wins.
  const line = fc.tuple(fc.constantFrom(2, 11, 14), fc.nat({ max: 2 }), fc.constantFrom(0, 0.5, 1));
  fc.assert(
    fc.property(fc.array(line, { maxLength: 30 }), (lines) => {
      assert.deepEqual(choose(lines, false).places, choose(lines, true).places);
    }),
    { numRuns: 500 },
  );
  const many = Array.from({ length: 500 }, (_, at) => [20 + (at % 20), at % 5, 1] as const);
  assert.ok(choose(many, false).asked.size < 100);
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
