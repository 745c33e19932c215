import assert from 'node:assert/strict';
import { test } from 'node:test';
import { viewConversation } from '../../../src/core/plan/view.ts';
import type { Entry } from '../../../src/core/transcript.ts';
import { entryOf } from '../../support/entries.ts';
import { message } from '../../support/messages.ts';

const entryAt = (line: number, more: Partial<Entry> = {}): Entry => ({ ...entryOf(message(), line), ...more });

/** How many messages the summary stands for, where all lines but `live` are stale. */
function stale(entries: readonly Entry[], live: readonly number[], mustDrop?: (entry: Entry) => boolean): number {
  const isStale = ({ line }: Entry): boolean => !live.includes(line);
  const rules = { carried: [], keepSystem: true, ...(mustDrop !== undefined && { mustDrop }) };
  return viewConversation({ entries, priorLine: null, isStale, ...rules }).staleMessageCount;
}

test("what the producer's summary stands for are the messages of the main thread that are sent no more", () => {
  const entries = [1, 2, 3, 4, 5].map((line) => entryAt(line, line === 2 ? { isSide: true } : {}));
  assert.equal(stale(entries, [4, 5]), 2);
});

test("instructions that are sent no more are nothing that the producer's summary stands for", () => {
  assert.equal(stale([entryAt(1, { kind: 'instruction' }), entryAt(2), entryAt(3)], [3]), 1);
});

test("a message that was taken back is nothing that the producer's summary stands for", () => {
  assert.equal(
    stale(
      [1, 2, 3].map((line) => entryAt(line)),
      [3],
      ({ line }) => line === 2,
    ),
    1,
  );
});

test('a record whose message has its last word elsewhere is no message more that the summary stands for', () => {
  const view = viewConversation({
    entries: [1, 2, 3].map((line) => entryAt(line)),
    priorLine: null,
    isStale: ({ line }) => line < 3,
    anchorOf: ({ line }) => (line === 1 ? 2 : null),
    carried: [],
    keepSystem: true,
  });
  assert.equal(view.staleMessageCount, 1);
});

test('where the codec knows what the summary stands for, only those messages count', () => {
  const entries = [1, 2, 3, 4].map((line) => entryAt(line, line === 2 ? { kind: 'meta' } : {}));
  const rules = { carried: [], keepSystem: true, isStale: ({ line }: Entry) => line < 4 };
  const view = viewConversation({ entries, priorLine: null, ...rules, isInSummary: ({ line }) => line < 3 });
  assert.equal(view.staleMessageCount, 1);
});

test('messages of a file that stand in another order than they were said are seen in the order in which they were said', () => {
  const entries = [1, 2, 3].map((line) => entryAt(line));
  const rules = { isStale: () => false, carried: [entryAt(0)], keepSystem: true };
  const view = viewConversation({ entries, priorLine: null, ...rules, orderOf: ({ line }) => -line });
  assert.deepEqual(
    view.messages.map(({ line }) => line),
    [0, 3, 2, 1],
  );
});
