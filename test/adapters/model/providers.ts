import { createServer } from 'node:net';
import type { TestContext } from 'node:test';
import { createAnthropicProvider } from '../../../src/adapters/model/anthropic.ts';
import {
  createOpenAiCompatibleProvider,
  type OpenAiCompatibleOptions,
} from '../../../src/adapters/model/openai-compatible.ts';
import { ModelError, type ModelRequest } from '../../../src/core/model-request.ts';
import type { ModelProvider } from '../../../src/ports/model.ts';
import type { ModelServer, Script } from '../../support/model-server/server.ts';
import { startModelServer } from '../../support/model-server/start.ts';

export const KEY = 'test-key-0123456789abcdef';

/** The moment at which all tests happen. */
const NOW = new Date('2026-11-21T12:00:00.000Z');

export type Options = Partial<Omit<OpenAiCompatibleOptions, 'baseUrl'>>;

export type Reached = { readonly provider: ModelProvider; readonly server: ModelServer };

export type ProviderName = 'anthropic' | 'openai-compatible';
export const PROVIDERS: readonly ProviderName[] = ['anthropic', 'openai-compatible'];

export function providerAt(name: ProviderName, url: string, options: Options = {}): ModelProvider {
  const common = { apiKey: KEY, now: () => NOW, ...options };
  return name === 'anthropic'
    ? createAnthropicProvider({ ...common, baseUrl: url })
    : createOpenAiCompatibleProvider({ flavor: 'openai', ...common, baseUrl: `${url}/v1` });
}

/** A provider and the server that it talks to. */
export async function reach(
  context: TestContext,
  name: ProviderName,
  setup: { readonly script: Script; readonly options?: Options },
): Promise<Reached> {
  const server = await startModelServer(context, setup.script);
  return { server, provider: providerAt(name, server.url, setup.options) };
}

export function request(said: Partial<ModelRequest> = {}): ModelRequest {
  return {
    system: 'Summarize.',
    messages: [{ role: 'user', content: 'The port is 8080.' }],
    model: 'test-model',
    max_tokens: 64,
    temperature: 0,
    timeout: 600_000,
    ...said,
  };
}

export type PlainError = {
  readonly code: string;
  readonly message: string;
  readonly retryable: boolean;
  readonly retryAfterMs?: number | undefined;
};

/** What a call is rejected with, as data; anything but a ModelError is thrown on. */
export async function errorOf(call: Promise<unknown>): Promise<PlainError> {
  try {
    const value = await call;
    throw new Error(`there was an answer: ${JSON.stringify(value)}`);
  } catch (error) {
    if (!(error instanceof ModelError)) throw error;
    const { code, message, retryable, retryAfterMs } = error;
    return { code, message, retryable, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
  }
}

/** One that was free a moment ago. */
export async function unusedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = Object(server.address());
  await new Promise((resolve) => server.close(resolve));
  return Number(port);
}
