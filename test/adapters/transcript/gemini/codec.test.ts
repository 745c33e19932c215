import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { detectDocument } from '../../../../src/adapters/transcript/detect.ts';
import { gemini } from '../../../../src/adapters/transcript/gemini/codec.ts';
import type { Json } from '../../../../src/ports/codec.ts';
import { benchFor, reportOf } from '../../../support/workbench.ts';
import { clip, header, model, rewindTo, user } from './sessions.ts';

test('metadata and messages are surely a session', () => {
  assert.deepEqual(gemini.detect([header(), user('a', 'one')]), { confidence: 1, reason: '2 records of a session' });
});

test('a log that lost its metadata is one still', () => {
  assert.deepEqual(gemini.detect([model('a', 'one')]), {
    confidence: 0.8,
    reason: '1 record of a session, but no metadata',
  });
  assert.equal(gemini.detect([user('a', 'one'), rewindTo('a')]).confidence, 0.8);
});

test('messages of users alone may be of any program', () => {
  assert.deepEqual(gemini.detect([user('a', 'one'), user('b', 'two')]), {
    confidence: 0.3,
    reason: "messages like Gemini CLI's, but none from the model and no metadata",
  });
});

test('a log that was compacted to its summary and what a user said is one still', () => {
  assert.equal(gemini.detect([clip('s'), user('a', 'one')]).confidence, 0.8);
});

test('records among many others are not surely a session', () => {
  assert.equal(gemini.detect([header(), {}, 5, []]).confidence, 0.6);
});

test('a document on one line is no log', () => {
  assert.deepEqual(gemini.detect([header({ messages: [user('a', 'one')] })]), {
    confidence: 0,
    reason: 'one document, as older versions of Gemini CLI wrote it, not a log',
  });
});

test('records of other programs are none', () => {
  const others: readonly Json[] = [
    { type: 'user', parentUuid: null, uuid: 'a', sessionId: 's', message: { role: 'user', content: 'x' } },
    { type: 'session', version: 3, id: 'a' },
    { type: 'message', id: 'b', parentId: null, message: {} },
    { type: 'user.message', id: 'c', data: {}, parentId: null },
    { id: 'd', type: 'message', role: 'user', content: 'x' },
    { id: 1, conversation_id: 'c', role: 'user', content: 'x' },
  ];
  assert.deepEqual(gemini.detect(others), {
    confidence: 0,
    reason: 'no record is a message, an update or the metadata of a session',
  });
});

type Document = {
  readonly sessionId: string;
  readonly messages: readonly { readonly id: string; readonly content: unknown }[];
};

const FIXTURE = readFileSync(
  join(import.meta.dirname, '../../../../fixtures/transcripts/gemini-document/session.json'),
);
const read = (bytes: Buffer): Document => JSON.parse(bytes.toString('utf8'));

test('an older session is told by its sessionId, projectHash and messages', () => {
  const found = detectDocument(FIXTURE, true);
  assert.equal(found?.kind === 'found' ? found.codec.format.name : null, 'gemini-document');
});

test("the summary is a user's message before those that stay, and the rest of the session is as it was", async (t) => {
  const bench = benchFor(t);
  bench.write('s.json', FIXTURE);
  const report = reportOf(await bench.compact('s.json', { compaction: { maxSummaryTokens: 120 } }));
  const original = read(FIXTURE);
  const { messages, ...rest } = read(bench.read('s.json'));
  const [summary, ...kept] = messages;
  assert.match(JSON.stringify(summary), /"type":"user","content":\[\{"text":"\[Context Summary — 12 messages/);
  assert.deepEqual({ ...rest, messages: kept }, { ...original, messages: original.messages.slice(12) });
  assert.equal(report.conversations[0]?.id, original.sessionId);
});
