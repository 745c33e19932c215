import type { ContentBlock, ModelRequest } from './model-request.ts';

/** The same request, told what was wrong with the last answer to it: a block of its own behind the directive. */
export function addFeedback(request: ModelRequest, problem: string): ModelRequest {
  const directive = request.messages.at(-1);
  if (directive === undefined) return request;
  const { content } = directive;
  const blocks: readonly ContentBlock[] = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
  const feedback = `Your last answer to this could not be used: ${problem}. Write the summary again, complete, in fewer than ${request.max_tokens} tokens, and nothing but the summary.`;
  return {
    ...request,
    messages: [
      ...request.messages.slice(0, -1),
      { ...directive, content: [...blocks, { type: 'text', text: feedback }] },
    ],
  };
}
