import { type AnswerReply, DEFAULT_USAGE, piecesOf, type Reply } from './reply.ts';

const HEAD = { id: 'chatcmpl-1', created: 1_700_000_000, model: 'test-model' } as const;

function usageOf({ usage }: AnswerReply): unknown {
  if (usage === null) return undefined;
  const { input, output, cached = 0 } = usage ?? DEFAULT_USAGE;
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: { cached_tokens: cached },
  };
}

function stopOf({ stop, tool }: AnswerReply): string {
  return stop ?? (tool === undefined ? 'stop' : 'tool_calls');
}

function callOf(tool: string | undefined): unknown {
  if (tool === undefined) return {};
  return { tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: { name: tool, arguments: '{}' } }] };
}

/** The whole completion. */
export function openAiCompletion(reply: AnswerReply): unknown {
  const said = { role: 'assistant', content: reply.text, refusal: null, ...Object(callOf(reply.tool)) };
  return {
    ...HEAD,
    object: 'chat.completion',
    choices: [{ index: 0, message: said, logprobs: null, finish_reason: stopOf(reply) }],
    usage: usageOf(reply),
  };
}

/** The same as events of a stream; thinking is the field that DeepSeek has for it. */
export function openAiEvents(reply: AnswerReply, hasUsage: boolean): readonly string[] {
  const chunk = (delta: unknown, reason: string | null = null): unknown => ({
    ...HEAD,
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta, logprobs: null, finish_reason: reason }],
  });
  return [
    chunk({ role: 'assistant', content: '' }),
    ...(reply.thinking === undefined ? [] : [chunk({ content: null, reasoning_content: reply.thinking })]),
    ...piecesOf(reply.text).map((content) => chunk({ content })),
    ...(reply.tool === undefined ? [] : [chunk(callOf(reply.tool))]),
    chunk({}, stopOf(reply)),
    ...(hasUsage ? [{ ...HEAD, object: 'chat.completion.chunk', choices: [], usage: usageOf(reply) }] : []),
  ]
    .map((event) => `data: ${JSON.stringify(event)}\n\n`)
    .concat('data: [DONE]\n\n');
}

export function openAiError({ message, type, param, code }: Extract<Reply, { kind: 'error' }>): unknown {
  return { error: { message, type: type ?? 'invalid_request_error', param: param ?? null, code: code ?? null } };
}
