import type { ConversationMessage, MessagePart, Role } from '../../../core/message.ts';
import { isClipArchiveText } from '../../../core/split.ts';
import type { Decoded } from '../../../core/transcript.ts';
import type { Json, RecordProblem } from '../../../ports/codec.ts';
import { isList, isRecord, type JsonRecord, readIsoTime, stringAt } from '../json.ts';
import { refuseDeepNesting, typedText, withTyped } from '../message-parts.ts';
import { type Content, messageKey, readContent, readRuleText, readTyped } from './content.ts';
import type { CheckpointKind, LogMessage } from './context.ts';

/** One message of a session, from a line or from a list of messages. */
export type MessageReading = {
  /** A message, a clip-archive (kind summary, wherever it is), or meta if it is not sent to the model on resuming. */
  readonly decoded: Decoded;
  /** Two messages with the same key say the same, whatever their ids. '': it says nothing. */
  readonly key: string;
  /** It holds only results. */
  readonly isOnlyResults: boolean;
};

/** Typed for the program itself, or added by it again with every session. */
const NOT_SENT = /^(?:$|\/|<session_context>|<hook_context>)/;

/** A record `{id, timestamp, type, content, toolCalls?, …}`. Only malformed content or tool calls are a problem. */
export function readMessage(record: JsonRecord, line: number): MessageReading | RecordProblem {
  const type = stringAt(record, 'type');
  if (type !== 'user' && type !== 'gemini') return META;
  const { content = null, toolCalls = null } = record;
  if (content !== null && typeof content !== 'string' && typeof content !== 'object')
    return { problem: `a ${type} message whose content is neither text nor parts` };
  if (toolCalls !== null && !isList(toolCalls)) return { problem: `a ${type} message whose toolCalls are not a list` };
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
    message:
      isPrompt && !isClipArchiveText(message.content)
        ? withTyped(message, readTyped(record), readRuleText(record))
        : message,
  };
  return { decoded, key: messageKey(role, content), isOnlyResults };
}

/** Whether a model made pictures or audio; its thoughts do not count. */
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

/** What a line of the log is, distinguished in the same order as in Gemini CLI. */
export type LogLine =
  | { readonly kind: 'rewind'; readonly id: string }
  | { readonly kind: 'message'; readonly id: string; readonly record: JsonRecord }
  | { readonly kind: 'checkpoint'; readonly messages: readonly Json[] }
  | { readonly kind: 'update'; readonly keys: readonly string[] }
  | {
      readonly kind: 'metadata';
      readonly sessionId: string;
      readonly messages: readonly Json[];
      readonly isSubagent: boolean;
    }
  | { readonly kind: 'other' };

export function readLogLine(value: Json): LogLine {
  if (!isRecord(value)) return { kind: 'other' };
  const rewind = stringAt(value, '$rewindTo');
  if (rewind !== undefined) return { kind: 'rewind', id: rewind };
  const id = stringAt(value, 'id');
  if (id !== undefined) return { kind: 'message', id, record: value };
  const { $set: update, messages } = value;
  if (isRecord(update)) {
    const { messages: replaced } = update;
    return isList(replaced)
      ? { kind: 'checkpoint', messages: replaced }
      : { kind: 'update', keys: Object.keys(update).toSorted() };
  }
  const sessionId = stringAt(value, 'sessionId');
  if (sessionId === undefined || stringAt(value, 'projectHash') === undefined) return { kind: 'other' };
  return {
    kind: 'metadata',
    sessionId,
    messages: isList(messages) ? messages : [],
    isSubagent: value['kind'] === 'subagent',
  };
}

/** What Gemini CLI itself adds to a list of messages, and what is not part of the conversation. */
const FILLERS = new Set([
  'Got it. Thanks for the additional context!',
  '[The previous response was interrupted before it completed.]',
]);

/** A message of a checkpoint: how the log identifies it, and its content (null: it is empty or not new). */
export type CheckpointMessage = { readonly known: LogMessage; readonly message: ConversationMessage | null };

/**
 * The messages of a checkpoint that have ids; Gemini CLI ignores the others. One that cannot be read counts as empty.
 */
export function readCheckpoint(
  messages: readonly Json[],
  { line, answers }: { readonly line: number; readonly answers: Answers },
): readonly CheckpointMessage[] {
  return messages.filter(isRecord).flatMap((record): readonly CheckpointMessage[] => {
    const id = stringAt(record, 'id');
    if (id === undefined) return [];
    const reading = readMessage(record, line);
    if ('problem' in reading) return [{ known: { id, key: '', isSaid: false }, message: null }];
    const { message = null } = reading.decoded;
    const isTold = answers.toldAt(reading) !== null;
    answers.add(reading, line);
    const text = message?.content.trim() ?? '';
    const isSaid = !isTold && text !== '' && !FILLERS.has(text);
    return [{ known: { id, key: reading.key, isSaid }, message: isSaid ? message : null }];
  });
}

export function kindOfCheckpoint(only: readonly ConversationMessage[], hasSummary: boolean): CheckpointKind {
  if (only.length === 0) return 'repeats';
  return hasSummary || only.some(isSnapshot) ? 'summary' : 'message';
}

/** A clip-archive may quote a snapshot. */
function isSnapshot({ role, content }: ConversationMessage): boolean {
  return role === 'user' && content.includes('<state_snapshot>') && !isClipArchiveText(content);
}

/** Decodes a checkpoint by the messages that are nowhere else. */
export function decodeCheckpoint(only: readonly ConversationMessage[], kind: CheckpointKind, line: number): Decoded {
  const [first] = only;
  if (first === undefined || kind === 'repeats') return { kind: 'meta' };
  const blocks = only.map(({ role, content }) => `[${role}]\n${content}`);
  const content = only.length === 1 ? first.content : blocks.join('\n\n');
  const message: ConversationMessage = {
    id: `line:${line}`,
    conversation_id: '',
    role: kind === 'summary' ? 'system' : 'user',
    content,
    created_at: only.at(-1)?.created_at ?? null,
    parts: [{ kind: 'text', text: content }],
  };
  if (kind === 'summary') return { kind, message };
  const typed = typedText(only.flatMap((one) => one.typed ?? []));
  return { kind, hidesBefore: true, message: withTyped(message, typed) };
}

/** Which results were seen so far, and on which line. */
type Answers = {
  /**
   * For a message that holds only results: the line of the message that already has them; null: something in it is
   * new.
   */
  readonly toldAt: (reading: MessageReading) => number | null;
  readonly add: (reading: MessageReading, line: number) => void;
};

/**
 * Gemini CLI records a result twice: with its call, in the message of the model, and in the message that sent it to
 * the model. The first one counts.
 */
export function createAnswers(): Answers {
  const lines = new Map<string, number>();
  return {
    toldAt: ({ decoded, isOnlyResults }) => {
      const ids = isOnlyResults ? (decoded.results ?? []) : [];
      const [line = null, ...others] = new Set(ids.map((id) => lines.get(id) ?? null));
      return others.length === 0 ? line : null;
    },
    add: ({ decoded, isOnlyResults }, line) => {
      if (!isOnlyResults) for (const call of decoded.results ?? []) lines.set(call, line);
    },
  };
}
