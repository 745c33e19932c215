import type { ConversationMessage, MessagePart, Role } from '../../../core/message.ts';
import type { Decoded } from '../../../core/transcript.ts';
import type { Json, RecordProblem } from '../../../ports/codec.ts';
import { isRecord, type JsonRecord, stringAt } from '../json.ts';
import { typedText, withTyped } from '../typed-text.ts';
import { isContent, readContent, shellText } from './content.ts';
import { readTime } from './time.ts';

/** Where an entry stands, and what it is called. */
export type EntryPlace = { readonly id: string; readonly at: Date | null };

/** Roles of messages with content, and whose words pi sends them as. `hookMessage` is version 2's name of `custom`. */
const ROLES: ReadonlyMap<string, Role> = new Map<string, Role>([
  ['user', 'user'],
  ['assistant', 'assistant'],
  ['toolResult', 'tool'],
  ['custom', 'user'],
  ['hookMessage', 'user'],
]);

/** An entry of type message. A role that pi does not send to the model is aside of the conversation. */
export function decodeMessage(message: Json | undefined, { id, at }: EntryPlace): Decoded | RecordProblem {
  if (!isRecord(message)) return { problem: 'a message entry without a message' };
  const { role } = message;
  if (typeof role !== 'string') return { problem: "a message entry whose message's role is no text" };
  const place = { id, at: at ?? readTime(message['timestamp']) };
  if (role === 'bashExecution') {
    const isSide = message['excludeFromContext'] === true;
    return { ...decodeWords(shellText(message), place), ...(isSide && { isSide }) };
  }
  if (role === 'branchSummary' || role === 'compactionSummary') {
    const { summary } = message;
    if (typeof summary !== 'string') return { problem: `a message entry whose ${role} message's summary is no text` };
    return decodeWords(summary, place);
  }
  const sentAs = ROLES.get(role);
  if (sentAs === undefined) return { ...decodeWords('', place), isSide: true };
  const { content } = message;
  if (!isContent(content))
    return { problem: `a message entry whose ${role} message's content is neither text nor a list` };
  return decodeContent({ message, content, role: sentAs }, place);
}

type Said = { readonly message: JsonRecord; readonly content: string | readonly Json[]; readonly role: Role };

function decodeContent({ message, content, role }: Said, { id, at }: EntryPlace): Decoded {
  const { parts, text, calls, isShown } = readContent(content);
  const callId = role === 'tool' ? stringAt(message, 'toolCallId') : undefined;
  const name = stringAt(message, role === 'tool' ? 'toolName' : 'customType');
  const isError = message['isError'] === true;
  const said: ConversationMessage = {
    id,
    conversation_id: '',
    role,
    ...(name !== undefined && { name }),
    content: text,
    ...(calls.length > 0 && { tool_calls: calls }),
    ...(callId !== undefined && { tool_call_id: callId }),
    created_at: at,
    parts: callId === undefined ? parts : [{ kind: 'result', callId, text, isError }],
  };
  return {
    kind: 'message',
    ...(calls.length > 0 && { calls: calls.map((call) => call.id) }),
    ...(callId !== undefined && { results: [callId] }),
    ...(message['role'] === 'user' && isShown && { isPrompt: true }),
    message: withTyped(said, message['role'] === 'user' ? readTyped(parts) : undefined),
  };
}

/** What pi puts before a prompt in the same text: files named on the command line, and a skill. Their text may hold the closing tag: the last one counts. */
const ATTACHED = /^\s*<(file|skill) name="[^"\n]*"[^>\n]*>/;

function readTyped(parts: readonly MessagePart[]): string | undefined {
  return typedText(parts.flatMap((part) => (part.kind === 'text' ? [withoutAttached(part.text)] : [])));
}

function withoutAttached(text: string): string {
  const tag = ATTACHED.exec(text)?.[1];
  if (tag === undefined) return text;
  const end = text.lastIndexOf(`</${tag}>`);
  return end < 0 ? '' : text.slice(end + tag.length + 3).trim();
}

/** Text that pi sends as the user's, though no person typed it as a prompt. */
export function decodeWords(text: string, { id, at }: EntryPlace, name?: string): Decoded {
  const parts: readonly MessagePart[] = text === '' ? [] : [{ kind: 'text', text }];
  return {
    kind: 'message',
    message: {
      id,
      conversation_id: '',
      role: 'user',
      ...(name !== undefined && { name }),
      content: text,
      created_at: at,
      parts,
    },
  };
}
