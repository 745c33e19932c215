import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { codePoint } from '../support/code-points.ts';
import { chunkMessages, chunkMessagesByTokenBudget, cutMiddle, inTimeOrder } from '../../src/core/chunk.ts';
import { conversations, message, messages } from '../support/messages.ts';

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index);

test('ten messages by three give three, three, three and one', () => {
  assert.deepEqual(chunkMessages(upTo(10), 3), [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9]]);
});

test('no messages give no chunks', () => {
  assert.deepEqual([chunkMessages([], 3), chunkMessagesByTokenBudget([], 3)], [[], []]);
});

test('a chunk size that makes no sense is taken as one', () => {
  for (const size of [0, -2, Number.NaN, 0.5]) assert.deepEqual(chunkMessages([1, 2], size), [[1], [2]]);
});

test('chunks joined are the messages, in their order, and none is empty', () => {
  fc.assert(
    fc.property(conversations, fc.integer({ min: 1, max: 60 }), (history, size) => {
      for (const chunks of [chunkMessages(history, size), chunkMessagesByTokenBudget(history, size)]) {
        assert.deepEqual(chunks.flat(), history);
        assert.ok(chunks.every((chunk) => chunk.length > 0));
      }
    }),
  );
});

test('a chunk of several messages never goes over its budget, and the next message would not have fit', () => {
  fc.assert(
    fc.property(fc.array(fc.nat({ max: 30 })), fc.nat({ max: 40 }), (sizes, budget) => {
      const chunks = chunkMessagesByTokenBudget(sizes, budget, (size) => size);
      const sums = chunks.map((chunk) => chunk.reduce((sum, size) => sum + size, 0));
      for (const [index, chunk] of chunks.entries()) {
        const sum = sums[index] ?? 0;
        assert.ok(chunk.length === 1 || sum <= budget);
        assert.ok(sum + (chunks[index + 1]?.[0] ?? Infinity) > budget);
      }
    }),
  );
});

test('C1: inside a chunk the messages stand in the order in which they were said', () => {
  const history = messages({}, {}, {}, {});
  const chunk = [3, 0, 2].map((index) => history[index] ?? message());
  assert.deepEqual(
    inTimeOrder(chunk, (one) => history.indexOf(one)).map((one) => one.id),
    ['m1', 'm3', 'm4'],
  );
});

test('C2: text that fits is left as it is', () => {
  assert.equal(cutMiddle('exactly ten', 11), 'exactly ten');
});

test('C2: what does not fit goes from the middle, and its count is told', () => {
  const text = `${'a'.repeat(50)}${'b'.repeat(50)}`;
  assert.equal(cutMiddle(text, 53), `${'a'.repeat(9)}\n[... 82 characters left out ...]\n${'b'.repeat(9)}`);
});

test('C2: where there is only room for the mark, everything is left out', () => {
  assert.equal(cutMiddle('x'.repeat(50), 10), '\n[... 50 characters left out ...]\n');
});

test('C2: no character is cut in half', () => {
  fc.assert(
    fc.property(fc.nat({ max: 3 }), fc.integer({ min: 36, max: 80 }), (shift, maxChars) => {
      const cut = cutMiddle('x'.repeat(shift) + '😀'.repeat(100), maxChars);
      assert.ok(cut.isWellFormed());
      assert.ok(cut.length <= maxChars);
    }),
  );
});

test('C2: what is shown and what is counted as left out are the whole text', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: codePoint, minLength: 60, maxLength: 200 }),
      fc.integer({ min: 0, max: 59 }),
      (text, maxChars) => {
        const [, head = '', count = '', tail = ''] =
          /^([^]*)\n\[\.\.\. (\d+) characters left out \.\.\.\]\n([^]*)$/.exec(cutMiddle(text, maxChars)) ?? [];
        assert.equal(head.length + Number(count) + tail.length, text.length);
        assert.ok(text.startsWith(head) && text.endsWith(tail));
      },
    ),
  );
});
