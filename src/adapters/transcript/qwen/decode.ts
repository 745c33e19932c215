import type { ConversationMessage, MessagePart, Role } from '../../../core/message.ts';
import type { Decoded, EntryFacts } from '../../../core/transcript.ts';
import type { Json, RecordProblem } from '../../../ports/codec.ts';
import { readContent, readRuleText, readTyped } from '../gemini/content.ts';
import { isList, isRecord, type JsonRecord, readIsoTime, stringAt } from '../json.ts';
import { listCalls, refuseDeepNesting, textOfParts, withTyped } from '../message-parts.ts';

const TYPES = new Set(['user', 'assistant', 'tool_result', 'system']);

function isKnownType(type: Json | undefined): type is string {
  return typeof type === 'string' && TYPES.has(type);
}

/** Records beside the chain: no other record has one of them as its parent. The latest `session_sources_snapshot` counts. */
const ASIDE = new Set([
  'session_artifact_event',
  'session_artifact_snapshot',
  'session_sources_snapshot',
  'managed_session_header_v1',
  'managed_session_event_v1',
  'managed_session_commit_v1',
]);

/** User records that a person typed; others are notifications, timers and the like. */
const TYPED_SUBTYPES = new Set([undefined, 'mid_turn_user_message']);

/** A record of the chain, as Qwen Code requires it. Claude Code's have a subtype too, but their content is no list of parts. */
export function isQwenRecord(record: JsonRecord): boolean {
  const { uuid, parentUuid, sessionId, type, message } = record;
  const isChained = typeof uuid === 'string' && (typeof parentUuid === 'string' || parentUuid === null);
  if (!isChained || typeof sessionId !== 'string' || !isKnownType(type)) return false;
  if (type === 'system') return 'systemPayload' in record;
  return isRecord(message) && isList(message['parts']) && !('content' in message);
}

/** Decodes a record. A message whose parts are not a list is a problem, because Qwen Code would send it without words. */
export function decodeRecord(value: Json, line: number): Decoded | RecordProblem {
  if (!isRecord(value)) return { kind: 'meta' };
  return refuseDeepNesting('a message that is', () => decodeSaid(value, line) ?? decodeMeta(value));
}

/** null: the model gets nothing from this record. */
function decodeSaid(record: JsonRecord, line: number): Decoded | RecordProblem | null {
  const { type, message } = record;
  const subtype = stringAt(record, 'subtype');
  if (type === 'system') return subtype === 'chat_compression' ? decodeCompression(record, line) : null;
  if (!isKnownType(type) || message === undefined || subtype === 'realtime_message') return null;
  if (!isRecord(message) || !isList(message['parts']))
    return { problem: `a record of type ${type} whose message has no list of parts` };
  const content = { content: message['parts'] };
  const { parts, calls, results } = readContent(content);
  const role: Role = results.length > 0 ? 'tool' : type === 'assistant' ? 'assistant' : 'user';
  const isFromUser = type === 'user' && role === 'user' && TYPED_SUBTYPES.has(subtype);
  const typed = isFromUser ? readTyped(promptOf(record, content)) : undefined;
  const [callId] = results;
  return {
    kind: 'message',
    ...linksOf(record),
    ...(calls.length > 0 && { calls }),
    ...(results.length > 0 && { results }),
    ...(typed !== undefined && subtype === undefined && { isPrompt: true }),
    message: withTyped(
      {
        ...messageOf(record, line, role, parts),
        ...listCalls(parts),
        ...(callId !== undefined && { tool_call_id: callId }),
      },
      typed,
      isFromUser && (record['provenance'] ?? 'real_user') === 'real_user'
        ? readRuleText(promptOf(record, content))
        : undefined,
    ),
  };
}

/** The prompt as it was typed is beside it where something else was sent. */
function promptOf({ systemPayload }: JsonRecord, content: JsonRecord): JsonRecord {
  const shown = isRecord(systemPayload) ? stringAt(systemPayload, 'displayText') : undefined;
  return shown === undefined ? content : { ...content, displayContent: shown };
}

/** Qwen Code's compression, or ours: a list of messages that replaces everything before it. */
function decodeCompression(record: JsonRecord, line: number): Decoded | null {
  const { systemPayload } = record;
  const history = isRecord(systemPayload) ? systemPayload['compressedHistory'] : undefined;
  if (!isList(history)) return null;
  const parts = history.flatMap((message) =>
    isRecord(message) ? readContent({ content: message['parts'] ?? [] }).parts : [],
  );
  const text = textOfParts(parts.map((part) => (part.kind === 'result' ? { kind: 'text', text: part.text } : part)));
  return {
    kind: 'summary',
    ...linksOf(record),
    message: messageOf(record, line, 'system', [{ kind: 'text', text }]),
  };
}

function decodeMeta(record: JsonRecord): Decoded {
  const subtype = stringAt(record, 'subtype') ?? '';
  if (record['type'] === 'system' && ASIDE.has(subtype))
    return { kind: 'meta', ...(subtype === 'session_sources_snapshot' && { latestKey: subtype }) };
  return { kind: 'meta', ...(isKnownType(record['type']) && linksOf(record)) };
}

function linksOf(record: JsonRecord): Pick<EntryFacts, 'conversation' | 'recordId' | 'parentId'> {
  const recordId = stringAt(record, 'uuid') ?? '';
  const parentId = stringAt(record, 'parentUuid') ?? '';
  const conversation = stringAt(record, 'sessionId');
  return {
    ...(conversation !== undefined && { conversation }),
    ...(recordId !== '' && { recordId, parentId: parentId === '' ? null : parentId }),
  };
}

function messageOf(record: JsonRecord, line: number, role: Role, parts: readonly MessagePart[]): ConversationMessage {
  return {
    id: stringAt(record, 'uuid') ?? `line:${line}`,
    conversation_id: stringAt(record, 'sessionId') ?? '',
    role,
    content: textOfParts(parts),
    created_at: readIsoTime(record['timestamp']),
    parts,
  };
}
