import { Anthropic } from '@anthropic-ai/sdk';
import type { RawMessageStreamEvent } from '@anthropic-ai/sdk/resources/messages';
import type { Stream } from '@anthropic-ai/sdk/streaming';
import { z } from 'zod';
import {
  buildAnthropicSystemParam,
  type Message,
  type ModelError,
  type ModelRequest,
} from '../../core/model-request.ts';
import { ok, type Result } from '../../core/result.ts';
import { estimateTokensByBytes } from '../../core/tokens.ts';
import type { ModelProvider } from '../../ports/model.ts';
import { type ClientOptions, clientOptions, validate } from './answer.ts';
import { type AnswerReader, type ChatApi, createChatProvider, type Draft } from './chat.ts';
import { classifyAnthropic, namesUnsupported } from './service-failure.ts';
import { openService, type ServiceOptions } from './service.ts';

/** Summaries by Anthropic's Messages API. `baseUrl` should end without `/v1`, but may have it. */
export function createAnthropicProvider(options: ServiceOptions): ModelProvider {
  return createChatProvider(openAnthropic(options));
}

/** Answers are parsed as this version of the API, not as one that the environment may set for the SDK. */
const API_VERSION = '2026-10-21';

const ADVICE = {
  key: 'ANTHROPIC_API_KEY or what api_key_env names',
  notFound: 'check the name of the model, and base_url, which ends without /v1',
  refused: 'check base_url, and whether a server runs there',
};

/** `hasEffort` asks for little thinking, because thinking counts toward `max_tokens`. */
type Form = { readonly hasEffort: boolean };

export type AnthropicApi = ChatApi<Form, ReturnType<typeof buildAnthropicBody>, Usage> & { readonly client: Anthropic };

export function openAnthropic(options: ServiceOptions & ClientOptions): Result<AnthropicApi, ModelError> {
  const baseUrl = options.baseUrl.replace(/\/v1\/*$/, '');
  const opened = openService({ ...options, baseUrl }, { advice: ADVICE, classify: classifyAnthropic });
  if (!opened.ok) return opened;
  const service = opened.value;
  const client = new Anthropic({
    ...clientOptions(service, options, { 'anthropic-version': API_VERSION }),
    webhookKey: null,
    openTelemetry: false,
  });
  return ok({
    service,
    client,
    firstForm: { hasEffort: true },
    // Models older than the effort setting refuse it.
    adapt: ({ hasEffort }, failure) =>
      hasEffort && namesUnsupported(failure, ['effort', 'output_config']) ? { hasEffort: false } : null,
    buildBody: buildAnthropicBody,
    // Not with `messages.create`, which prints warnings about old models to the console, whatever its logger.
    post: (body, signal) =>
      client.post<Stream<RawMessageStreamEvent>>('/v1/messages', { body, stream: true, signal }).withResponse(),
    reader: READER,
    // The API always counts.
    textsOf: () => [],
  });
}

/** The shortest prompt that the API can cache, for the models with the lowest minimum. */
const MIN_CACHED_TOKENS = 1024;

/** The API wants a user's message first, so this one precedes an excerpt that starts with an answer. */
const STARTS_WITH_ANSWER_NOTE = '[The excerpt begins with an answer; what it answers is not shown.]';

/** Builds the API's form of a request (M1, M4). It has no sampling parameters, because newer models refuse them. */
function buildAnthropicBody(request: ModelRequest, { hasEffort }: Form) {
  const system = systemOf(request);
  return {
    model: request.model,
    max_tokens: request.max_tokens,
    ...(system === undefined ? {} : { system }),
    messages: turnsOf(request.messages),
    ...(hasEffort ? { output_config: { effort: 'low' } } : {}),
    stream: true,
  };
}

/** One text, or two blocks if the part that all requests share is long enough to be cached. */
function systemOf({ system, messages }: ModelRequest) {
  const whole = buildAnthropicSystemParam(system, messages);
  if (system === undefined || whole === undefined || estimateTokensByBytes(system) < MIN_CACHED_TOKENS) {
    return whole?.toWellFormed();
  }
  const lasting = { ...textBlock(system), cache_control: { type: 'ephemeral' } };
  const rest = whole.slice(system.length);
  return rest === '' ? [lasting] : [lasting, textBlock(rest)];
}

/**
 * Joins consecutive messages of one role into one message of several blocks, and drops blank ones, which the API
 * refuses.
 */
function turnsOf(messages: readonly Message[]) {
  const turns: { readonly role: string; readonly content: ReturnType<typeof textBlock>[] }[] = [];
  for (const { role, content } of messages) {
    if (role === 'system') continue;
    const texts = typeof content === 'string' ? [content] : content.map(({ text }) => text);
    const blocks = texts.filter((text) => text.trim() !== '').map(textBlock);
    if (blocks.length === 0) continue;
    const last = turns.at(-1);
    if (last?.role === role) last.content.push(...blocks);
    else turns.push({ role, content: blocks });
  }
  return turns[0]?.role === 'assistant'
    ? [{ role: 'user', content: [textBlock(STARTS_WITH_ANSWER_NOTE)] }, ...turns]
    : turns;
}

/** The API refuses lone surrogates, which old transcripts contain. */
function textBlock(text: string) {
  return { type: 'text', text: text.toWellFormed() };
}

const count = z.int().min(0).nullish();
const usageSchema = z.looseObject({
  input_tokens: count,
  output_tokens: count,
  cache_creation_input_tokens: count,
  cache_read_input_tokens: count,
});
type Usage = z.infer<typeof usageSchema>;
const blockSchema = z.looseObject({ type: z.string(), text: z.string().optional() });
const messageSchema = z.looseObject({
  content: z.array(blockSchema),
  stop_reason: z.string().nullable(),
  usage: usageSchema,
});
const eventSchema = z.looseObject({ type: z.string() });
const startSchema = z.looseObject({ message: messageSchema });
const blockStartSchema = z.looseObject({ content_block: blockSchema });
const blockDeltaSchema = z.looseObject({ delta: z.looseObject({ type: z.string(), text: z.string().optional() }) });
const deltaSchema = z.looseObject({
  delta: z.looseObject({ stop_reason: z.string().nullish() }),
  usage: usageSchema.optional(),
});

const READER: AnswerReader<Usage> = {
  whole: wholeDraft,
  add: (draft, event) => {
    const { type } = validate(eventSchema, event, 'event');
    if (type === 'message_start') return { ...wholeDraft(validate(startSchema, event, type).message), hasEnded: false };
    if (type === 'message_stop') return { ...(draft ?? NOTHING), hasEnded: true };
    return draft === null ? null : addEvent(draft, type, event);
  },
  toUsage: (usage) => {
    const cached = usage.cache_read_input_tokens ?? 0;
    return {
      // The API counts tokens that were read from and written to the cache separately.
      input_tokens: (usage.input_tokens ?? 0) + (usage.cache_creation_input_tokens ?? 0) + cached,
      output_tokens: usage.output_tokens ?? 0,
      cached_input_tokens: cached,
    };
  },
};

const NOTHING: Draft<Usage> = { text: '', reason: null, hasEnded: false, usage: null };

/** The text blocks only: thinking and tool calls are not part of a summary. */
function wholeDraft(value: unknown): Draft<Usage> {
  const { content, stop_reason: reason, usage } = validate(messageSchema, value, 'message');
  return { text: content.map(textOf).join(''), reason, hasEnded: true, usage };
}

/** Ignores events of unknown kinds, as the API requests. */
function addEvent(draft: Draft<Usage>, type: string, event: unknown): Draft<Usage> {
  switch (type) {
    case 'content_block_start':
      return { ...draft, text: draft.text + textOf(validate(blockStartSchema, event, type).content_block) };
    case 'content_block_delta': {
      const { delta } = validate(blockDeltaSchema, event, type);
      return delta.type === 'text_delta' ? { ...draft, text: draft.text + (delta.text ?? '') } : draft;
    }
    case 'message_delta': {
      const { delta, usage } = validate(deltaSchema, event, type);
      // Counts are running totals: a later one replaces an earlier one, and a missing one changes nothing.
      const later = Object.entries(usage ?? {}).filter(([, count]) => count !== undefined && count !== null);
      return {
        ...draft,
        reason: delta.stop_reason ?? draft.reason,
        usage: { ...draft.usage, ...Object.fromEntries(later) },
      };
    }
    default:
      return draft;
  }
}

function textOf({ type, text }: z.infer<typeof blockSchema>): string {
  return type === 'text' ? (text ?? '') : '';
}
