import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { type ConversationContext, createContextReader } from '../../src/app/read/conversations.ts';
import type { Entry } from '../../src/core/transcript.ts';

const entry = (line: number): Entry => ({ kind: 'message', line, start: line * 10, length: 10 });
const [one, other] = [[entry(1), entry(2)], [entry(3)]] as const;
const lines = [1, 2, 3].map(entry);

/** A format that knows the lines of a conversation, and how often it was asked for them. */
function countingReader(): {
  readonly read: (entries: readonly Entry[]) => ConversationContext;
  readonly asked: { contexts: number; cuts: number };
} {
  const asked = { contexts: 0, cuts: 0 };
  const linesOf = (entries: readonly Entry[]): readonly number[] => entries.map(({ line }) => line);
  const read = createContextReader({
    readContext: (entries) => {
      asked.contexts += 1;
      const own = linesOf(entries);
      return {
        priorLine: own[0] ?? null,
        isStale: ({ line }) => !own.includes(line),
        anchorOf: ({ line }) => (own.includes(line) ? line : null),
      };
    },
    legalCuts: (entries) => {
      asked.cuts += 1;
      const own = linesOf(entries);
      return (line) => (own.includes(line) ? null : 'not here');
    },
  });
  return { read, asked };
}

suite('what a format says of the conversations of a file', () => {
  test('each conversation gets its own context, in any order of requests', () => {
    const { read } = countingReader();
    const [first, second] = [read(one), read(other)];
    for (const { context, cutProblem } of [first, second, first]) {
      const own = context === first.context ? [1, 2] : [3];
      assert.equal(context.priorLine, own[0]);
      assert.deepEqual(
        lines.filter((asked) => !context.isStale(asked)).map(({ line }) => line),
        own,
      );
      assert.deepEqual(
        lines.flatMap((asked) => context.anchorOf?.(asked) ?? []),
        own,
      );
      assert.deepEqual(
        lines.filter(({ line }) => cutProblem(line) === null).map(({ line }) => line),
        own,
      );
    }
  });

  test('it says nothing of what the format has no word for', () => {
    const { context } = countingReader().read(one);
    assert.deepEqual(Object.keys(context), ['priorLine', 'isStale', 'anchorOf']);
  });

  test('a conversation that is asked about again and again is read once, and its cuts only where one is wanted', () => {
    const { read, asked } = countingReader();
    const { context, cutProblem } = read(one);
    for (const asking of lines) context.isStale(asking);
    assert.deepEqual(asked, { contexts: 1, cuts: 0 });
    for (const { line } of lines) cutProblem(line);
    assert.deepEqual(asked, { contexts: 1, cuts: 1 });
  });
});
