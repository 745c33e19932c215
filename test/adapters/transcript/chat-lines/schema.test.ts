import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import * as fc from 'fast-check';
import { chatLines } from '../../../../src/adapters/transcript/chat-lines/codec.ts';
import { anthropicRecord, databaseRow, kimiRecord, openAiRecord, spokenRecord } from './schema.ts';
import { fixtureRecords } from './sessions.ts';

suite('the schema of chat lines', () => {
  test('has every record of the fixtures', () => {
    const isKimi = (record: unknown): boolean => String(Object(record).role).startsWith('_');
    for (const record of fixtureRecords('conversation.jsonl')) openAiRecord.parse(record);
    for (const record of fixtureRecords('anthropic-blocks.jsonl')) anthropicRecord.parse(record);
    for (const record of fixtureRecords('two-conversations.jsonl')) databaseRow.parse(record);
    for (const record of fixtureRecords('kimi-context.jsonl'))
      (isKimi(record) ? kimiRecord : openAiRecord).parse(record);
  });

  test('and the decoder refuse the same records', () => {
    const role = fc.option(fc.oneof(fc.string(), fc.integer(), fc.constant(null), fc.constant(['user'])), {
      nil: undefined,
    });
    fc.assert(
      fc.property(role, fc.jsonValue(), (given, content) => {
        const record = JSON.parse(JSON.stringify({ role: given, content }));
        const isRefused = 'problem' in chatLines.open().observe(record, 1);
        assert.equal(isRefused, 'role' in record && !spokenRecord.safeParse(record).success);
      }),
    );
  });
});
