import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  connectionFailure,
  failureBehind,
  isOverflow,
  OVERFLOW_TEXTS,
  readErrorBody,
  ServiceFailureError,
} from '../../../src/adapters/model/service-failure.ts';
import { readRetryAfterMs } from '../../../src/adapters/model/service.ts';
import { failing } from '../../support/model-server/reply.ts';
import { errorOf, reach, request } from './providers.ts';

const FILE = join(import.meta.dirname, '../../../fixtures/model/openai-compatible/overflow.json');
const SAMPLES: Readonly<Record<string, readonly string[]>> = JSON.parse(readFileSync(FILE, 'utf8'));

test('every pattern has samples, and every sample a pattern', () => {
  assert.deepEqual(
    Object.keys(SAMPLES),
    OVERFLOW_TEXTS.map(({ services }) => services),
  );
});

for (const { services, pattern } of OVERFLOW_TEXTS) {
  test(`too long, in the words of ${services}`, () => {
    for (const sample of SAMPLES[services] ?? []) assert.match(sample, pattern);
  });
}

test('a request that is too long is told by the words alone, whatever the status and the kind', async (t) => {
  const [sample = ''] = SAMPLES['LM Studio'] ?? [];
  const script = [failing(500, sample), failing(429, sample), failing(400, sample)];
  const { provider, server } = await reach(t, 'openai-compatible', { script });
  for (const status of [500, 429, 400]) {
    assert.deepEqual(await errorOf(provider.complete(request())), {
      code: 'context_length',
      message: `${server.host} answered ${status} (${sample})`,
      retryable: false,
    });
  }
});

for (const said of [
  'Rate limit reached for some-model on tokens per minute (TPM): Limit 30000, Used 29500, Requested 900. Try again in 2 s.',
  'Too many tokens, please wait before trying again.',
  'max_tokens is too large: 50000. This model supports at most 4096 completion tokens.',
  'The model is overloaded.',
  'Your organization has exceeded its monthly limit.',
  'messages: text content blocks must be non-empty',
]) {
  test(`not too long: ${said}`, () => {
    assert.equal(isOverflow(readErrorBody({ error: { message: said } })), false);
  });
}

for (const [shape, body] of [
  ['an error of OpenAI', '{"error":{"message":"WORDS","type":"invalid_request_error","code":null}}'],
  ['an error without its envelope', '{"object":"error","message":"WORDS","code":400}'],
  ['an error that is a text', '{"error":"WORDS"}'],
  ["FastAPI's detail", '{"detail":"WORDS"}'],
  ["FastAPI's list of violations", '{"detail":[{"loc":["body","messages"],"msg":"WORDS","type":"value_error"}]}'],
  ["Gemini's list", '[{"error":{"code":400,"message":"WORDS","status":"INVALID_ARGUMENT"}}]'],
  ['the error of the service behind a router', '{"error":{"message":"failed","code":400,"metadata":{"raw":"WORDS"}}}'],
  ['plain text', 'WORDS'],
] as const) {
  test(`the words are found in ${shape}`, () => {
    const [sample = ''] = SAMPLES['llama.cpp'] ?? [];
    assert.equal(isOverflow(readErrorBody(body.replace('WORDS', sample))), true);
  });
}

test('a code says it without words', () => {
  for (const code of ['context_length_exceeded', 'exceed_context_size_error']) {
    assert.equal(isOverflow(readErrorBody({ error: { code, message: 'no' } })), true);
    assert.equal(isOverflow(readErrorBody({ error: { type: code, message: 'no' } })), true);
  }
});

const coded = (message: string, code: string): Error => Object.assign(new Error(message), { code });

test('of a host with several addresses the first that failed is told', () => {
  const refused = new AggregateError([coded('no one at ::1', 'ECONNREFUSED'), coded('no one at 127.0.0.1', 'EACCES')]);
  assert.deepEqual(connectionFailure(new TypeError('fetch failed', { cause: refused })), {
    kind: 'connection',
    codes: ['ECONNREFUSED'],
    detail: 'no one at ::1',
  });
});

test('what an SDK wraps is found again, and what is a bug is none', () => {
  const fault = { kind: 'empty' } as const;
  assert.deepEqual(failureBehind(new Error('Connection error.', { cause: new ServiceFailureError(fault) })), fault);
  assert.deepEqual(failureBehind(new Error('stream', { cause: new SyntaxError('Unexpected token') })), {
    kind: 'no-json',
  });
  assert.equal(failureBehind(new TypeError('x is not a function')), null);
});

test('errors that cause each other are followed to an end', () => {
  const one = new Error('one');
  one.cause = new Error('two', { cause: one });
  assert.equal(failureBehind(one), null);
});

const NOW = new Date('2026-11-21T12:00:00.000Z');

for (const [what, headers, expected] of [
  ['nothing', {}, undefined],
  ['seconds', { 'retry-after': '3' }, 3000],
  ['parts of a second', { 'retry-after': '0.25' }, 250],
  ['at once', { 'retry-after': '0' }, 0],
  ['milliseconds', { 'retry-after-ms': '120.4' }, 121],
  ['milliseconds before seconds', { 'retry-after-ms': '5', 'retry-after': '3' }, 5],
  ['milliseconds that are no number', { 'retry-after-ms': 'x', 'retry-after': '3' }, 3000],
  ['a date', { 'retry-after': 'Sat, 21 Nov 2026 12:00:09 GMT' }, 9000],
  ['a date that is over', { 'retry-after': 'Sat, 21 Nov 2026 11:00:00 GMT' }, 0],
  ['no date', { 'retry-after': 'later' }, undefined],
  ['a negative number, which is no year', { 'retry-after': '-5' }, undefined],
  ['an empty value', { 'retry-after': '' }, undefined],
] as const) {
  test(`retry-after: ${what}`, () => {
    assert.equal(readRetryAfterMs(new Headers(headers), NOW), expected);
  });
}
