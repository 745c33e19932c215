import type { ConversationMessage, Role } from '../../../core/message.ts';
import type { Decoded, EntryFacts } from '../../../core/transcript.ts';
import type { Json, RecordProblem } from '../../../ports/codec.ts';
import { isList, isRecord, type JsonRecord, readIsoTime, stringAt } from '../json.ts';
import { refuseDeepNesting, withTyped } from '../message-parts.ts';
import type { Noted } from '../notes.ts';
import { type Content, isTypedPrompt, promptRules, readContent, rejectionWords, typedPrompt } from './content.ts';

/** What a record says about the thread. */
export type ThreadNote =
  /** The producer's own compaction stands here. It kept these records before it (ids, both included). */
  | { readonly kind: 'boundary'; readonly keptFrom?: string; readonly keptTo?: string }
  /** A person went back to this record; the thread ends there unless something follows. */
  | { readonly kind: 'tip'; readonly id: string };

/**
 * Types that are part of the chain of parents, besides messages. A record of another type is too if it names a parent.
 */
const CHAIN_TYPES = new Set(['user', 'assistant', 'system', 'attachment', 'progress']);

/** Decodes a record; `line` names a message without a uuid. Only user and assistant records can have a problem. */
export function decodeRecord(value: Json, line: number): Noted<ThreadNote> | RecordProblem {
  if (!isRecord(value)) return { kind: 'meta' };
  const type = value['type'];
  if (type === 'attachment') return refuseDeepNesting('an attachment that is', () => decodeAttachment(value));
  if (type !== 'user' && type !== 'assistant') return decodeMeta(value);
  const shape = readShape(value);
  if (typeof shape === 'string') return { problem: `${type === 'user' ? 'a user' : 'an assistant'} record ${shape}` };
  if (type === 'assistant' && value['isApiErrorMessage'] === true) return decodeMeta(value);
  const { message, content } = shape;
  return refuseDeepNesting('a message that is', () =>
    decodeMessage({ record: value, message, content: readContent(content), line }),
  );
}

/** The message of a user or assistant record and its content, or what is wrong with them. */
function readShape(record: JsonRecord): { message: JsonRecord; content: string | readonly Json[] } | string {
  const { message } = record;
  if (!isRecord(message)) return 'without a message';
  const { content, role } = message;
  if (typeof content !== 'string' && !isList(content)) return "whose message's content is neither text nor a list";
  if (role !== undefined && typeof role !== 'string') return "whose message's role is not a string";
  const badId = ['uuid', 'parentUuid'].find((key) => typeof (record[key] ?? '') !== 'string');
  return badId === undefined ? { message, content } : `whose ${badId} is not a string`;
}

type MessageSource = {
  readonly record: JsonRecord;
  readonly message: JsonRecord;
  readonly content: Content;
  readonly line: number;
};

function decodeMessage({ record, message, content, line }: MessageSource): Decoded {
  const isUser = record['type'] === 'user';
  const isSummary = isUser && record['isCompactSummary'] === true;
  const role: Role = isSummary ? 'system' : isUser ? (content.hasResult ? 'tool' : 'user') : 'assistant';
  const groupKey = isUser ? undefined : answerKey(record, message);
  const said: ConversationMessage = {
    id: stringAt(record, 'uuid') ?? `line:${line}`,
    conversation_id: stringAt(record, 'sessionId') ?? '',
    role,
    content: content.text,
    ...(content.calls.length > 0 && { tool_calls: content.calls }),
    ...(role === 'tool' && content.results[0] !== undefined && { tool_call_id: content.results[0] }),
    created_at: readIsoTime(record['timestamp']),
    parts: content.parts,
  };
  return {
    kind: isSummary ? 'summary' : 'message',
    ...readChain(record),
    ...(content.calls.length > 0 && { calls: content.calls.map((call) => call.id) }),
    ...(content.results.length > 0 && { results: content.results }),
    ...(groupKey !== undefined && { groupKey }),
    ...(isUser && isTypedPrompt(record, message['content']) && { isPrompt: true }),
    message: isUser ? withWords(said, record, message['content']) : said,
  };
}

/** Whether the words of a rejection may state rules depends on its call, which the session knows. */
function withWords(message: ConversationMessage, record: JsonRecord, content: Json | undefined): ConversationMessage {
  if (message.role !== 'tool') return withTyped(message, typedPrompt(record, content), promptRules(record, content));
  const words = rejectionWords(record, content);
  return withTyped(message, words, words);
}

/**
 * What was typed, or reported by a background task, while the model worked: the client sends it as the user's. Other
 * attachments have no words.
 */
function decodeAttachment(record: JsonRecord): Noted<ThreadNote> {
  const attachment = record['attachment'];
  const prompt = isRecord(attachment) && attachment['type'] === 'queued_command' ? attachment['prompt'] : undefined;
  const meta = decodeMeta(record);
  if (meta.recordId === undefined || (typeof prompt !== 'string' && !isList(prompt))) return meta;
  const content = readContent(prompt);
  const message: ConversationMessage = {
    id: meta.recordId,
    conversation_id: meta.conversation ?? '',
    role: 'user',
    content: content.text,
    created_at: readIsoTime(record['timestamp']),
    parts: content.parts,
  };
  if (content.text === '') return meta;
  return {
    ...meta,
    kind: 'message',
    isAside: true,
    ...(isTypedPrompt(record, prompt) && { isPrompt: true }),
    message: withTyped(
      message,
      typedPrompt(record, prompt),
      isRecord(attachment) && attachment['commandMode'] === 'prompt' ? promptRules(record, prompt) : undefined,
    ),
  };
}

/** The model's answer is written as one record per block, all with its id. */
function answerKey(record: JsonRecord, message: JsonRecord): string | undefined {
  const answer = stringAt(message, 'id');
  const request = stringAt(record, 'requestId');
  return answer === undefined || request === undefined ? answer : `${answer} ${request}`;
}

/** What was sent to the API (2.1.3xx). The client resumes without it, and one record has the texts of all tools. */
const REQUEST_LOG: ReadonlySet<string> = new Set(['api-request', 'api-request-blob', 'api-request-shape']);

function decodeMeta(record: JsonRecord): Noted<ThreadNote> {
  const type = stringAt(record, 'type');
  const chain = readChain(record);
  const isPinned =
    type !== undefined && !CHAIN_TYPES.has(type) && !REQUEST_LOG.has(type) && chain.recordId === undefined;
  const isBoundary = type === 'system' && record['subtype'] === 'compact_boundary';
  const tipId = type === 'last-prompt' && record['explicit'] === true ? stringAt(record, 'leafUuid') : undefined;
  return {
    kind: 'meta',
    ...chain,
    ...(isPinned && { latestKey: type }),
    ...(tipId !== undefined && { note: { kind: 'tip', id: tipId } }),
    ...(isBoundary && { note: readBoundary(record['compactMetadata']) }),
  };
}

function readChain(record: JsonRecord): Pick<EntryFacts, 'conversation' | 'recordId' | 'parentId' | 'isSide'> {
  const conversation = stringAt(record, 'sessionId');
  const recordId = stringAt(record, 'uuid');
  const isInChain =
    recordId !== undefined && (record['parentUuid'] !== undefined || CHAIN_TYPES.has(stringAt(record, 'type') ?? ''));
  return {
    ...(conversation !== undefined && { conversation }),
    ...(isInChain && { recordId, parentId: stringAt(record, 'parentUuid') ?? null }),
    ...(record['isSidechain'] === true && { isSide: true }),
  };
}

/**
 * The records that the producer's own compaction kept in its context. If a newer version lists them, the client goes
 * by the list and not by the segment; `allUuids` beside it also names records that were never written.
 */
function readBoundary(metadata: Json | undefined): ThreadNote {
  if (!isRecord(metadata)) return { kind: 'boundary' };
  const { preservedMessages: messages, preservedSegment: segment } = metadata;
  const ids = isRecord(messages) ? messages['uuids'] : undefined;
  if (isList(ids)) return keptRange(ids[0], ids.at(-1));
  return isRecord(segment) ? keptRange(segment['headUuid'], segment['tailUuid']) : { kind: 'boundary' };
}

function keptRange(from: Json | undefined, to: Json | undefined): ThreadNote {
  const isRange = typeof from === 'string' && typeof to === 'string';
  return { kind: 'boundary', ...(isRange && { keptFrom: from, keptTo: to }) };
}
