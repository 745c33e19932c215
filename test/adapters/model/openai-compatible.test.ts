import assert from 'node:assert/strict';
import { test } from 'node:test';
import { firstForm } from '../../../src/adapters/model/openai-compatible.ts';
import { answer, failing } from '../../support/model-server/reply.ts';
import type { RecordedRequest } from '../../support/model-server/server.ts';
import { errorOf, providerAt, reach, request, unusedPort } from './providers.ts';

const keysOf = ({ body }: RecordedRequest): readonly string[] =>
  Object.keys(body).filter((key) => !['model', 'messages', 'stream'].includes(key));

const NO_MAX_TOKENS = failing(400, "Unsupported parameter: 'max_tokens' is not supported with this model.", {
  code: 'unsupported_parameter',
  param: 'max_tokens',
});
const NO_TEMPERATURE = failing(400, "Unsupported value: 'temperature' does not support 0 with this model.", {
  code: 'unsupported_value',
  param: 'temperature',
});
const NO_OPTIONS = {
  kind: 'raw',
  status: 422,
  body: '{"detail":[{"loc":["body","stream_options"],"msg":"Extra inputs are not permitted"}]}',
} as const;

test('M2, M3: the system prompt first, the rest in its place, every content a text', async (t) => {
  const { provider, server } = await reach(t, 'openai-compatible', { script: [answer('ok')] });
  await provider.complete(
    request({
      messages: [
        { role: 'system', content: 'Previous summary.' },
        { role: 'assistant', content: 'one' },
        { role: 'system', content: 'More.' },
        { role: 'user', content: ' ' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'half: \ud83d' },
            { type: 'text', text: 'the directive' },
          ],
        },
      ],
      source: { kind: 'batches', batches: [] },
    }),
  );
  assert.deepEqual(server.requests[0]?.body, {
    model: 'test-model',
    messages: [
      { role: 'system', content: 'Summarize.' },
      { role: 'system', content: 'Previous summary.' },
      { role: 'assistant', content: 'one' },
      { role: 'system', content: 'More.' },
      { role: 'user', content: 'half: \ufffd\n\nthe directive' },
    ],
    max_tokens: 64,
    temperature: 0,
    stream: true,
    stream_options: { include_usage: true },
  });
});

test('OpenAI itself gets max_completion_tokens, everybody else max_tokens, and the configuration has the last word', () => {
  const fields = [
    firstForm('api.openai.com', null),
    firstForm('eu.api.openai.com', null),
    firstForm('eu.api.openai.com.example.net', null),
    firstForm('localhost', null),
    firstForm('localhost', 'max_completion_tokens'),
    firstForm('api.openai.com', 'max_tokens'),
  ].map(({ maxTokensField }) => maxTokensField);
  const [own, other] = ['max_completion_tokens', 'max_tokens'];
  assert.deepEqual(fields, [own, own, other, other, own, other]);
});

test('what a server refuses is left out or swapped, one after the other, and remembered', async (t) => {
  const { provider, server } = await reach(t, 'openai-compatible', {
    script: [NO_MAX_TOKENS, NO_TEMPERATURE, NO_OPTIONS, answer('one'), answer('two')],
  });
  await provider.complete(request());
  await provider.complete(request());
  assert.deepEqual(server.requests.map(keysOf), [
    ['max_tokens', 'temperature', 'stream_options'],
    ['max_completion_tokens', 'temperature', 'stream_options'],
    ['max_completion_tokens', 'stream_options'],
    ['max_completion_tokens'],
    ['max_completion_tokens'],
  ]);
});

test('a server that refuses both fields for the limit is asked twice', async (t) => {
  const refuse = (name: string) => failing(400, `Unknown parameter: ${name}`, { param: name });
  const { provider, server } = await reach(t, 'openai-compatible', {
    script: [refuse('max_completion_tokens'), refuse('max_tokens')],
    options: { maxTokensField: 'max_completion_tokens' },
  });
  assert.deepEqual(await errorOf(provider.complete(request())), {
    code: 'api_error',
    message: `${server.host} answered 400 (Unknown parameter: max_tokens)`,
    retryable: false,
  });
  assert.deepEqual(
    server.requests.map((one) => keysOf(one)[0]),
    ['max_completion_tokens', 'max_tokens'],
  );
});

for (const [what, refusal] of [
  [
    'a limit that is too large',
    failing(400, 'max_tokens is too large: 64. The model has at most 32.', { param: 'max_tokens' }),
  ],
  ['a parameter that is not ours', failing(400, "Unsupported parameter: 'logprobs'", { param: 'logprobs' })],
  [
    'a limit that leaves no room',
    failing(400, 'max_tokens 64 is not allowed: the maximum context length is 4096 tokens'),
  ],
  ['a 500 that names a parameter', failing(500, 'temperature: unsupported')],
] as const) {
  test(`${what} is not a reason to ask in another form`, async (t) => {
    const { provider, server } = await reach(t, 'openai-compatible', { script: [refusal] });
    await errorOf(provider.complete(request()));
    assert.equal(server.requests.length, 1);
  });
}

test('calls at the same time learn the same once each', async (t) => {
  const { provider, server } = await reach(t, 'openai-compatible', {
    script: ({ body }) => ('temperature' in body ? NO_TEMPERATURE : answer('ok')),
  });
  await Promise.all([1, 2, 3].map(() => provider.complete(request())));
  const refused = server.requests.filter((one) => keysOf(one).includes('temperature'));
  assert.deepEqual([refused.length, server.requests.length], [3, 6]);
});

test('without a key no authorization is sent', async (t) => {
  const { provider, server } = await reach(t, 'openai-compatible', {
    script: [answer('ok')],
    options: { apiKey: null },
  });
  await provider.complete(request());
  assert.equal('authorization' in (server.requests[0]?.headers ?? {}), false);
});

/** About 2,500 tokens, as estimated. */
const LONG = 'The build of the parser fails. '.repeat(330);

test('ollama: a prompt of which fewer than 60 % were read has been cut', async (t) => {
  const { provider, server } = await reach(t, 'openai-compatible', {
    script: [answer('short', { usage: { input: 1500, output: 9 } })],
    options: { flavor: 'ollama', apiKey: null },
  });
  assert.deepEqual(await errorOf(provider.complete(request({ messages: [{ role: 'user', content: LONG }] }))), {
    code: 'context_length',
    message: `${server.host} read 1500 tokens of about 2561, so it has cut the request: give the model a larger context (num_ctx, OLLAMA_CONTEXT_LENGTH), or make smaller chunks`,
    retryable: false,
  });
});

for (const [what, content, input] of [
  ['a prompt of which most was read', LONG, 1600],
  ['a prompt of runs that are single tokens', `${'-'.repeat(9000)}${' '.repeat(9000)}`, 90],
  ['a server that counts nothing', LONG, 0],
  ['a short prompt', 'x'.repeat(100), 5],
] as const) {
  test(`ollama: ${what} counts as whole`, async (t) => {
    const { provider } = await reach(t, 'openai-compatible', {
      script: [answer('ok', { usage: { input, output: 9 } })],
      options: { flavor: 'ollama' },
    });
    const done = await provider.complete(request({ messages: [{ role: 'user', content }] }));
    assert.equal(done.usage.input_tokens, input);
  });
}

test('openai: the share of a prompt that was read is not judged', async (t) => {
  const { provider } = await reach(t, 'openai-compatible', {
    script: [answer('ok', { usage: { input: 9, output: 9 } })],
  });
  const done = await provider.complete(request({ messages: [{ role: 'user', content: LONG }] }));
  assert.equal(done.usage.input_tokens, 9);
});

test('ollama: where nobody listens, the advice is to start it', async () => {
  const port = await unusedPort();
  const provider = providerAt('openai-compatible', `http://127.0.0.1:${port}`, { flavor: 'ollama', apiKey: null });
  assert.deepEqual(await errorOf(provider.complete(request())), {
    code: 'api_error',
    message: `127.0.0.1:${port} cannot be reached (ECONNREFUSED): is Ollama running? \`ollama serve\` starts it`,
    retryable: true,
  });
});
