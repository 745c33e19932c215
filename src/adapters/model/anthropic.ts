import { Anthropic, APIError } from '@anthropic-ai/sdk';
import type { RawMessageStreamEvent } from '@anthropic-ai/sdk/resources/messages';
import type { Stream } from '@anthropic-ai/sdk/streaming';
import type { ModelRequest, ModelResponse } from '../../core/model-request.ts';
import type { ModelProvider } from '../../ports/model.ts';
import { readAnthropicAnswer } from './anthropic-answer.ts';
import { classifyAnthropic } from './anthropic-errors.ts';
import { buildAnthropicBody } from './anthropic-request.ts';
import { askAdapting, callService } from './call-service.ts';
import { openAnswer } from './events.ts';
import type { Fault } from './fault.ts';
import { createGuardedFetch } from './guarded-fetch.ts';
import { createSdkLogger, openService, type ReachableService, requestHeaders, type ServiceOptions } from './service.ts';
import { namesUnsupported } from './unsupported.ts';

/** The version of the API that answers are read as: not the one that the environment may ask the SDK for. */
const API_VERSION = '2026-10-21';

const ADVICE = {
  key: 'ANTHROPIC_API_KEY or what api_key_env names',
  notFound: 'check the name of the model, and base_url, which ends without /v1',
  refused: 'check base_url, and whether a server runs there',
};

/** Summaries by Anthropic's Messages API. `baseUrl` ends without `/v1`; one that has it is understood. */
export function createAnthropicProvider(options: ServiceOptions): ModelProvider {
  const opened = openService({ ...options, baseUrl: options.baseUrl.replace(/\/v1\/*$/, '') }, ADVICE);
  if (!opened.ok) return { complete: () => Promise.reject(opened.error) };
  const reached = opened.value;
  const client = createClient(reached, options.log);
  const state = { form: { hasEffort: true } };
  return {
    complete: (request, signal) =>
      callService(
        { service: reached.service, classify: classifyAnthropic },
        { timeoutMs: request.timeout, signal },
        (own) => askAdapting(state, (form) => ask(client, { request, form, signal: own, reached }), withoutEffort),
      ),
  };
}

function createClient({ service, base, key }: ReachableService, log: ServiceOptions['log']): Anthropic {
  return new Anthropic({
    // Both are given, so that the SDK looks for neither in the environment or in profiles; the header is the fetch's.
    apiKey: key ?? 'none',
    baseURL: base.url,
    webhookKey: null,
    maxRetries: 0,
    openTelemetry: false,
    logger: createSdkLogger(service, log ?? (() => undefined)),
    logLevel: log === undefined ? 'off' : 'info',
    fetch: createGuardedFetch({ ...requestHeaders(key), 'anthropic-version': API_VERSION }),
  });
}

type Asked = {
  readonly request: ModelRequest;
  readonly form: { readonly hasEffort: boolean };
  readonly signal: AbortSignal;
  readonly reached: ReachableService;
};

/** Not through `messages.create`, which warns of old models on the console whatever logger it has. */
async function ask(client: Anthropic, { request, form, signal, reached }: Asked): Promise<ModelResponse> {
  const response = await client
    .post<Stream<RawMessageStreamEvent>>('/v1/messages', {
      body: buildAnthropicBody(request, form),
      stream: true,
      signal,
      timeout: SDK_TIMEOUT_MS,
    })
    .withResponse();
  const answer = await readAnthropicAnswer(await openAnswer(response, errorEventBody));
  const { written } = reached.service.mask;
  return { ...answer, content: answer.content.map((block) => ({ ...block, text: written(block.text) })) };
}

/** Never the one that counts. */
const SDK_TIMEOUT_MS = 2 ** 31 - 1;

function errorEventBody(error: unknown): unknown {
  return error instanceof APIError ? error.error : undefined;
}

/** Models of before effort refuse it. */
function withoutEffort({ hasEffort }: Asked['form'], fault: Fault): Partial<Asked['form']> | null {
  return hasEffort && namesUnsupported(fault, ['effort', 'output_config']) ? { hasEffort: false } : null;
}
