import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Anthropic } from '@anthropic-ai/sdk';
import { buildAnthropicSystemParam, type Message } from '../../../src/core/model-request.ts';
import { answer, failing } from '../../support/model-server/reply.ts';
import { errorOf, providerAt, reach, request } from './providers.ts';

const text = (said: string): { type: 'text'; text: string } => ({ type: 'text', text: said });
const LONG_PROMPT = 'Summarize with care. '.repeat(300);

test('a request: system messages beside the others, roles joined, no temperature, little effort', async (t) => {
  const { provider, server } = await reach(t, 'anthropic', { script: [answer('ok')] });
  await provider.complete(
    request({
      messages: [
        { role: 'system', content: 'Previous summary.' },
        { role: 'user', content: 'one' },
        { role: 'user', content: 'two' },
        { role: 'assistant', content: 'three' },
        { role: 'user', content: ' \n' },
        { role: 'assistant', content: 'four' },
        { role: 'user', content: [text('five'), text('the directive')] },
      ],
      source: { kind: 'batches', batches: [] },
    }),
  );
  assert.deepEqual(server.requests[0]?.body, {
    model: 'test-model',
    max_tokens: 64,
    system: 'Summarize.\n\nPrevious summary.',
    messages: [
      { role: 'user', content: [text('one'), text('two')] },
      { role: 'assistant', content: [text('three'), text('four')] },
      { role: 'user', content: [text('five'), text('the directive')] },
    ],
    output_config: { effort: 'low' },
    stream: true,
  });
});

test('an excerpt that begins with an answer gets a message of the user before it', async (t) => {
  const { provider, server } = await reach(t, 'anthropic', { script: [answer('ok')] });
  await provider.complete(request({ messages: [{ role: 'assistant', content: 'four' }] }));
  const note = '[The excerpt begins with an answer; what it answers is not shown.]';
  assert.deepEqual(server.requests[0]?.body['messages'], [
    { role: 'user', content: [text(note)] },
    { role: 'assistant', content: [text('four')] },
  ]);
});

test('M3: a request without a system prompt has none', async (t) => {
  const { provider, server } = await reach(t, 'anthropic', { script: [answer('ok')] });
  const { system: _system, ...rest } = request();
  await provider.complete(rest);
  assert.equal('system' in (server.requests[0]?.body ?? {}), false);
});

test('a long system prompt is cached apart from the summary that changes, and says the same', async (t) => {
  const { provider, server } = await reach(t, 'anthropic', { script: [answer('ok'), answer('ok')] });
  const messages: readonly Message[] = [
    { role: 'system', content: 'Previous summary.' },
    { role: 'user', content: 'one' },
  ];
  await provider.complete(request({ system: LONG_PROMPT, messages }));
  await provider.complete(request({ system: LONG_PROMPT }));
  const cached = { ...text(LONG_PROMPT), cache_control: { type: 'ephemeral' } };
  assert.deepEqual(
    server.requests.map(({ body }) => body['system']),
    [[cached, text('\n\nPrevious summary.')], [cached]],
  );
  assert.equal(buildAnthropicSystemParam(LONG_PROMPT, messages), `${LONG_PROMPT}\n\nPrevious summary.`);
});

test('half of a surrogate pair is sent as the replacement character', async (t) => {
  const { provider, server } = await reach(t, 'anthropic', { script: [answer('ok')] });
  await provider.complete(request({ system: 'a\ud83d', messages: [{ role: 'user', content: '\ude00b' }] }));
  const { system, messages } = server.requests[0]?.body ?? {};
  assert.deepEqual([system, messages], ['a\ufffd', [{ role: 'user', content: [text('\ufffdb')] }]]);
});

test('a model that knows no effort is asked without it, once and for all', async (t) => {
  const refusal = failing(400, 'output_config.effort: this model does not support the effort parameter');
  const { provider, server } = await reach(t, 'anthropic', { script: [refusal, answer('one'), answer('two')] });
  await provider.complete(request());
  await provider.complete(request());
  assert.deepEqual(
    server.requests.map(({ body }) => body['output_config']),
    [{ effort: 'low' }, undefined, undefined],
  );
});

test('the key goes as a bearer, and the version is the one that the SDK was made for', async (t) => {
  const { provider, server } = await reach(t, 'anthropic', { script: [answer('ok')] });
  await provider.complete(request());
  const sent: Headers[] = [];
  const fetch = (_url: unknown, init?: RequestInit): Promise<Response> => {
    sent.push(new Headers(init?.headers));
    return Promise.resolve(Response.json({ id: 'x' }));
  };
  await new Anthropic({ apiKey: 'none', fetch, openTelemetry: false }).post('/v1/messages', { body: {} });
  const names = ['authorization', 'anthropic-version', 'x-api-key'];
  assert.deepEqual(
    names.map((name) => server.requests[0]?.headers[name]),
    ['Bearer test-key-0123456789abcdef', sent[0]?.get('anthropic-version'), undefined],
  );
});

test('a base URL that ends in /v1 or in slashes is understood', async (t) => {
  const { server } = await reach(t, 'anthropic', { script: () => answer('ok') });
  for (const end of ['', '/', '/v1', '/v1/']) await providerAt('anthropic', `${server.url}${end}`).complete(request());
  assert.deepEqual(
    server.requests.map(({ path }) => path),
    Array.from({ length: 4 }, () => '/v1/messages'),
  );
});

test('credit that is used up is no reason to try again', async (t) => {
  const { provider, server } = await reach(t, 'anthropic', {
    script: [failing(400, 'Your credit balance is too low')],
  });
  assert.deepEqual(await errorOf(provider.complete(request())), {
    code: 'api_error',
    message: `${server.host} answered 400 (Your credit balance is too low): the account is out of credit, so trying again does not help`,
    retryable: false,
  });
});

test('events and deltas of a kind that is not known are passed over', async (t) => {
  const events = [
    { type: 'content_block_hint', text: 'hint' },
    { type: 'content_block_delta', index: 0, delta: { type: 'hint_delta', text: 'hint' } },
  ];
  const half = { bytes: events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('') };
  const { provider } = await reach(t, 'anthropic', { script: [answer('All is well here.', { half })] });
  assert.deepEqual((await provider.complete(request())).content, [text('All is well here.')]);
});

test('an answer that gave its reason to stop and did not stop has not ended', async (t) => {
  const events = [
    {
      type: 'message_start',
      message: { content: [], stop_reason: null, usage: { input_tokens: 1, output_tokens: 1 } },
    },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 1 } },
  ];
  const body = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');
  const script = [{ kind: 'raw', status: 200, body, headers: { 'content-type': 'text/event-stream' } } as const];
  const { provider, server } = await reach(t, 'anthropic', { script });
  assert.deepEqual(await errorOf(provider.complete(request())), {
    code: 'api_error',
    message: `${server.host} ended its answer before it was complete`,
    retryable: true,
  });
});

test('an old model is used without a warning on the console', async (t) => {
  const warn = t.mock.method(console, 'warn', () => undefined);
  const { provider } = await reach(t, 'anthropic', { script: [answer('ok')] });
  await provider.complete(request({ model: 'claude-sonnet-4-5' }));
  assert.equal(warn.mock.callCount(), 0);
});
