import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRedactingModel, redactMessages, redactRequest } from '../../src/app/summarize/redacting-model.ts';
import type { ModelRequest } from '../../src/core/model-request.ts';
import { buildSummarizationRequest, callLines, DEFAULT_DIRECTIVE } from '../../src/core/prompt.ts';
import type { Redactor } from '../../src/ports/model.ts';
import { message, messages } from '../support/messages.ts';
import { answer, scriptedModel, textOf } from '../support/models.ts';

/** Masks what is assigned to PASSWORD, and from then on that text everywhere. */
function passwordRedactor(): Redactor {
  const known: string[] = [];
  return {
    redact: (text) => {
      for (const [, secret] of text.matchAll(/PASSWORD=(\w+)/g)) {
        if (secret !== undefined && !known.includes(secret)) known.push(secret);
      }
      return known.reduce((masked, secret, at) => masked.replaceAll(secret, `[redacted:password:${at + 1}]`), text);
    },
    masked: () => (known.length === 0 ? [] : [{ kind: 'password', count: known.length }]),
  };
}

const REQUEST = buildSummarizationRequest({
  systemPrompt: 'Answer as the log of PASSWORD=mine.',
  previousSummary: 'They set PASSWORD=hunter2.',
  messages: messages(
    { content: 'Try swordfish' },
    { role: 'assistant', content: 'Done: PASSWORD=swordfish' },
    { role: 'tool', content: 'hunter2 is refused' },
  ),
  modelName: 'model',
  maxTokens: 100,
});

async function sent(request: ModelRequest): Promise<ModelRequest> {
  const model = scriptedModel(() => answer('ok'));
  await createRedactingModel(model, passwordRedactor()).complete(request);
  const [received] = model.requests;
  assert.ok(received !== undefined);
  return received;
}

test('secrets are masked in the previous summary and in every message, wherever they are recognized as secrets', async () => {
  assert.equal(
    textOf(await sent(REQUEST)),
    [
      'system: Previous summary of conversation:\nThey set PASSWORD=[redacted:password:1].',
      'user: Try [redacted:password:2]',
      'assistant: Done: PASSWORD=[redacted:password:2]',
      'user: [Tool result]: [redacted:password:1] is refused',
      `user: ${DEFAULT_DIRECTIVE}`,
    ].join('\n'),
  );
});

test("R1: the user's system prompt goes out as it is written", async () => {
  assert.equal((await sent(REQUEST)).system, 'Answer as the log of PASSWORD=mine.');
});

test('what the request was made from does not go along', async () => {
  assert.deepEqual(Object.keys(await sent(REQUEST)).sort(), [
    'max_tokens',
    'messages',
    'model',
    'system',
    'temperature',
  ]);
});

test("secrets are masked in the model's answer", async () => {
  const model = scriptedModel(() => answer('It said PASSWORD=swordfish.'));
  assert.deepEqual(
    await createRedactingModel(model, passwordRedactor()).complete(REQUEST),
    answer('It said PASSWORD=[redacted:password:2].'),
  );
});

test('an error of the model comes through', async () => {
  const model = scriptedModel(() => new Error('overloaded'));
  await assert.rejects(createRedactingModel(model, passwordRedactor()).complete(REQUEST), new Error('overloaded'));
});

test('an abort reaches the model', async () => {
  const signals: (AbortSignal | undefined)[] = [];
  const { signal } = new AbortController();
  const model = {
    complete: async (_request: ModelRequest, given?: AbortSignal) => {
      signals.push(given);
      return answer('ok');
    },
  };
  await createRedactingModel(model, passwordRedactor()).complete(REQUEST, signal);
  assert.deepEqual(signals, [signal]);
});

test('messages are masked in their text, their parts and the arguments of their calls', () => {
  const said = [
    message({
      role: 'assistant',
      content: 'run {"env":"PASSWORD=hunter2"}',
      parts: [{ kind: 'call', id: 'a', name: 'run', arguments: '{"env":"PASSWORD=hunter2"}' }],
      tool_calls: [{ id: 'a', name: 'run', arguments: { env: 'PASSWORD=hunter2' } }],
    }),
    message({
      role: 'tool',
      content: 'hunter2',
      parts: [{ kind: 'result', callId: 'a', text: 'hunter2', isError: false }],
    }),
  ];
  assert.deepEqual(redactMessages(said, passwordRedactor()), [
    message({
      role: 'assistant',
      content: 'run {"env":"PASSWORD=[redacted:password:1]"}',
      parts: [{ kind: 'call', id: 'a', name: 'run', arguments: '{"env":"PASSWORD=[redacted:password:1]"}' }],
      tool_calls: [{ id: 'a', name: 'run', arguments: '{"env":"PASSWORD=[redacted:password:1]"}' }],
    }),
    message({
      role: 'tool',
      content: '[redacted:password:1]',
      parts: [{ kind: 'result', callId: 'a', text: '[redacted:password:1]', isError: false }],
    }),
  ]);
});

/** Masks a text by what printed it. */
const commandRedactor: Redactor = {
  redact: (text, before = '') => (before.includes('op read') ? '(masked)' : text),
  masked: () => [],
};

test('the redactor gets the call with its result, also if the call is in another chunk of the conversation', () => {
  const call = message({
    role: 'assistant',
    content: 'op',
    tool_calls: [{ id: 'a', name: 'run', arguments: '"op read x"' }],
  });
  const result = message({ role: 'tool', content: 'sunflower', tool_call_id: 'a' });
  const said = [message({ role: 'system', content: 'left out' }), result, message({ role: 'user', content: 'thanks' })];
  const request = buildSummarizationRequest({
    systemPrompt: 's',
    previousSummary: 'earlier',
    messages: said,
    calls: callLines([call]),
    modelName: 'model',
    maxTokens: 100,
  });
  assert.deepEqual(
    redactRequest(request, commandRedactor)
      .messages.slice(1, 3)
      .map(({ content }) => content),
    ['(masked)', 'thanks'],
  );
  assert.deepEqual(
    redactMessages([call, result], commandRedactor).map(({ content }) => content),
    ['op', '(masked)'],
  );
});
