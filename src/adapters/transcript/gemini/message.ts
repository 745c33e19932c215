import type { ConversationMessage, MessagePart, Role } from '../../../core/message.ts';
import { isClipArchiveText } from '../../../core/split.ts';
import type { Decoded } from '../../../core/transcript.ts';
import type { RecordProblem } from '../../../ports/codec.ts';
import { refuseDeepNesting } from '../deep-nesting.ts';
import { isList, isRecord, type JsonRecord, stringAt } from '../json.ts';
import { readIsoTime } from '../time.ts';
import { withTyped } from '../typed-text.ts';
import { type Content, readContent } from './content.ts';
import { messageKey } from './message-key.ts';
import { readTyped } from './typed.ts';

/** One message of a session, of a line or of a list of messages. */
export type MessageReading = {
  /** A message, a clip-archive (summary) wherever it stands, or meta: not sent to the model when the session is resumed. */
  readonly decoded: Decoded;
  /** Two messages with one key say the same, whatever ids they have. '' says nothing. */
  readonly key: string;
  /** It says nothing but results. */
  readonly isOnlyResults: boolean;
};

/** Typed for the program itself, or put in by it anew with every session. */
const NOT_SENT = /^(?:$|\/|<session_context>|<hook_context>)/;

/** A record `{id, timestamp, type, content, toolCalls?, …}`. Only content and tool calls that are none are a problem. */
export function readMessage(record: JsonRecord, line: number): MessageReading | RecordProblem {
  const type = stringAt(record, 'type');
  if (type !== 'user' && type !== 'gemini') return META;
  const { content = null, toolCalls = null } = record;
  if (content !== null && typeof content !== 'string' && typeof content !== 'object')
    return { problem: `a ${type} message whose content is neither text nor parts` };
  if (toolCalls !== null && !isList(toolCalls)) return { problem: `a ${type} message whose toolCalls are no list` };
  return refuseDeepNesting('a message that is', () => readSaid(record, type, line));
}

const META: MessageReading = { decoded: { kind: 'meta' }, key: '', isOnlyResults: false };

function readSaid(record: JsonRecord, type: 'user' | 'gemini', line: number): MessageReading {
  const content = readContent(record);
  const { parts, calls, results, beginsWithMedia } = content;
  const isUser = type === 'user';
  const isOnlyResults = isUser && results.length > 0;
  const isSent = isUser
    ? beginsWithMedia || !NOT_SENT.test(parts.map(partText).join('').trim())
    : parts.length > 0 || hasMedia(record);
  if (!isSent) return META;
  const role = isOnlyResults ? 'tool' : isUser ? 'user' : 'assistant';
  const message = messageOf(record, { line, role, content });
  const isPrompt = role === 'user';
  const decoded: Decoded = {
    kind: isPrompt && isClipArchiveText(message.content) ? 'summary' : 'message',
    ...(isPrompt && { isPrompt }),
    ...(isPrompt && isClipArchiveText(message.content) && { isUnmarked: true }),
    ...(calls.length > 0 && { calls }),
    ...(results.length > 0 && { results }),
    message: withTyped(message, isPrompt && !isClipArchiveText(message.content) ? readTyped(record) : undefined),
  };
  return { decoded, key: messageKey(role, content), isOnlyResults };
}

/** Pictures and sounds that a model made; its thoughts are none. */
function hasMedia({ content }: JsonRecord): boolean {
  return (
    isList(content) && content.some((part) => isRecord(part) && (isRecord(part['inlineData']) || 'fileData' in part))
  );
}

function messageOf(
  record: JsonRecord,
  { line, role, content }: { readonly line: number; readonly role: Role; readonly content: Content },
): ConversationMessage {
  const { parts, results } = content;
  const toolCalls = parts.flatMap((part) =>
    part.kind === 'call' ? [{ id: part.id, name: part.name, arguments: part.arguments }] : [],
  );
  const [answered] = results;
  return {
    id: stringAt(record, 'id') ?? `line:${line}`,
    conversation_id: '',
    role,
    content: parts.map(partText).join('\n'),
    ...(toolCalls.length > 0 && { tool_calls: toolCalls }),
    ...(role === 'tool' && answered !== undefined && { tool_call_id: answered }),
    created_at: readIsoTime(record['timestamp']),
    parts,
  };
}

function partText(part: MessagePart): string {
  return part.kind === 'call' ? `${part.name} ${part.arguments}` : part.text;
}
