import type { SummaryBatch } from './batch.ts';
import type { ConversationMessage } from './message.ts';
import type { Count } from './units.ts';

export type ContentBlock = { readonly type: 'text'; readonly text: string };

/** A message of a request. The directive is a content block of its own, never joined to transcript text. */
export type Message = {
  readonly role: 'user' | 'assistant' | 'system';
  readonly content: string | readonly ContentBlock[];
};

/** Blocks are parted by a blank line, as they are where a service takes nothing but text. */
export function textOfContent(content: Message['content']): string {
  return typeof content === 'string' ? content : content.map(({ text }) => text).join('\n\n');
}

/** What the request was made from, for the offline provider: never sent, not in the summary cache's key. */
export type ModelSource =
  | {
      readonly kind: 'chunk';
      readonly messages: readonly ConversationMessage[];
      /** What earlier batches of the conversation already say. */
      readonly earlier: readonly string[];
    }
  | { readonly kind: 'batches'; readonly batches: readonly SummaryBatch[] };

export type ModelRequest = {
  readonly messages: readonly Message[];
  readonly system?: string;
  readonly model: string;
  readonly max_tokens: Count;
  readonly temperature?: number;
  /** Milliseconds, for the whole call. */
  readonly timeout?: number;
  readonly source?: ModelSource;
};

export type StopReason = 'end_turn' | 'max_tokens' | 'refusal' | 'stop_sequence' | 'tool_use' | 'other';

/** As the service counts; `input_tokens` holds those that it had cached. */
export type ModelUsage = {
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cached_input_tokens?: number;
  /** The service did not tell: the numbers are estimates (bytes / 4). */
  readonly isEstimate?: boolean;
};

export type ModelResponse = {
  readonly content: readonly ContentBlock[];
  readonly stop_reason: StopReason;
  readonly usage: ModelUsage;
};

export type ModelErrorCode = 'auth' | 'rate_limit' | 'timeout' | 'context_length' | 'api_error';

type ModelErrorOptions = {
  readonly retryable: boolean;
  readonly retryAfterMs?: number;
  readonly cause?: unknown;
};

/** What a model's service answered instead of a summary; `retryable` says whether the same request may succeed later. */
export class ModelError extends Error {
  readonly code: ModelErrorCode;
  readonly retryable: boolean;
  /** How long the service asks to wait before that, as it said it: capping is the caller's. */
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
 * The system parameter of an Anthropic request: the request's own system prompt, then its system messages in their order,
 * parted by a blank line; undefined where there are none. Blank ones are left out.
 */
export function buildAnthropicSystemParam(
  requestSystem: string | undefined,
  messages: readonly Message[],
): string | undefined {
  const said = messages.filter(({ role }) => role === 'system').map(({ content }) => textOfContent(content));
  const parts = [requestSystem ?? '', ...said].filter((text) => text.trim() !== '');
  return parts.length === 0 ? undefined : parts.join('\n\n');
}
