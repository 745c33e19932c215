/**
 * How services say that a request is too long, by the words in which they do. A rate limit that a single request exceeds by itself is
 * one of them: waiting does not help there, a smaller request does.
 */
export const OVERFLOW_TEXTS: readonly { readonly services: string; readonly pattern: RegExp }[] = [
  { services: 'OpenAI, vLLM, OpenRouter, DeepSeek', pattern: /maximum context length (?:is|of) [\d,]+/i },
  { services: 'OpenAI (responses)', pattern: /exceeds the context window/i },
  { services: 'OpenAI, Groq (one request over its rate limit)', pattern: /request too large for/i },
  { services: 'vLLM', pattern: /context length is only [\d,]+ tokens/i },
  { services: 'vLLM (prompt alone)', pattern: /longer than the maximum model length/i },
  { services: 'SGLang', pattern: /longer than the model'?s context length/i },
  { services: 'llama.cpp', pattern: /exceeds? the available context size/i },
  { services: 'LM Studio', pattern: /loaded with (?:a )?context length of only/i },
  { services: 'LM Studio (MLX)', pattern: /context size has been exceeded|reached context length of/i },
  { services: 'Groq', pattern: /reduce the length of the messages/i },
  {
    services: 'Ollama',
    pattern: /input length exceeds (?:the )?(?:maximum )?context length|exceeded max context length/i,
  },
  { services: 'Mistral', pattern: /too large for model with [\d,]+ maximum context length/i },
  { services: 'TGI', pattern: /`inputs` (?:tokens|must have)/i },
  { services: 'Together, Fireworks', pattern: /model maximum context length:? [\d,]+/i },
  { services: 'xAI', pattern: /maximum prompt length is [\d,]+/i },
  { services: 'Moonshot', pattern: /exceeded model token limit/i },
  { services: 'Gemini', pattern: /input token count.{0,40}exceeds the maximum/i },
  { services: 'others', pattern: /exceeds? (?:the )?(?:model'?s )?maximum context length/i },
  { services: 'Anthropic', pattern: /prompt is too long/i },
  { services: 'Anthropic (with max_tokens)', pattern: /exceed context limit/i },
  { services: 'Bedrock', pattern: /input is too long for requested model/i },
];

/** Codes and types that say the same without words. */
const OVERFLOW_CODES: ReadonlySet<string> = new Set([
  'context_length_exceeded',
  'exceed_context_size_error',
  'model_context_window_exceeded',
  'request_too_large',
  'string_above_max_length',
]);

export function isOverflow(said: {
  readonly text: string;
  readonly type: string | null;
  readonly code: string | null;
}): boolean {
  if ([said.type, said.code].some((name) => name !== null && OVERFLOW_CODES.has(name))) return true;
  return OVERFLOW_TEXTS.some(({ pattern }) => pattern.test(said.text));
}
