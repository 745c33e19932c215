import { OpenAI } from 'openai';
import type { ChatCompletionChunk } from 'openai/resources/chat/completions';
import type { Stream } from 'openai/streaming';
import { z } from 'zod';
import { type ModelError, type ModelRequest, textOfContent } from '../../core/model-request.ts';
import { ok, type Result } from '../../core/result.ts';
import type { ModelProvider } from '../../ports/model.ts';
import { type ClientOptions, clientOptions, validate } from './answer.ts';
import { type AnswerReader, type ChatApi, createChatProvider, type Draft, sizeOf } from './chat.ts';
import { namesUnsupported, type ServiceFailure } from './service-failure.ts';
import { OPENAI_VENDORS, openService, serviceError, type ServiceOptions } from './service.ts';

export type OpenAiCompatibleOptions = ServiceOptions & {
  /** ollama: it cuts long prompts silently, so every answer is checked for that. */
  readonly flavor: 'openai' | 'ollama';
  /** Null: chosen by host. If the server refuses it, the other one is tried. */
  readonly maxTokensField?: MaxTokensField | null;
};

/** Summaries by any server with OpenAI's chat completions. `baseUrl` is what precedes `/chat/completions`. */
export function createOpenAiCompatibleProvider(options: OpenAiCompatibleOptions): ModelProvider {
  return createChatProvider(openOpenAi(options));
}

export type OpenAiApi = ChatApi<OpenAiForm, ReturnType<typeof buildOpenAiBody>, Usage> & { readonly client: OpenAI };

export function openOpenAi(options: OpenAiCompatibleOptions & ClientOptions): Result<OpenAiApi, ModelError> {
  const opened = openService(options, OPENAI_VENDORS[options.flavor]);
  if (!opened.ok) return opened;
  const service = opened.value;
  const client = new OpenAI({
    ...clientOptions(service, options),
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
  });
  return ok({
    service,
    client,
    firstForm: firstForm(service.hostname, options.maxTokensField ?? null),
    adapt: adaptForm,
    buildBody: buildOpenAiBody,
    post: (body, signal) =>
      client.post<Stream<ChatCompletionChunk>>('/chat/completions', { body, stream: true, signal }).withResponse(),
    reader: READER,
    textsOf: ({ messages }) => messages.map(({ content }) => content),
    check: (sent, { input_tokens: read }) => {
      if (options.flavor !== 'ollama' || !isCutPrompt(sent, read)) return;
      const happened = `read ${read} tokens of about ${sizeOf(sent)}, so it has cut the request`;
      const advice = 'give the model a larger context (num_ctx, OLLAMA_CONTEXT_LENGTH), or make smaller chunks';
      throw serviceError(service, happened, { code: 'context_length', retryable: false, advice });
    },
  });
}

type MaxTokensField = 'max_tokens' | 'max_completion_tokens';

/** The form in which a server takes requests, as far as is known. */
type OpenAiForm = {
  readonly maxTokensField: MaxTokensField;
  /** The other field was tried before. */
  readonly isSwapped: boolean;
  readonly hasTemperature: boolean;
  readonly hasUsageOption: boolean;
};

/** OpenAI's own hosts refuse the field that most other servers require. */
export function firstForm(hostname: string, configured: MaxTokensField | null): OpenAiForm {
  const isOpenAi = hostname === 'api.openai.com' || hostname.endsWith('.api.openai.com');
  return {
    maxTokensField: configured ?? (isOpenAi ? 'max_completion_tokens' : 'max_tokens'),
    isSwapped: false,
    hasTemperature: true,
    hasUsageOption: true,
  };
}

/**
 * Builds OpenAI's form of a request (M2–M4): the system prompt first, then everything in its place. Every content is a
 * string, which all servers accept.
 */
function buildOpenAiBody(request: ModelRequest, form: OpenAiForm) {
  const { system, messages, temperature } = request;
  const first = system === undefined || system.trim() === '' ? [] : [{ role: 'system', content: system } as const];
  return {
    model: request.model,
    messages: [...first, ...messages].flatMap(({ role, content }) => {
      // Many servers refuse lone surrogates, which old transcripts contain.
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

function adaptForm(used: OpenAiForm, failure: ServiceFailure): Partial<OpenAiForm> | null {
  if (!used.isSwapped && namesUnsupported(failure, [used.maxTokensField])) {
    return {
      maxTokensField: used.maxTokensField === 'max_tokens' ? 'max_completion_tokens' : 'max_tokens',
      isSwapped: true,
    };
  }
  if (used.hasTemperature && namesUnsupported(failure, ['temperature'])) return { hasTemperature: false };
  const isRefused = used.hasUsageOption && namesUnsupported(failure, ['stream_options', 'include_usage']);
  return isRefused ? { hasUsageOption: false } : null;
}

/** A server that counts less than this share of the estimate has cut the prompt; estimates are not that wrong. */
const MIN_SHARE = 0.6;
/** In a shorter prompt the overhead of a chat outweighs the text. */
const MIN_JUDGED_TOKENS = 500;

/**
 * Whether a server that cuts prompts silently has cut this one. Runs of one character (spaces, table rules) are single
 * tokens for most models, so they count once. Zero tokens mean that the server did not count.
 */
function isCutPrompt(texts: readonly string[], promptTokens: number): boolean {
  const expected = sizeOf(texts.map((text) => text.replaceAll(/(\s|[^\p{L}\p{N}])\1{2,}/gu, '$1')));
  return promptTokens > 0 && expected >= MIN_JUDGED_TOKENS && promptTokens < expected * MIN_SHARE;
}

const usageSchema = z.looseObject({
  prompt_tokens: z.int().min(0),
  completion_tokens: z.int().min(0).nullish(),
  prompt_tokens_details: z
    .looseObject({ cached_tokens: z.int().min(0).nullish() })
    .nullish()
    .catch(undefined),
});
type Usage = z.infer<typeof usageSchema>;
const contentSchema = z.looseObject({ content: z.string().nullish(), refusal: z.string().nullish() });
const envelope = { usage: usageSchema.nullish().catch(undefined) };
const chunkSchema = z.looseObject({
  ...envelope,
  choices: z
    .array(
      z.looseObject({ index: z.int().optional(), delta: contentSchema.nullish(), finish_reason: z.string().nullish() }),
    )
    .nullish(),
});
const completionSchema = z.looseObject({
  ...envelope,
  choices: z.array(z.looseObject({ message: contentSchema, finish_reason: z.string().nullish() })).min(1),
});

const READER: AnswerReader<Usage> = {
  whole: (value) => {
    const { choices, usage } = validate(completionSchema, value, 'completion');
    const [choice] = choices;
    const draft = { ...NOTHING, usage: usage ?? null };
    return choice === undefined ? draft : addContent(draft, choice.message, choice.finish_reason);
  },
  add: (before, event) => {
    const { choices, usage } = validate(chunkSchema, event, 'chunk');
    let draft = before ?? NOTHING;
    if (usage !== undefined && usage !== null) draft = { ...draft, usage };
    for (const { index = 0, delta, finish_reason: reason } of choices ?? []) {
      if (index === 0) draft = addContent(draft, delta ?? {}, reason);
    }
    return draft;
  },
  toUsage: ({ prompt_tokens: input, completion_tokens: output, prompt_tokens_details: details }) => ({
    input_tokens: input,
    output_tokens: output ?? 0,
    cached_input_tokens: details?.cached_tokens ?? 0,
  }),
  // Local servers that do not parse a model's thinking leave it at the start of the text.
  clean: (text) => text.replace(/^\s*<think>[\s\S]*?(?:<\/think>\s*|$)/, ''),
};

/** A stream ends with its finish reason. */
const NOTHING: Draft<Usage> = { text: '', reason: null, isRefusal: false, hasEnded: true, usage: null };

function addContent(
  draft: Draft<Usage>,
  { content, refusal }: z.infer<typeof contentSchema>,
  reason: string | null | undefined,
): Draft<Usage> {
  return {
    ...draft,
    text: draft.text + (content ?? ''),
    isRefusal: draft.isRefusal === true || (refusal ?? '') !== '',
    reason: reason ?? draft.reason,
  };
}
