import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LLMock } from '@copilotkit/aimock';
import { providerAt, PROVIDERS, request } from './providers.ts';

for (const name of PROVIDERS) {
  test(`${name}: a server that somebody else wrote understands the request, and its answer is understood`, async (t) => {
    const mock = new LLMock({ port: 0, host: '127.0.0.1' });
    mock.onMessage(/port is 8080/, {
      content: 'The port is 8080, and that is all.',
      usage: { prompt_tokens: 21, completion_tokens: 9, input_tokens: 21, output_tokens: 9 },
    });
    await mock.start();
    t.after(() => mock.stop());
    assert.deepEqual(await providerAt(name, mock.url).complete(request()), {
      content: [{ type: 'text', text: 'The port is 8080, and that is all.' }],
      stop_reason: 'end_turn',
      usage: { input_tokens: 21, output_tokens: 9, cached_input_tokens: 0 },
    });
  });
}
