import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { gemini } from '../../../../src/adapters/transcript/gemini/codec.ts';
import { readLogLine } from '../../../../src/adapters/transcript/gemini/decode.ts';
import type { Json } from '../../../../src/ports/codec.ts';
import { FIXTURES } from '../codex/rollouts.ts';
import { metadata, rewind, saidRecord, toolCall, update } from './schema.ts';
import { readFixture } from './sessions.ts';

const scalar = fc.oneof(fc.constantFrom(null, true, 7, 'text', ''), fc.constant([]), fc.constant({}));

test('decoding refuses exactly the messages that the schema refuses', () => {
  const record = fc.record(
    {
      id: fc.constant('a'),
      type: fc.constantFrom('user', 'gemini'),
      timestamp: scalar,
      content: scalar,
      toolCalls: scalar,
    },
    { requiredKeys: ['id', 'type'] },
  );
  fc.assert(
    fc.property(record, (value) => {
      assert.equal('problem' in gemini.open().observe(value, 1), !saidRecord.safeParse(value).success);
    }),
  );
});

test('a line is the kind of record whose schema it has', () => {
  const record = fc.record(
    { $rewindTo: scalar, $set: scalar, sessionId: scalar, projectHash: scalar },
    { requiredKeys: [] },
  );
  const kindBySchema = (value: Json): string => {
    if (rewind.safeParse(value).success) return 'rewind';
    const updated = update.safeParse(value);
    if (updated.success) return updated.data.$set.messages === undefined ? 'update' : 'checkpoint';
    return metadata.safeParse(value).success ? 'metadata' : 'other';
  };
  fc.assert(fc.property(record, (value) => assert.equal(readLogLine(value).kind, kindBySchema(value))));
});

test('the calls of the fixtures have the shape that the schema describes', () => {
  const names = readdirSync(join(FIXTURES, 'gemini'));
  const calls = names.flatMap((name) => readFixture(name).flatMap(({ toolCalls }) => toolCalls ?? []));
  assert.ok(calls.length > 50);
  for (const call of calls) toolCall.parse(call);
});

test('any JSON value decodes without an exception', () => {
  fc.assert(
    fc.property(fc.array(fc.jsonValue()), (values) => {
      const session = gemini.open();
      values.forEach((value, at) => {
        const json: Json = JSON.parse(JSON.stringify(value));
        for (const record of [
          json,
          { id: 'a', type: 'gemini', content: json, toolCalls: [json] },
          { $set: { messages: json } },
        ])
          session.observe(record, at + 1);
      });
    }),
  );
});
