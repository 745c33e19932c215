import type { Json } from '../../src/ports/codec.ts';

type JsonObject = { readonly [key: string]: Json };

/** How a kind of history writes what is said, a message that makes calls, and a message that answers some of them. */
export type ToolDialect = {
  readonly name: string;
  readonly say: (role: 'user' | 'assistant', text: string) => JsonObject;
  readonly call: (ids: readonly string[]) => JsonObject;
  readonly answer: (ids: readonly string[], text: string) => JsonObject;
};

const typed = (role: string, text: string): JsonObject => ({ role, content: [{ type: 'text', text }] });

export const TOOL_DIALECTS: readonly ToolDialect[] = [
  {
    name: 'Anthropic',
    say: typed,
    call: (ids) => ({
      role: 'assistant',
      content: ids.map((id) => ({ type: 'tool_use', id, name: 'winch', input: { turns: 3 } })),
    }),
    answer: (ids, text) => ({
      role: 'user',
      content: ids.map((id) => ({ type: 'tool_result', tool_use_id: id, content: [{ type: 'text', text }] })),
    }),
  },
  {
    name: 'Bedrock',
    say: (role, text) => ({ role, content: [{ text }] }),
    call: (ids) => ({
      role: 'assistant',
      content: [
        { reasoningContent: { reasoningText: { text: 'thought' } } },
        ...ids.map((id) => ({ toolUse: { toolUseId: id, name: 'winch', input: { turns: 3 } } })),
      ],
    }),
    answer: (ids, text) => ({
      role: 'user',
      content: ids.map((id) => ({ toolResult: { toolUseId: id, status: 'success', content: [{ text }] } })),
    }),
  },
  {
    name: 'Goose',
    say: (role, text) => ({ ...typed(role, text), created: 1935655200 }),
    call: (ids) => ({
      role: 'assistant',
      created: 1935655200,
      content: ids.map((id) => ({
        type: 'toolRequest',
        id,
        toolCall: { status: 'success', value: { name: 'winch', arguments: { turns: 3 } } },
      })),
    }),
    answer: (ids, text) => ({
      role: 'user',
      created: 1935655200,
      content: ids.map((id) => ({
        type: 'toolResponse',
        id,
        toolResult: { status: 'success', value: { content: [{ type: 'text', text }] } },
      })),
    }),
  },
  {
    name: 'Amp',
    say: typed,
    call: (ids) => ({
      role: 'assistant',
      content: ids.map((id) => ({ type: 'tool_use', id, name: 'winch', input: { turns: 3 }, complete: true })),
    }),
    answer: (ids, text) => ({
      role: 'user',
      content: ids.map((id) => ({ type: 'tool_result', toolUseID: id, run: { status: 'done', result: text } })),
    }),
  },
  {
    name: 'AI SDK',
    say: (role, text) => ({ role, content: text }),
    call: (ids) => ({
      role: 'assistant',
      content: ids.map((id) => ({ type: 'tool-call', toolCallId: id, toolName: 'winch', input: { turns: 3 } })),
    }),
    answer: (ids, text) => ({
      role: 'tool',
      content: ids.map((id) => ({
        type: 'tool-result',
        toolCallId: id,
        toolName: 'winch',
        output: { type: 'text', value: text },
      })),
    }),
  },
  {
    name: 'camel case',
    say: (role, text) => ({ role, content: text }),
    call: (ids) => ({
      role: 'assistant',
      content: '',
      toolCalls: ids.map((id) => ({ toolCallId: id, toolName: 'winch', args: { turns: 3 } })),
    }),
    answer: ([id = ''], text) => ({ role: 'toolResult', toolCallId: id, content: text }),
  },
  {
    name: 'blocks without ids',
    say: typed,
    call: (ids) => ({ role: 'assistant', content: ids.map(() => ({ functionCall: { name: 'winch', args: {} } })) }),
    answer: (ids, text) => ({
      role: 'user',
      content: ids.map(() => ({ functionResponse: { name: 'winch', response: { output: text } } })),
    }),
  },
];
