import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answer, type AnswerReply } from '../../support/model-server/reply.ts';
import { type ProviderName, PROVIDERS, reach, request } from './providers.ts';

const SAID = 'Der Port ist 8080 — 端口 8080, 👍.';
const USAGE = { input_tokens: 120, output_tokens: 30, cached_input_tokens: 0 };
const said = (text: string, stopReason = 'end_turn', usage: object = USAGE): object => ({
  content: text === '' ? [] : [{ type: 'text', text }],
  stop_reason: stopReason,
  usage,
});

/** Why a model stops, in the words of each API. */
const STOPS: Readonly<Record<ProviderName, Readonly<Record<string, string>>>> = {
  anthropic: {
    end_turn: 'end_turn',
    max_tokens: 'max_tokens',
    model_context_window_exceeded: 'max_tokens',
    refusal: 'refusal',
    stop_sequence: 'stop_sequence',
    tool_use: 'tool_use',
    pause_turn: 'other',
  },
  'openai-compatible': {
    stop: 'end_turn',
    length: 'max_tokens',
    content_filter: 'refusal',
    tool_calls: 'tool_use',
    something_new: 'other',
    // Of engines that servers hand on as they are.
    eos_token: 'end_turn',
    end_turn: 'end_turn',
    STOP: 'end_turn',
    MAX_TOKENS: 'max_tokens',
    stop_sequence: 'stop_sequence',
  },
};

for (const name of PROVIDERS) {
  const good: readonly (readonly [what: string, reply: AnswerReply, response: object])[] = [
    ['a streamed answer', answer(SAID), said(SAID)],
    ['an answer that is not streamed although it was asked for', answer(SAID, { isWhole: true }), said(SAID)],
    ['an answer that drips', answer(SAID, { pauseMs: 2 }), said(SAID)],
    ['a stream under a wrong content type', answer(SAID, { contentType: 'text/plain' }), said(SAID)],
    ['an answer after thinking', answer(SAID, { thinking: 'The port, the port…' }), said(SAID)],
    ['an answer that calls a tool', answer('', { tool: 'look' }), said('', 'tool_use')],
    ['an answer of no text', answer(''), said('')],
    [
      'cached tokens',
      answer(SAID, { usage: { input: 900, output: 40, cached: 700 } }),
      said(SAID, 'end_turn', { input_tokens: 900, output_tokens: 40, cached_input_tokens: 700 }),
    ],
  ];
  for (const [what, reply, response] of good) {
    test(`${name}: ${what}`, async (t) => {
      const { provider } = await reach(t, name, { script: [reply] });
      assert.deepEqual(await provider.complete(request()), response);
    });
  }

  for (const [stop, reason] of Object.entries(STOPS[name])) {
    test(`${name}: it stopped with ${stop}`, async (t) => {
      const { provider } = await reach(t, name, { script: [answer('text', { stop })] });
      assert.deepEqual(await provider.complete(request()), said('text', reason));
    });
  }

  test(`${name}: calls at the same time do not mix`, async (t) => {
    const { provider } = await reach(t, name, { script: ({ body }) => answer(`for ${String(body['model'])}`) });
    const models = ['a', 'b', 'c', 'd', 'e'];
    const answers = await Promise.all(models.map((model) => provider.complete(request({ model }))));
    assert.deepEqual(
      answers,
      models.map((model) => said(`for ${model}`)),
    );
  });
}

test('openai-compatible: thinking that a local server leaves in the text is no part of the answer', async (t) => {
  const script = [answer('<think>\nWell.\n</think>\n\nThe port.'), answer('<think>cut off', { stop: 'length' })];
  const { provider } = await reach(t, 'openai-compatible', { script });
  assert.deepEqual(await provider.complete(request()), said('The port.'));
  assert.deepEqual(await provider.complete(request()), said('', 'max_tokens'));
});

test('openai-compatible: a refusal in the field for refusals', async (t) => {
  const refused = { choices: [{ message: { content: null, refusal: 'No.' }, finish_reason: 'stop' }] };
  const script = [{ kind: 'raw', status: 200, body: JSON.stringify(refused) } as const];
  const { provider } = await reach(t, 'openai-compatible', { script });
  assert.equal((await provider.complete(request())).stop_reason, 'refusal');
});

test('openai-compatible: where the server does not count, the usage is an estimate and says so', async (t) => {
  const { provider } = await reach(t, 'openai-compatible', { script: [answer('x'.repeat(40), { usage: null })] });
  const asked = request({ system: 'y'.repeat(400), messages: [{ role: 'user', content: 'z'.repeat(80) }] });
  assert.deepEqual(
    await provider.complete(asked),
    said('x'.repeat(40), 'end_turn', { input_tokens: 120, output_tokens: 10, isEstimate: true }),
  );
});
