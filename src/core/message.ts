/** Who said it. A record that holds a tool's result has role `tool`, whatever its producer calls it. */
export type Role = 'user' | 'assistant' | 'system' | 'tool';

/** A call in one of the three shapes that transcripts use: plain, OpenAI's function, Anthropic's block. */
export type ToolCall =
  | { readonly id: string; readonly name: string; readonly arguments: unknown }
  | {
      readonly id: string;
      readonly type?: 'function';
      readonly function: { readonly name: string; readonly arguments: unknown };
    }
  | { readonly id: string; readonly type: 'tool_use'; readonly name: string; readonly input: unknown };

/** What a message's content is made of, where its source tells. */
export type MessagePart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'call'; readonly id: string; readonly name: string; readonly arguments: string }
  | { readonly kind: 'result'; readonly callId: string; readonly text: string; readonly isError: boolean };

/** One message of a conversation. */
export type ConversationMessage = {
  /** Its own id in the transcript, else `line:N`. */
  readonly id: string;
  readonly conversation_id: string;
  readonly role: Role;
  readonly name?: string;
  /** What scoring and search see: text, names and arguments of calls, text of results; no thinking, no media. */
  readonly content: string;
  readonly tool_calls?: readonly ToolCall[];
  readonly tool_call_id?: string;
  /** Null where the transcript has no times. */
  readonly created_at: Date | null;
  /** The same content by kind. Without it `content` is plain text and the calls are those of `tool_calls`. */
  readonly parts?: readonly MessagePart[];
  /**
   * What a person wrote in this message: the text of a typed prompt, or the words that came with a rejected tool call. Undefined: nothing.
   * Commands, reminders, tool results, and text that a program or a model wrote in the user's name are never typed.
   */
  readonly typed?: string;
  /** A summary of what was said before: a program wrote it when it compacted the conversation. */
  readonly isSummary?: true;
};

/** A call reduced to what is shown of it; `arguments` is JSON text. */
export type PlainCall = { readonly id: string; readonly name: string; readonly arguments: string };

export function readToolCall(call: ToolCall): PlainCall {
  if ('function' in call) return plainCall(call.id, call.function.name, call.function.arguments);
  if ('input' in call) return plainCall(call.id, call.name, call.input);
  return plainCall(call.id, call.name, call.arguments);
}

function plainCall(id: string, name: string, value: unknown): PlainCall {
  return { id, name, arguments: typeof value === 'string' ? value : (JSON.stringify(value) ?? '') };
}

/** The calls that a message makes; an empty list counts as none. */
export function callsOf(message: ConversationMessage): readonly PlainCall[] {
  return (message.tool_calls ?? []).map(readToolCall);
}

/** The ids of the calls whose results a message holds. */
export function resultIdsOf(message: ConversationMessage): readonly string[] {
  const fromParts = (message.parts ?? []).flatMap((part) => (part.kind === 'result' ? [part.callId] : []));
  if (fromParts.length > 0) return fromParts;
  return message.tool_call_id === undefined ? [] : [message.tool_call_id];
}
