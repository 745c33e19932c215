import type { ModelRequest, ModelResponse, StopReason } from '../../src/core/model-request.ts';
import type { ModelProvider } from '../../src/ports/model.ts';

export function answer(text: string, stopReason: StopReason = 'end_turn'): ModelResponse {
  return { content: [{ type: 'text', text }], stop_reason: stopReason, usage: { input_tokens: 10, output_tokens: 2 } };
}

/** A model that answers by a script: the n-th call (from 0) gets what the script gives for it; errors are thrown. */
export function scriptedModel(
  script: (call: number, request: ModelRequest) => ModelResponse | Error,
): ModelProvider & { readonly requests: readonly ModelRequest[] } {
  const requests: ModelRequest[] = [];
  return {
    requests,
    complete: async (request) => {
      const given = script(requests.length, request);
      requests.push(request);
      if (given instanceof Error) throw given;
      return given;
    },
  };
}

/** Everything that a request says, as one text. */
export function textOf(request: ModelRequest): string {
  return request.messages
    .map(
      ({ role, content }) =>
        `${role}: ${typeof content === 'string' ? content : content.map(({ text }) => text).join('|')}`,
    )
    .join('\n');
}
