import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { isOverflow, OVERFLOW_TEXTS, readErrorBody } from '../../../src/adapters/model/service-failure.ts';
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
