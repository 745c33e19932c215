import type { SummaryBatch } from './batch.ts';
import type { ConversationMessage } from './message.ts';
import type { Count } from './units.ts';

export type ContentBlock = { readonly type: 'text'; readonly text: string };

/** A message of a request. The directive is a separate content block, never joined with transcript text. */
export type Message = {
  readonly role: 'user' | 'assistant' | 'system';
  readonly content: string | readonly ContentBlock[];
};

/** Joins blocks with a blank line, for services that accept only text. */
export function textOfContent(content: Message['content']): string {
  return typeof content === 'string' ? content : content.map(({ text }) => text).join('\n\n');
}

/** Calls as requests show them, by their ids. */
export type CallLines = ReadonlyMap<string, string>;

/** A request that stays word for word. `after`: the id of the last message before it that leaves; null: there is none. */
export type KeptRequest = { readonly messageId: string; readonly text: string; readonly after: string | null };

/** What the request was made from, for the offline provider. Never sent, and not part of the summary cache's key. */
export type ModelSource =
  | {
      readonly kind: 'chunk';
      readonly messages: readonly ConversationMessage[];
      /** What earlier batches of the conversation already say. */
      readonly earlier: readonly string[];
      /** Requests that stay in the transcript, in order. */
      readonly kept?: readonly KeptRequest[];
      /** The calls of the conversation, by id: those of the messages may be in another chunk. */
      readonly calls?: CallLines;
    }
  | { readonly kind: 'batches'; readonly batches: readonly SummaryBatch[] };

export type ModelRequest = {
  readonly messages: readonly Message[];
  readonly system?: string;
  readonly model: string;
  readonly max_tokens: Count;
  readonly temperature?: number;
  /** For the whole call, in milliseconds. */
  readonly timeout?: number;
  readonly source?: ModelSource;
};

export type StopReason = 'end_turn' | 'max_tokens' | 'refusal' | 'stop_sequence' | 'tool_use' | 'other';

/** Tokens as the service counts them. `input_tokens` includes cached ones. */
export type ModelUsage = {
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cached_input_tokens?: number;
  /** The numbers are estimates (bytes / 4), because the service sent none. */
  readonly isEstimate?: boolean;
};

export type ModelResponse = {
  readonly content: readonly ContentBlock[];
  readonly stop_reason: StopReason;
  readonly usage: ModelUsage;
};

/** deferred: the request was written down, and its answer comes later, from a batch. */
export type ModelErrorCode = 'auth' | 'rate_limit' | 'timeout' | 'context_length' | 'api_error' | 'deferred';

type ModelErrorOptions = {
  readonly retryable: boolean;
  readonly retryAfterMs?: number;
  readonly cause?: unknown;
};

/** A failure of a model's service. `retryable`: the same request may succeed later. */
export class ModelError extends Error {
  readonly code: ModelErrorCode;
  readonly retryable: boolean;
  /** How long the service asks to wait, uncapped. */
  readonly retryAfterMs: number | undefined;

  constructor(code: ModelErrorCode, message: string, options: ModelErrorOptions) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'ModelError';
    this.code = code;
    this.retryable = options.retryable;
    this.retryAfterMs = options.retryAfterMs;
  }
}

/**
 * Builds the system parameter of an Anthropic request: the request's system prompt and its system messages, separated by blank lines.
 * Undefined if all are blank.
 */
export function buildAnthropicSystemParam(
  requestSystem: string | undefined,
  messages: readonly Message[],
): string | undefined {
  const said = messages.filter(({ role }) => role === 'system').map(({ content }) => textOfContent(content));
  const parts = [requestSystem ?? '', ...said].filter((text) => text.trim() !== '');
  return parts.length === 0 ? undefined : parts.join('\n\n');
}
