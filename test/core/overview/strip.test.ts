import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { groupIntoCells, OUTCOMES } from '../../../src/core/overview/strip.ts';

const messages = fc.array(
  fc.record({
    tokens: fc.nat(5_000),
    score: fc.option(fc.double({ min: 0, max: 30, noNaN: true })),
    outcome: fc.constantFrom(...OUTCOMES),
  }),
  { maxLength: 300 },
);

test('every message is in one cell, cells are of nearly one size, and their tokens add up', () => {
  fc.assert(
    fc.property(messages, fc.integer({ min: 1, max: 60 }), (all, maxCells) => {
      const cells = groupIntoCells(all, maxCells);
      assert.equal(cells.length, Math.min(all.length, maxCells));
      assert.deepEqual(
        cells.flatMap(({ first, last }) => Array.from({ length: last - first + 1 }, (_, at) => first + at)),
        [...all.keys()],
      );
      const sizes = cells.map(({ first, last }) => last - first);
      assert.ok(cells.length === 0 || Math.max(...sizes) - Math.min(...sizes) <= 1);
      for (const outcome of OUTCOMES) {
        const own = all.filter((message) => message.outcome === outcome);
        assert.equal(
          cells.reduce((sum, { tokens }) => sum + tokens[outcome], 0),
          own.reduce((sum, { tokens }) => sum + tokens, 0),
        );
      }
    }),
  );
});

test('a cell is as important as its most important message', () => {
  const all = [3, null, 7].map((score) => ({ tokens: 1, score, outcome: 'kept' as const }));
  assert.deepEqual(
    groupIntoCells(all, 1).map(({ score }) => score),
    [7],
  );
});
