/** Who wrote a message. A record with a tool's result has the role `tool`, whatever its producer calls it. */
export type Role = 'user' | 'assistant' | 'system' | 'tool';

/** A tool call in one of the three shapes that transcripts use: plain, OpenAI's function, Anthropic's block. */
export type ToolCall =
  | { readonly id: string; readonly name: string; readonly arguments: unknown }
  | {
      readonly id: string;
      readonly type?: 'function';
      readonly function: { readonly name: string; readonly arguments: unknown };
    }
  | { readonly id: string; readonly type: 'tool_use'; readonly name: string; readonly input: unknown };

/** A part of a message's content, if the source distinguishes parts. */
export type MessagePart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'call'; readonly id: string; readonly name: string; readonly arguments: string }
  | { readonly kind: 'result'; readonly callId: string; readonly text: string; readonly isError: boolean };

export type ConversationMessage = {
  /** The message's own id in the transcript, or else `line:N`. */
  readonly id: string;
  readonly conversation_id: string;
  readonly role: Role;
  readonly name?: string;
  /** What scoring and search read: text, names and arguments of calls, and text of results. No thinking and no media. */
  readonly content: string;
  readonly tool_calls?: readonly ToolCall[];
  readonly tool_call_id?: string;
  /** Null if the transcript has no times. */
  readonly created_at: Date | null;
  /** The same content in parts. If undefined, `content` is plain text and the calls are in `tool_calls`. */
  readonly parts?: readonly MessagePart[];
  /**
   * What a person typed: a prompt, or the words that came with a rejected tool call. Undefined if nothing. Never commands, reminders, tool
   * results, or text that a program or model wrote in the user's name.
   */
  readonly typed?: string;
  /**
   * What in `typed` may state standing rules: only what the client itself marks as typed, by the fields and the position of the record.
   * Undefined if nothing, and in formats that cannot tell.
   */
  readonly ruleText?: string;
  /** A program wrote this as a summary when it compacted the conversation. */
  readonly isSummary?: true;
  /** A piece of an answer that was stored as it was streamed: pieces in sequence with the same key are one text. */
  readonly pieceOf?: string;
};

/** The messages with the pieces of each answer joined. */
export function joinPieces(messages: readonly ConversationMessage[]): readonly ConversationMessage[] {
  if (messages.every(({ pieceOf }) => pieceOf === undefined)) return messages;
  const joined: ConversationMessage[] = [];
  for (const message of messages) {
    const last = joined.at(-1);
    if (last === undefined || message.pieceOf === undefined || last.pieceOf !== message.pieceOf) joined.push(message);
    else {
      const content = last.content + message.content;
      joined[joined.length - 1] = { ...last, content, parts: [{ kind: 'text', text: content }] };
    }
  }
  return joined;
}

/** A tool call in a common shape. `arguments` is JSON text. */
export type PlainCall = { readonly id: string; readonly name: string; readonly arguments: string };

function readToolCall(call: ToolCall): PlainCall {
  if ('function' in call) return plainCall(call.id, call.function.name, call.function.arguments);
  if ('input' in call) return plainCall(call.id, call.name, call.input);
  return plainCall(call.id, call.name, call.arguments);
}

function plainCall(id: string, name: string, value: unknown): PlainCall {
  return { id, name, arguments: typeof value === 'string' ? value : (JSON.stringify(value) ?? '') };
}

export function callsOf(message: ConversationMessage): readonly PlainCall[] {
  return (message.tool_calls ?? []).map(readToolCall);
}

export function resultIdsOf(message: ConversationMessage): readonly string[] {
  const fromParts = (message.parts ?? []).flatMap((part) => (part.kind === 'result' ? [part.callId] : []));
  if (fromParts.length > 0) return fromParts;
  return message.tool_call_id === undefined ? [] : [message.tool_call_id];
}

/** An id is found by its beginning from so many characters on. */
export const MIN_ID_LENGTH = 6;

/** The messages that an id, the beginning of one, or `line:N` names. */
export function findNamed<One extends { readonly id: string; readonly line: number }>(
  messages: readonly One[],
  name: string,
): readonly One[] {
  const line = /^line:([1-9]\d*)$/.exec(name)?.[1];
  const exact = messages.filter((one) => one.id === name || (line !== undefined && one.line === Number(line)));
  if (exact.length > 0) return exact;
  return name.length < MIN_ID_LENGTH ? [] : messages.filter(({ id }) => id.startsWith(name));
}
