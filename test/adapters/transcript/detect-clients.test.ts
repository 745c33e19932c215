import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { detectDocument, detectFormat } from '../../../src/adapters/transcript/detect.ts';
import { findCodec } from '../../support/codecs.ts';
import type { Detection, Json } from '../../../src/ports/codec.ts';
import { userRecord } from './claude-code/records.ts';
import { call, event, header as codexHeader, message, said } from './codex/rollouts.ts';
import { answer, chain, session, start, user as copilotUser } from './copilot/events.ts';
import { clip, header as geminiHeader, model, rewindTo, user } from './gemini/sessions.ts';
import { header as piHeader, thread } from './pi/entries.ts';
import { FIXTURES, readFixture } from './reading.ts';

function detect(format: string, sample: readonly Json[]): Detection {
  return findCodec(format)?.detect(sample) ?? assert.fail(format);
}

type Sample = readonly [format: string, what: string, sample: readonly Json[], confidence: number, reason?: string];

const titles = readFixture('claude-code', 'only-snapshots.jsonl');
const leading = readFixture('claude-code', 'leading-meta.jsonl');
const codexItems = [message('user', 'x'), { type: 'reasoning', summary: [] }, Object(call('c'))['payload']];

const SAMPLES: readonly Sample[] = [
  [
    'claude-code',
    'a message with a parentUuid',
    [userRecord('hello')],
    1,
    '1 record with the type of a message and a parentUuid',
  ],
  ['claude-code', 'dozens of records before the first message', leading, 1],
  ['claude-code', 'those records alone', leading.slice(0, 30), 0.8],
  ['claude-code', 'snapshots and a title only', titles, 0.8, '5 records that Claude Code keeps beside its messages'],
  ['claude-code', 'a foreign first line', [{ note: 'exported' }, ...readFixture('claude-code', 'session.jsonl')], 1],
  ['claude-code', 'a message among many foreign records', [userRecord('hello'), {}, {}, {}], 0.6],
  [
    'claude-code',
    'the output of a headless run, which has no parents',
    [{ type: 'assistant', message: { content: [] }, session_id: 's' }],
    0,
    'there are user and assistant records, but none has a parentUuid',
  ],
  ['codex', 'a header and an item', [codexHeader(), said('user', 'x')], 1, '2 records of a rollout'],
  ['codex', 'an event alone', [event('x')], 0.8, '1 record of a rollout, but no session_meta'],
  ['codex', 'a header among more records of others', [codexHeader(), 7, { a: 1 }, null], 0.6],
  [
    'codex',
    'bare items and records without a payload',
    [message('user', 'x'), { type: 'event_msg' }, 7],
    0,
    'no record has a payload and one of the types of a rollout',
  ],
  ['responses-items', 'items', codexItems, 0.95, '3 items of the Responses API'],
  [
    'responses-items',
    'the header of an older rollout',
    [{ id: 'a', timestamp: 'x', instructions: null }, { record_type: 'state' }],
    0.95,
    '0 items of the Responses API, and a header of older Codex versions',
  ],
  [
    'responses-items',
    "a message of Anthropic's",
    [{ type: 'message', role: 'user', content: [{ type: 'text', text: 'x' }] }],
    0,
  ],
  ['responses-items', 'a message of another kind', [{ type: 'message', message: {} }], 0],
  [
    'pi',
    'entries without the header',
    thread('ab'),
    0.7,
    '2 entries of a session, but the first record is not a header of type session',
  ],
  ['pi', 'a header that is not the first record', [{ note: 'exported' }, piHeader(), ...thread('ab')], 0.7],
  ['pi', 'a header without an id', [{ type: 'session', version: 3 }], 0],
  ['pi', 'messages without times', [{ type: 'message', message: { role: 'user', content: 'x' } }], 0],
  [
    'copilot',
    'events without the start',
    chain([copilotUser('hello'), answer('hi')]),
    0.7,
    '2 events of a session, but the first record is no session.start',
  ],
  ['copilot', 'a few events among other records', [{ a: 1 }, { b: 2 }, ...chain([start])], 0.4],
  ['copilot', 'an event without a parent', [{ type: 'user.message', data: { content: 'x' }, id: 'a' }], 0],
  ['copilot', 'an event of an unknown type', [{ type: 'gate.opened', data: {}, id: 'a', parentId: null }], 0],
  ['gemini', 'metadata and a message', [geminiHeader(), user('a', 'one')], 1, '2 records of a session'],
  ['gemini', 'an answer alone', [model('a', 'one')], 0.8, '1 record of a session, but no metadata'],
  ['gemini', 'a rewind without metadata', [user('a', 'one'), rewindTo('a')], 0.8],
  [
    'gemini',
    "users' messages alone, which may be of any program",
    [user('a', 'one'), user('b', 'two')],
    0.3,
    "messages like Gemini CLI's, but none from the model and no metadata",
  ],
  ['gemini', "a summary and a user's message", [clip('s'), user('a', 'one')], 0.8],
  ['gemini', 'metadata among many other values', [geminiHeader(), {}, 5, []], 0.6],
  [
    'gemini',
    'a document on one line',
    [geminiHeader({ messages: [user('a', 'one')] })],
    0,
    'one document, as older versions of Gemini CLI wrote it, not a log',
  ],
];
for (const [format, what, sample, confidence, reason] of SAMPLES)
  test(`${format}: ${what}: ${confidence}`, () => {
    const found = detect(format, sample);
    assert.deepEqual(
      reason === undefined ? found.confidence : found,
      reason === undefined ? confidence : { confidence, reason },
    );
  });

/** What is of one program, or of none, and so of no other. */
const STRANGERS: readonly (readonly [own: string, sample: readonly Json[]])[] = [
  ['none', []],
  ['none', [1, 'x', null, []]],
  ['none', [{ role: 'user', content: 'hello' }]],
  ['none', [{ messages: [{ role: 'user', content: 'hello' }] }]],
  ['none', [{ id: 1, conversation_id: 'c', role: 'user', content: 'x' }]],
  ['claude-code', [userRecord('x', { uuid: 'a' })]],
  ['codex', [codexHeader(), said('user', 'x')]],
  ['responses-items', [message('user', 'x')]],
  ['pi', [piHeader(), ...thread('ab')]],
  ['copilot', session(copilotUser('hello'))],
  ['gemini', [geminiHeader(), user('a', 'one')]],
];
const CLIENTS = ['claude-code', 'codex', 'responses-items', 'pi', 'copilot', 'gemini'];
for (const [own, sample] of STRANGERS)
  test(`${JSON.stringify(sample).slice(0, 60)} is of no other program than ${own}`, () => {
    const sure = CLIENTS.filter((format) => detect(format, sample).confidence > 0);
    assert.deepEqual(sure, own === 'none' ? [] : [own]);
  });

for (const format of ['codex', 'responses-items', 'pi', 'copilot'])
  for (const name of readdirSync(join(FIXTURES, format)))
    test(`${format}/${name} is a session for certain if its first record is there`, () => {
      const sample = readFixture(format, name).slice(0, 50);
      const { confidence } = detect(format, sample);
      assert.ok(name.includes('no-header') ? confidence === 0.7 : confidence >= 0.95, `${confidence}`);
    });

test('the project of a session of Copilot is the folder that it was begun in', () => {
  const context = { cwd: '/home/ada/lock', gitRoot: '/home/ada' };
  const begun = { ...start, data: { ...start.data, context } };
  const samples = [chain([begun]), session(copilotUser('hello')), [1, null, { data: { context: { cwd: 5 } } }]];
  assert.deepEqual(
    samples.map(
      (sample) =>
        sample
          .map((record) => findCodec('copilot')?.readProject?.(record))
          .find((found) => typeof found === 'string') ?? null,
    ),
    ['/home/ada/lock', null, null],
  );
});

async function formatOf(...sample: readonly Json[]): Promise<string> {
  const found = await detectFormat(sample);
  return found.kind === 'found' ? found.codec.format.name : (found.looksLike ?? found.kind);
}

test('sessions of Qwen Code are told from those of Claude Code and Gemini CLI', async () => {
  const record = (type: string, more: { readonly [key: string]: Json }): Json => ({
    uuid: `u-${type}`,
    parentUuid: null,
    sessionId: 's',
    cwd: '/',
    type,
    ...more,
  });
  assert.deepEqual(
    [
      await formatOf(record('user', { message: { role: 'user', parts: [{ text: 'Trim the jib.' }] } })),
      await formatOf(record('system', { subtype: 'ui_telemetry', systemPayload: {} })),
      await formatOf(record('user', { message: { role: 'user', content: 'Trim the jib.' } })),
      await formatOf(user('a', 'Trim the jib.'), geminiHeader()),
    ],
    ['qwen', 'qwen', 'claude-code', 'gemini'],
  );
});

test('a session of Kimi Code is told from the log of the same name that Kimi CLI kept beside its context', async () => {
  const metadata: Json = { type: 'metadata', protocol_version: '1.5', created_at: 1 };
  const logged: Json = { timestamp: 1, message: { type: 'TurnBegin', payload: {} } };
  const mode: Json = { type: 'permission.set_mode', mode: 'auto', time: 2 };
  const message: Json = { type: 'context.append_message', message: { role: 'user', content: [] }, time: 3 };
  assert.deepEqual(
    [
      await formatOf(metadata, mode, message),
      await formatOf(metadata, mode),
      await formatOf(message, message),
      await formatOf(metadata, logged, logged),
    ],
    ['kimi-code', 'kimi-code', 'kimi-code', 'a wire log of Kimi CLI (the session is context.jsonl beside it)'],
  );
});

test('an older session of Gemini CLI is told by its sessionId, projectHash and messages', async () => {
  const document = JSON.stringify(geminiHeader({ messages: [user('a', 'one')] }));
  const found = await detectDocument(Buffer.from(document), true);
  assert.equal(found?.kind === 'found' ? found.codec.format.name : null, 'gemini-document');
});
