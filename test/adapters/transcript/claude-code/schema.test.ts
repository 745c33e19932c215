import assert from 'node:assert/strict';
import test from 'node:test';
import * as fc from 'fast-check';
import { claudeCode } from '../../../../src/adapters/transcript/claude-code/codec.ts';
import { readFixture } from './records.ts';
import { boundaryRecord, callBlock, conversationRecord, resultBlock, summaryRecord, textBlock } from './schema.ts';

const scalar = fc.oneof(fc.constantFrom(null, true, 7, 'text', ''), fc.constant([]), fc.constant({}));

test('decoding refuses exactly the user and assistant records that the schema refuses', () => {
  const message = fc.record({ role: scalar, content: fc.oneof(scalar, fc.array(scalar)) }, { requiredKeys: [] });
  const value = fc.record(
    {
      type: fc.constantFrom('user', 'assistant'),
      uuid: scalar,
      parentUuid: scalar,
      message: fc.oneof(scalar, message),
    },
    { requiredKeys: ['type'] },
  );
  fc.assert(
    fc.property(value, (record) => {
      const decoded = claudeCode.open().observe(record, 1);
      assert.equal('problem' in decoded, !conversationRecord.safeParse(record).success);
    }),
    { numRuns: 500 },
  );
});

test('decoding reads exactly the blocks that the schemas describe', () => {
  const block = fc.record(
    {
      type: fc.constantFrom('text', 'tool_use', 'mcp_tool_use', 'tool_result', 'thinking'),
      text: scalar,
      id: scalar,
      name: fc.constant('Read'),
      input: fc.constant({}),
      tool_use_id: scalar,
      content: fc.constantFrom('ok', []),
    },
    { requiredKeys: ['type', 'name', 'input'] },
  );
  fc.assert(
    fc.property(block, (content) => {
      const decoded = claudeCode.open().observe({ type: 'user', message: { content: [content] } }, 1);
      assert.ok(!('problem' in decoded));
      const text = textBlock.safeParse(content);
      if (text.success) assert.equal(decoded.message?.content, text.data.text);
      assert.equal(decoded.calls?.length ?? 0, callBlock.safeParse(content).success ? 1 : 0);
      assert.equal(decoded.results?.length ?? 0, resultBlock.safeParse(content).success ? 1 : 0);
    }),
    { numRuns: 500 },
  );
});

test("the client's boundary and summary, and ours, have the shapes that the schemas describe", () => {
  const [, , headRecord] = readFixture('preserved-segment.jsonl');
  const [boundary, summary] = readFixture('preserved-segment.jsonl').slice(4);
  const ours = claudeCode
    .open()
    .renderSummary({
      text: 'summary',
      conversationId: 'c',
      firstKept: headRecord ?? null,
      lastDropped: null,
      lastKeptId: 'tail',
      tokensBefore: 1,
      quotesTools: false,
      uuid: (label) => label,
    })
    .map((line) => JSON.parse(line));
  for (const record of [boundary, ours[0]]) boundaryRecord.parse(record);
  for (const record of [summary, ours[1]]) summaryRecord.parse(record);
});
