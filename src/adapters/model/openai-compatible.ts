import { APIError, OpenAI } from 'openai';
import type { ChatCompletionChunk } from 'openai/resources/chat/completions';
import type { Stream } from 'openai/streaming';
import { type ModelRequest, type ModelResponse, textOfContent } from '../../core/model-request.ts';
import { estimateTokensByBytes } from '../../core/tokens.ts';
import type { ModelProvider } from '../../ports/model.ts';
import { createGuardedFetch, openAnswer } from './answer.ts';
import { askAdapting, callService } from './call-service.ts';
import type { Fault } from './fault.ts';
import { readOpenAiAnswer } from './openai-answer.ts';
import { ADVICE, classifyOpenAi } from './openai-errors.ts';
import {
  createSdkLogger,
  openService,
  type ReachableService,
  requestHeaders,
  serviceError,
  type ServiceOptions,
} from './service.ts';
import { namesUnsupported } from './translate.ts';

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

export type MaxTokensField = 'max_tokens' | 'max_completion_tokens';

/** In which form a server takes requests, as far as is known. */
export type OpenAiForm = {
  readonly maxTokensField: MaxTokensField;
  /** The other field was tried before. */
  readonly isSwapped: boolean;
  readonly hasTemperature: boolean;
  readonly hasUsageOption: boolean;
};

/** A streamed request for a chat completion; every content is a text, which all servers take. */
type OpenAiBody = {
  readonly model: string;
  readonly messages: readonly { readonly role: 'system' | 'user' | 'assistant'; readonly content: string }[];
  readonly max_tokens?: number;
  readonly max_completion_tokens?: number;
  readonly temperature?: number;
  readonly stream: true;
  readonly stream_options?: { readonly include_usage: true };
};

/** OpenAI's own hosts refuse the field that most others know alone. */
export function firstForm(hostname: string, configured: MaxTokensField | null): OpenAiForm {
  const isOpenAi = hostname === 'api.openai.com' || hostname.endsWith('.api.openai.com');
  return {
    maxTokensField: configured ?? (isOpenAi ? 'max_completion_tokens' : 'max_tokens'),
    isSwapped: false,
    hasTemperature: true,
    hasUsageOption: true,
  };
}

/** The request in OpenAI's form (M2–M4): its system prompt first, then everything in its place. */
function buildOpenAiBody(request: ModelRequest, form: OpenAiForm): OpenAiBody {
  const { system, messages, temperature } = request;
  const first = system === undefined || system.trim() === '' ? [] : [{ role: 'system', content: system } as const];
  return {
    model: request.model,
    messages: [...first, ...messages].flatMap(({ role, content }) => {
      // Half of a surrogate pair, as old transcripts have it, would make JSON that many servers refuse.
      const text = textOfContent(content).toWellFormed();
      return text.trim() === '' ? [] : [{ role, content: text }];
    }),
    ...(form.maxTokensField === 'max_tokens'
      ? { max_tokens: request.max_tokens }
      : { max_completion_tokens: request.max_tokens }),
    ...(form.hasTemperature && temperature !== undefined ? { temperature } : {}),
    stream: true,
    ...(form.hasUsageOption ? { stream_options: { include_usage: true } } : {}),
  };
}

/** What to do otherwise after a refusal that names a parameter of ours; null: nothing. Each change is made once at most. */
function learnForm(used: OpenAiForm, fault: Fault): Partial<OpenAiForm> | null {
  if (!used.isSwapped && namesUnsupported(fault, [used.maxTokensField])) {
    return {
      maxTokensField: used.maxTokensField === 'max_tokens' ? 'max_completion_tokens' : 'max_tokens',
      isSwapped: true,
    };
  }
  if (used.hasTemperature && namesUnsupported(fault, ['temperature'])) return { hasTemperature: false };
  if (used.hasUsageOption && namesUnsupported(fault, ['stream_options', 'include_usage'])) {
    return { hasUsageOption: false };
  }
  return null;
}

/** Below this share of what was sent a server has left some of it out: estimates are not that wrong. */
const MIN_SHARE = 0.6;
/** Where so little was sent, the frame of a chat counts for more than the text. */
const MIN_JUDGED_TOKENS = 500;

/** Tokens of texts, as estimated. */
function sizeOf(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + estimateTokensByBytes(text), 0);
}

/**
 * Whether a server that says nothing when it cuts prompts has cut this one. Runs of one character (spaces, rules of tables) are
 * single tokens for most models: they are not counted here. No tokens at all means that it did not count.
 */
function isCutPrompt(texts: readonly string[], promptTokens: number): boolean {
  const expected = sizeOf(texts.map((text) => text.replaceAll(/(\s|[^\p{L}\p{N}])\1{2,}/gu, '$1')));
  return promptTokens > 0 && expected >= MIN_JUDGED_TOKENS && promptTokens < expected * MIN_SHARE;
}
