import { type ModelRequest, textOfContent } from '../../core/model-request.ts';

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
export type OpenAiBody = {
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
export function buildOpenAiBody(request: ModelRequest, form: OpenAiForm): OpenAiBody {
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
