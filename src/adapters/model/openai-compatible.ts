import { APIError, OpenAI } from 'openai';
import type { ChatCompletionChunk } from 'openai/resources/chat/completions';
import type { Stream } from 'openai/streaming';
import type { ModelRequest, ModelResponse } from '../../core/model-request.ts';
import type { ModelProvider } from '../../ports/model.ts';
import { askAdapting, callService } from './call-service.ts';
import { openAnswer } from './events.ts';
import { createGuardedFetch } from './guarded-fetch.ts';
import { ADVICE } from './openai-advice.ts';
import { readOpenAiAnswer } from './openai-answer.ts';
import { classifyOpenAi } from './openai-errors.ts';
import { learnForm } from './openai-form.ts';
import { buildOpenAiBody, firstForm, type MaxTokensField, type OpenAiForm } from './openai-request.ts';
import { isCutPrompt, sizeOf } from './prompt-size.ts';
import { serviceError } from './service-error.ts';
import { createSdkLogger, openService, type ReachableService, requestHeaders, type ServiceOptions } from './service.ts';

export type OpenAiCompatibleOptions = ServiceOptions & {
  /** ollama: it cuts prompts that are too long without a word, which is looked for. */
  readonly flavor: 'openai' | 'ollama';
  /** Null: by the host. The other one is tried where a server refuses it. */
  readonly maxTokensField?: MaxTokensField | null;
};

/** Summaries by any server that speaks OpenAI's chat completions. `baseUrl` is what stands before `/chat/completions`. */
export function createOpenAiCompatibleProvider(options: OpenAiCompatibleOptions): ModelProvider {
  const opened = openService(options, ADVICE[options.flavor]);
  if (!opened.ok) return { complete: () => Promise.reject(opened.error) };
  const reached = opened.value;
  const client = createClient(reached, options.log);
  const state = { form: firstForm(reached.base.hostname, options.maxTokensField ?? null) };
  const mayCut = options.flavor === 'ollama';
  return {
    complete: (request, signal) =>
      callService(
        { service: reached.service, classify: classifyOpenAi },
        { timeoutMs: request.timeout, signal },
        (own) => askAdapting(state, (form) => ask(client, { request, form, signal: own, reached, mayCut }), learnForm),
      ),
  };
}

/** Never the one that counts. */
const SDK_TIMEOUT_MS = 2 ** 31 - 1;

function createClient({ service, base, key }: ReachableService, log: ServiceOptions['log']): OpenAI {
  return new OpenAI({
    // All are given, so that the SDK looks for none in the environment; the header is the fetch's.
    apiKey: key ?? 'none',
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    baseURL: base.url,
    maxRetries: 0,
    timeout: SDK_TIMEOUT_MS,
    logger: createSdkLogger(service, log ?? (() => undefined)),
    logLevel: log === undefined ? 'off' : 'info',
    fetch: createGuardedFetch(requestHeaders(key)),
  });
}

type Asked = {
  readonly request: ModelRequest;
  readonly form: OpenAiForm;
  readonly signal: AbortSignal;
  readonly reached: ReachableService;
  readonly mayCut: boolean;
};

async function ask(client: OpenAI, { request, form, signal, reached, mayCut }: Asked): Promise<ModelResponse> {
  const body = buildOpenAiBody(request, form);
  const response = await client
    .post<Stream<ChatCompletionChunk>>('/chat/completions', { body, stream: true, signal })
    .withResponse();
  const { text, stopReason, usage } = await readOpenAiAnswer(await openAnswer(response, errorEventBody));
  const sent = body.messages.map(({ content }) => content);
  if (mayCut && usage !== null && isCutPrompt(sent, usage.input_tokens)) {
    const happened = `read ${usage.input_tokens} tokens of about ${sizeOf(sent)}, so it has cut the request`;
    const advice = 'give the model a larger context (num_ctx, OLLAMA_CONTEXT_LENGTH), or make smaller chunks';
    throw serviceError(reached.service, happened, { code: 'context_length', retryable: false, advice });
  }
  return {
    content: text === '' ? [] : [{ type: 'text', text: reached.service.mask.written(text) }],
    stop_reason: stopReason,
    usage: usage ?? { input_tokens: sizeOf(sent), output_tokens: sizeOf([text]), isEstimate: true },
  };
}

/** The SDK keeps the inside of `{ error }`. */
function errorEventBody(error: unknown): unknown {
  return error instanceof APIError ? error.error : undefined;
}
