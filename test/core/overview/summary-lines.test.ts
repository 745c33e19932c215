import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ConversationMessage } from '../../../src/core/message.ts';
import { readSummaryLines } from '../../../src/core/overview/summary-lines.ts';

const messages = [
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
  return readSummaryLines(text, { messages, isLeft }).map(({ kind, source }) => source ?? kind);
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
    '- Nobody said these words at all',
  ].join('\n');
  assert.deepEqual(sources(text), ['head', 'label', 'heading', 0, 3, 'blank', 2, 1, 'text']);
});

test('messages that left are preferred to those that are still there', () => {
  assert.deepEqual(
    sources('head\nPlease mend the parser', (at) => at === 4),
    ['head', 4],
  );
});
