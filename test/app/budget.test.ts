import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { createBudget } from '../../src/app/summarize/limits.ts';

const PRICE = { input: 0, output: 1_000_000 }; // one a token
const call = (outputTokens: number) => ({ inputTokens: 0, outputTokens });

test('a call that would pass the limit is refused, and after it every other one', async () => {
  const budget = createBudget(10, PRICE);
  assert.equal(await budget.reserve(call(6)), null);
  budget.settle(call(6), call(5));
  const refused = { limit: 10, spent: 5, next: 6 };
  assert.deepEqual(await budget.reserve(call(6)), refused);
  assert.deepEqual(await budget.reserve(call(1)), refused);
});

test('a call waits for the others where what they really cost decides', async () => {
  const budget = createBudget(10, PRICE);
  assert.equal(await budget.reserve(call(6)), null);
  const second = budget.reserve(call(6));
  const third = budget.reserve(call(6));
  budget.settle(call(6), call(2));
  assert.equal(await Promise.race([second, third]), null);
  budget.settle(call(6), call(3));
  assert.deepEqual([await second, await third], [null, { limit: 10, spent: 5, next: 6 }]);
});

test('the limit itself may be spent', async () => {
  const budget = createBudget(10, PRICE);
  assert.equal(await budget.reserve(call(10)), null);
  budget.settle(call(10), call(10));
  assert.deepEqual(await budget.reserve(call(1)), { limit: 10, spent: 10, next: 1 });
});

test('whatever is at work at the same time, the limit is never passed, and nobody waits for ever', async () => {
  const calls = fc.array(fc.tuple(fc.nat({ max: 9 }), fc.nat({ max: 9 })), { maxLength: 30 });
  await fc.assert(
    fc.asyncProperty(calls, fc.nat({ max: 60 }), fc.integer({ min: 1, max: 5 }), async (all, limit, jobs) => {
      const budget = createBudget(limit, PRICE);
      const waiting = all.map(([a, b]) => [Math.max(a, b), Math.min(a, b)] as const);
      let spent = 0;
      const work = async (): Promise<void> => {
        for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
          const [expected, used] = next;
          if ((await budget.reserve(call(expected))) !== null) continue;
          await Promise.resolve();
          spent += used;
          budget.settle(call(expected), call(used));
        }
      };
      await Promise.all(Array.from({ length: jobs }, work));
      assert.ok(spent <= limit);
    }),
  );
});
