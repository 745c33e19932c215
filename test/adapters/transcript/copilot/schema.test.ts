import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import test from 'node:test';
import * as fc from 'fast-check';
import { copilot } from '../../../../src/adapters/transcript/copilot/codec.ts';
import { answer, FIXTURES, readEntries, readFixture, session, user, uuidOf } from './events.ts';
import { envelope, ownCompaction, saidEvent, startEvent, toolRequest } from './schema.ts';

const scalar = fc.oneof(fc.constantFrom(null, true, 7, 'text', ''), fc.constant([]), fc.constant({}));

test('decoding refuses exactly the messages that the schemas refuse', () => {
  const kind = fc.record({ type: fc.constantFrom('shell_completed', 'instruction_discovered', 5) });
  const data = fc.record(
    { content: scalar, toolCallId: scalar, isUserRequested: fc.boolean(), kind: fc.oneof(kind, scalar) },
    { requiredKeys: [] },
  );
  const type = fc.constantFrom('user.message', 'assistant.message', 'tool.execution_complete', 'system.notification');
  fc.assert(
    fc.property(fc.record({ type, data }), (event) => {
      assert.equal('problem' in copilot.open().observe(event, 1), !saidEvent.safeParse(event).success);
    }),
    { numRuns: 800 },
  );
});

test('decoding reads exactly the calls that the schema describes', () => {
  const request = fc.record(
    { toolCallId: scalar, name: fc.constant('view'), arguments: scalar },
    { requiredKeys: ['name'] },
  );
  fc.assert(
    fc.property(request, (one) => {
      const decoded = copilot.open().observe(answerWith(one), 1);
      assert.ok(!('problem' in decoded));
      assert.equal(decoded.calls?.length ?? 0, toolRequest.safeParse(one).success ? 1 : 0);
    }),
    { numRuns: 500 },
  );
});

function answerWith(request: Parameters<typeof answer>[2] & {}): ReturnType<typeof answer> {
  return answer('', [], { toolRequests: [request] });
}

test('all events of the fixtures are as Copilot asks', () => {
  for (const name of readdirSync(FIXTURES)) {
    const values = readFixture(name);
    for (const value of values) envelope.parse(value);
    if (!name.includes('no-header')) startEvent.parse(values[0]);
  }
});

test('our compaction has the shape of one of Copilot, and nothing else in it', () => {
  const values = session(user('a'), answer('b'), user('c'));
  const [line = ''] = readEntries(values).session.renderSummary({
    text: 'summary',
    conversationId: 'c',
    firstKept: values[3] ?? null,
    lastDropped: null,
    lastKeptId: null,
    tokensBefore: 1,
    quotesTools: false,
    uuid: () => uuidOf(999),
  });
  ownCompaction.parse(JSON.parse(line));
});
