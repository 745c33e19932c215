import type { SummaryBatch } from './batch.ts';
import type { ConversationMessage } from './message.ts';

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
  readonly max_tokens: number;
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
