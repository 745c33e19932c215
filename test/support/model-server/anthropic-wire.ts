import { type AnswerReply, DEFAULT_USAGE, piecesOf, type Reply } from './reply.ts';

const HEAD = { id: 'msg_1', type: 'message', role: 'assistant', model: 'test-model', stop_sequence: null } as const;

function usageOf({ usage }: AnswerReply): Readonly<Record<string, number>> {
  const { input, output, cached = 0 } = usage ?? DEFAULT_USAGE;
  return {
    input_tokens: input - cached,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: cached,
    output_tokens: output,
  };
}

function stopOf({ stop, tool }: AnswerReply): string {
  return stop ?? (tool === undefined ? 'end_turn' : 'tool_use');
}

/** The whole message. */
export function anthropicMessage(reply: AnswerReply): unknown {
  const { text, thinking, tool } = reply;
  return {
    ...HEAD,
    content: [
      ...(thinking === undefined ? [] : [{ type: 'thinking', thinking, signature: 'c2ln' }]),
      ...(text === '' ? [] : [{ type: 'text', text, citations: null }]),
      ...(tool === undefined ? [] : [{ type: 'tool_use', id: 'toolu_1', name: tool, input: {} }]),
    ],
    stop_reason: stopOf(reply),
    usage: usageOf(reply),
  };
}

/** The same as events of a stream. */
export function anthropicEvents(reply: AnswerReply): readonly string[] {
  const { text, thinking, tool } = reply;
  const usage = usageOf(reply);
  const blocks = [
    ...(thinking === undefined
      ? []
      : [
          {
            start: { type: 'thinking', thinking: '', signature: '' },
            deltas: [
              { type: 'thinking_delta', thinking },
              { type: 'signature_delta', signature: 'c2ln' },
            ],
          },
        ]),
    ...(text === ''
      ? []
      : [
          {
            start: { type: 'text', text: '', citations: null },
            deltas: piecesOf(text).map((piece) => ({ type: 'text_delta', text: piece })),
          },
        ]),
    ...(tool === undefined
      ? []
      : [
          {
            start: { type: 'tool_use', id: 'toolu_1', name: tool, input: {} },
            deltas: [{ type: 'input_json_delta', partial_json: '{}' }],
          },
        ]),
  ];
  return [
    {
      type: 'message_start',
      message: { ...HEAD, content: [], stop_reason: null, usage: { ...usage, output_tokens: 1 } },
    },
    { type: 'ping' },
    ...blocks.flatMap(({ start, deltas }, index) => [
      { type: 'content_block_start', index, content_block: start },
      ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
      { type: 'content_block_stop', index },
    ]),
    {
      type: 'message_delta',
      delta: { stop_reason: stopOf(reply), stop_sequence: null },
      usage: { output_tokens: usage['output_tokens'] },
    },
    { type: 'message_stop' },
  ].map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
}

const TYPES: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  529: 'overloaded_error',
};

export function anthropicError({ status, message, type }: Extract<Reply, { kind: 'error' }>): unknown {
  return { type: 'error', error: { type: type ?? TYPES[status] ?? 'api_error', message }, request_id: 'req_1' };
}
