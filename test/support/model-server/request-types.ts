import type { MessageCreateParamsStreaming } from '@anthropic-ai/sdk/resources/messages/messages';
import type { ChatCompletionCreateParamsStreaming } from 'openai/resources/chat/completions/completions';

/** The bodies that the SDKs send, as their own types have them: what `generate-schemas.ts` reads. */

/** Two of the SDK's parameters travel as headers. */
export type AnthropicRequest = Omit<MessageCreateParamsStreaming, 'user_profile_id' | 'workspace_id'>;
export type OpenAiRequest = ChatCompletionCreateParamsStreaming;
