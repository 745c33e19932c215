import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import type { ConversationMessage } from '../../../src/core/message.ts';
import { groupIntoCells, OUTCOMES } from '../../../src/core/overview/strip.ts';
import { readSummaryLines } from '../../../src/core/overview/summary-lines.ts';
import { countTokenTree, foldSmallest, type TokenNode } from '../../../src/core/overview/token-tree.ts';

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

const spoken = [
  'Please mend the parser in src/parser.ts',
  'I will look at it.',
  '{"command":"npm test -- \\"one file\\"\\nls"}',
  'The cause was   a missing\nbracket. I added it.',
  'Please mend the parser in src/parser.ts',
].map((content, at): ConversationMessage => ({
  id: `m${at}`,
  conversation_id: 'c',
  role: at % 2 === 0 ? 'user' : 'assistant',
  content,
  created_at: null,
  ...(at === 2 && { role: 'tool' as const }),
}));

function sources(text: string, isLeft: (at: number) => boolean = () => true): readonly unknown[] {
  return readSummaryLines(text, { messages: spoken, isLeft }).map(({ kind, source }) => source ?? kind);
}

test('lines lead to the message that they quote, whatever marks stand before the words', () => {
  const text = [
    '[Context Summary — 5 messages compressed across 1 compaction cycle]',
    '[Batch 1 — depth 0]',
    '## Requests and how they ended',
    '1. Please mend the parser in src/parser.ts',
    '   → The cause was a missing bracket. … ',
    '',
    '$ npm test -- "one file" → exit 1',
    'assistant: I will look at it.',
    'Closing report: The cause was a missing bracket.',
    'Last request (1): “Please mend the parser in src/parser.ts” — answered.',
    '- `npm test` printed: `npm test -- "one file"`',
    '- Nobody said these words at all',
  ].join('\n');
  assert.deepEqual(sources(text), ['head', 'label', 'heading', 0, 3, 'blank', 2, 1, 3, 0, 2, 'text']);
});

test('messages that left are preferred to those that are still there', () => {
  assert.deepEqual(
    sources('head\nPlease mend the parser', (at) => at === 4),
    ['head', 4],
  );
});

function said(changes: Partial<ConversationMessage>): ConversationMessage {
  return { id: 'm', conversation_id: 'c', role: 'user', content: '', created_at: null, ...changes };
}

/** The tree as `name tokens` with its children. */
function outline({ name, tokens, children }: TokenNode): unknown {
  return children.length === 0 ? `${name} ${tokens}` : [`${name} ${tokens}`, children.map(outline)];
}

const read = { kind: 'call', id: 'c1', name: 'Read', arguments: '{"file_path":"src/a.ts"}' } as const;
const test1 = { kind: 'call', id: 'c2', name: 'Bash', arguments: '{"command":"CI=1 npm test -- --watch"}' } as const;

test('tokens are counted by role, tool and object; a result belongs to its call', () => {
  const tree = countTokenTree([
    said({ content: 'x'.repeat(40) }),
    said({ role: 'assistant', parts: [{ kind: 'text', text: 'y'.repeat(20) }, read, test1] }),
    said({ role: 'tool', parts: [{ kind: 'result', callId: 'c1', text: 'z'.repeat(400), isError: false }] }),
    said({ role: 'tool', tool_call_id: 'c2', content: 'z'.repeat(80) }),
    said({ role: 'tool', tool_call_id: 'c9', content: 'z'.repeat(4) }),
  ]);
  assert.deepEqual(outline(tree), [
    'all 152',
    [
      ['tool 121', [['Read 100', ['src/a.ts 100']], ['Bash 20', ['npm test 20']], 'unknown tool 1']],
      ['assistant 21', [['Bash 10', ['npm test 10']], ['Read 6', ['src/a.ts 6']], 'text 5']],
      ['user 10', ['text 10']],
    ],
  ]);
});

test('small nodes are folded into one, and nothing is lost', () => {
  const nodes = [9, 5, 3, 1].map((tokens) => ({ name: `n${tokens}`, tokens, children: [] }));
  assert.deepEqual(foldSmallest(nodes, 3).map(outline), ['n9 9', 'n5 5', '2 others 4']);
  assert.equal(foldSmallest(nodes, 4), nodes);
});
