import assert from 'node:assert/strict';
import test from 'node:test';
import * as fc from 'fast-check';
import { pi } from '../../../../src/adapters/transcript/pi/codec.ts';
import { header, parseLines, readEntries, readFixture, thread } from './entries.ts';
import {
  callBlock,
  compactionEntry,
  headerRecord,
  messageEntry,
  ownCompaction,
  shellMessage,
  textBlock,
} from './schema.ts';

const scalar = fc.oneof(fc.constantFrom(null, true, 7, 'text', ''), fc.constant([]), fc.constant({}));

test('decoding refuses exactly the messages and compactions that the schemas refuse', () => {
  const role = fc.oneof(
    scalar,
    fc.constantFrom('user', 'assistant', 'toolResult', 'custom', 'bashExecution', 'branchSummary', 'robot'),
  );
  const message = fc.record(
    { role, content: fc.oneof(scalar, fc.array(scalar)), summary: scalar },
    { requiredKeys: [] },
  );
  const value = fc.record(
    { type: fc.constantFrom('message', 'compaction'), message: fc.oneof(scalar, message), summary: scalar },
    { requiredKeys: ['type'] },
  );
  fc.assert(
    fc.property(value, (entry) => {
      const schema = entry.type === 'message' ? messageEntry : compactionEntry;
      assert.equal('problem' in pi.open().observe(entry, 1), !schema.safeParse(entry).success);
    }),
    { numRuns: 800 },
  );
});

test('decoding reads exactly the blocks that the schemas describe', () => {
  const block = fc.record(
    {
      type: fc.constantFrom('text', 'toolCall', 'thinking', 'image'),
      text: scalar,
      id: scalar,
      name: fc.constant('read'),
      arguments: fc.constant({}),
    },
    { requiredKeys: ['type', 'name', 'arguments'] },
  );
  fc.assert(
    fc.property(block, (content) => {
      const decoded = pi.open().observe({ type: 'message', message: { role: 'assistant', content: [content] } }, 1);
      assert.ok(!('problem' in decoded));
      const text = textBlock.safeParse(content);
      if (text.success) assert.equal(decoded.message?.content, text.data.text);
      assert.equal(decoded.calls?.length ?? 0, callBlock.safeParse(content).success ? 1 : 0);
    }),
    { numRuns: 500 },
  );
});

test('headers and shell commands are as the schemas say', () => {
  const values = readFixture('shell-commands.jsonl').map((value) => Object(value));
  headerRecord.parse(values[0]);
  const commands = values.filter(({ message }) => message?.role === 'bashExecution');
  assert.equal(commands.map(({ message }) => shellMessage.parse(message)).length, 4);
});

test('our compaction has the shape of one of pi, and nothing else in it', () => {
  const { session, entries } = readEntries([header(), ...thread('abcd')]);
  session.readContext(entries);
  const lines = session.renderSummary({
    text: 'summary',
    conversationId: 'c',
    firstKept: thread('abcd')[2] ?? null,
    lastDropped: null,
    lastKeptId: null,
    tokensBefore: 1,
    quotesTools: false,
    uuid: (label) => label,
  });
  ownCompaction.parse(parseLines(lines.at(-1) ?? '')[0]);
});
