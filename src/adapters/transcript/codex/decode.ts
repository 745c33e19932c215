import type { ConversationMessage, MessagePart, Role } from '../../../core/message.ts';
import type { Decoded } from '../../../core/transcript.ts';
import type { Json, RecordProblem } from '../../../ports/codec.ts';
import { isList, isRecord, type JsonRecord, readIsoTime, stringAt } from '../json.ts';
import { contentText, contentTexts, refuseDeepNesting, ruleWords, typedText, withTyped } from '../message-parts.ts';
import type { Noted } from '../notes.ts';
import {
  type Attachment,
  authorshipOf,
  type CodexNote,
  isSettingsText,
  type ItemPlace,
  outputText,
  readCall,
  toolNames,
  withoutEditorContext,
  wordsKey,
} from './content.ts';
import { decodeCompaction } from './render.ts';

/** A decoded record of Codex, with its note. */
type Read = Noted<CodexNote>;

/**
 * Decodes a record of a rollout, whatever precedes it. An unknown type is carried along; a known one without its
 * payload is a problem.
 */
export function decodeRecord(value: Json, line: number): Read | RecordProblem {
  if (!isRecord(value)) return { kind: 'meta' };
  const type = stringAt(value, 'type') ?? '';
  const { payload } = value;
  const decode = DECODERS.get(type);
  if (decode === undefined) return { kind: 'meta' };
  if (!isRecord(payload)) return { problem: `a ${type} record without a payload` };
  return refuseDeepNesting('an item that is', () => decode(payload, { line, at: readIsoTime(value['timestamp']) }));
}

type Decoder = (payload: JsonRecord, place: ItemPlace) => Read | RecordProblem;

const DECODERS: ReadonlyMap<string, Decoder> = new Map<string, Decoder>([
  ['response_item', decodeItem],
  ['compacted', decodeCompaction],
  ['event_msg', readEvent],
  ['turn_context', () => ({ kind: 'meta', latestKey: 'turn_context', note: { kind: 'next' } })],
  ['inter_agent_communication', decodeCommunication],
  ['inter_agent_communication_metadata', () => ({ kind: 'meta', note: { kind: 'next' } })],
]);

/** A message from another agent, which Codex sends to the model like one from a person. */
function decodeCommunication(payload: JsonRecord, { line, at }: ItemPlace): Read {
  const content = contentText(payload['content']);
  const author = stringAt(payload, 'author');
  return {
    kind: 'message',
    note: { kind: 'said', turnPart: 'opens' },
    message: {
      id: stringAt(payload, 'id') ?? `line:${line}`,
      conversation_id: '',
      role: 'user',
      ...(author !== undefined && { name: author }),
      content,
      created_at: at,
      parts: [{ kind: 'text', text: content }],
    },
  };
}

/** One item of the Responses API, inside a Codex record or alone. Only a message can be a problem. */
export function decodeItem(item: JsonRecord, place: ItemPlace): Read | RecordProblem {
  const type = stringAt(item, 'type') ?? ('role' in item ? 'message' : '');
  if (type === 'message' || type === 'agent_message') return decodeMessage(item, type, place);
  if (type === 'reasoning') return { kind: 'meta', note: { kind: 'answer' } };
  if (type.endsWith('_call')) return decodeCall(item, type, place);
  if (type.endsWith('_output')) return decodeOutput(item, place);
  return { kind: 'meta' };
}

const ROLES: ReadonlyMap<string, Role> = new Map([
  ['user', 'user'],
  ['assistant', 'assistant'],
  ['developer', 'system'],
  ['system', 'system'],
]);

function decodeMessage(item: JsonRecord, type: string, place: ItemPlace): Read | RecordProblem {
  const { content } = item;
  if (typeof content !== 'string' && !isList(content))
    return { problem: 'a message whose content is neither text nor a list' };
  const givenRole = type === 'agent_message' ? 'user' : item['role'];
  if (typeof givenRole !== 'string') return { problem: 'a message whose role is not a string' };
  const role = ROLES.get(givenRole) ?? 'user';
  const texts = contentTexts(content);
  const parts = texts.map((text): MessagePart => ({ kind: 'text', text }));
  const name = type === 'agent_message' ? stringAt(item, 'author') : ROLES.has(givenRole) ? undefined : givenRole;
  const said = messageOf(item, place, { role, parts, ...(name !== undefined && { name }) });
  if (role === 'system')
    return {
      kind: 'instruction',
      ...(texts.some(isSettingsText) && { note: { kind: 'said', turnPart: 'update' } }),
      message: said,
    };
  if (role === 'assistant')
    return { kind: 'message', note: { kind: 'said', wordsKey: wordsKey(role, said.content) }, message: said };
  if (type === 'agent_message') return { kind: 'message', note: { kind: 'said', turnPart: 'opens' }, message: said };
  return decodeUser(said, texts, isList(content) && content.length > texts.length);
}

function decodeUser(said: ConversationMessage, texts: readonly string[], hasMedia: boolean): Read {
  const { author, opensTurn } = authorshipOf(texts);
  const note = { kind: 'said', turnPart: opensTurn ? 'opens' : 'update' } as const;
  if (author === 'codex-context') return { kind: 'instruction', note, message: { ...said, role: 'system' } };
  if (author === 'codex-notice') return { kind: 'message', note, message: said };
  const isPrompt = said.name === undefined && (hasMedia || said.content.trim() !== '');
  const key = wordsKey('user', said.content);
  const typed = isPrompt ? typedText(texts.map(withoutEditorContext)) : undefined;
  const message = withTyped(said, typed, ruleWords(texts.map(withoutEditorContext)));
  return {
    kind: 'message',
    note: { kind: 'said', turnPart: 'opens', wordsKey: key },
    ...(isPrompt && { isPrompt }),
    message,
  };
}

/** A call without an id can never be answered, so it becomes text. */
function decodeCall(item: JsonRecord, type: string, place: ItemPlace): Decoded {
  const { id, name, arguments: args } = readCall(item, type);
  const part: MessagePart =
    id === undefined ? { kind: 'text', text: `${name} ${args}` } : { kind: 'call', id, name, arguments: args };
  const own = item['output'] === undefined ? '' : outputText(item['output']);
  const parts = own === '' ? [part] : [part, { kind: 'text', text: own } satisfies MessagePart];
  const message = messageOf(item, place, { role: 'assistant', parts });
  if (id === undefined) return { kind: 'message', message };
  return { kind: 'message', calls: [id], message: { ...message, tool_calls: [{ id, name, arguments: args }] } };
}

function decodeOutput(item: JsonRecord, place: ItemPlace): Decoded {
  const callId = stringAt(item, 'call_id');
  const { output, tools } = item;
  const text = output === undefined && isList(tools) ? toolNames(tools) : outputText(output);
  const isError = isRecord(output) && output['success'] === false;
  const part: MessagePart = callId === undefined ? { kind: 'text', text } : { kind: 'result', callId, text, isError };
  const message = messageOf(item, place, { role: 'tool', parts: [part] });
  if (callId === undefined) return { kind: 'message', message };
  return { kind: 'message', results: [callId], message: { ...message, tool_call_id: callId } };
}

function messageOf(
  item: JsonRecord,
  { line, at }: ItemPlace,
  { role, parts, name }: { readonly role: Role; readonly parts: readonly MessagePart[]; readonly name?: string },
): ConversationMessage {
  return {
    id: stringAt(item, 'id') ?? `line:${line}`,
    conversation_id: '',
    role,
    ...(name !== undefined && { name }),
    content: parts.map(partText).join('\n'),
    created_at: at,
    parts,
  };
}

function partText(part: MessagePart): string {
  return part.kind === 'call' ? `${part.name} ${part.arguments}` : part.text;
}

/** Groups the items of one answer: all that the model says, thinks and calls until somebody else speaks. */
export function createAnswerTracker(): (read: Read, line: number) => Read {
  let key: string | null = null;
  return (read, line) => {
    if (read.note?.kind === 'answer') {
      key ??= `answer:${line}`;
    } else if (read.message?.role === 'assistant') {
      key ??= `answer:${line}`;
      return { ...read, groupKey: key };
    } else if (read.message !== undefined) {
      key = null;
    }
    return read;
  };
}

/** The latest of each of these events gives the thread's name, settings or goal. */
const PINNED = new Set(['thread_name_updated', 'thread_settings_applied', 'thread_goal_updated']);

const TURN_BEGINS = new Set(['task_started', 'turn_started']);
const TURN_ENDS = new Set(['task_complete', 'turn_complete', 'turn_aborted']);

/**
 * Decodes an event: a mirror of an item for the screen, the beginning or end of a turn, or something else. It is never
 * a message.
 */
function readEvent(event: JsonRecord): Read {
  const type = stringAt(event, 'type') ?? '';
  if (type === 'token_count')
    return { kind: 'meta', ...(isRecord(event['info']) && { note: { kind: 'context-size' } }) };
  if (type === 'thread_rolled_back')
    return { kind: 'meta', note: { kind: 'rollback', turns: countAt(event, 'num_turns') } };
  if (PINNED.has(type)) return { kind: 'meta', latestKey: type };
  const note = attachmentOf(event, type);
  return { kind: 'meta', ...(note !== null && { note }) };
}

function attachmentOf(event: JsonRecord, type: string): Attachment | null {
  if (TURN_BEGINS.has(type)) return { kind: 'turn' };
  if (TURN_ENDS.has(type)) return { kind: 'last' };
  if (type.startsWith('agent_reasoning')) return { kind: 'answer' };
  if (type === 'user_message') return words('user', stringAt(event, 'message') ?? '');
  if (type === 'agent_message') return words('assistant', stringAt(event, 'message') ?? '');
  const { item } = event;
  if (isRecord(item)) return attachmentOfItem(item);
  const id = stringAt(event, 'call_id');
  return id === undefined ? null : { kind: 'call', id };
}

/** Newer versions mirror every item the same way: `item_completed {item: {type, id, …}}`. */
function attachmentOfItem(item: JsonRecord): Attachment | null {
  const type = stringAt(item, 'type') ?? '';
  if (type === 'UserMessage') return words('user', contentText(item['content']));
  if (type === 'AgentMessage') return words('assistant', contentText(item['content']));
  if (type === 'Reasoning') return { kind: 'answer' };
  const id = stringAt(item, 'call_id') ?? stringAt(item, 'id');
  return id === undefined ? null : { kind: 'call', id };
}

function words(role: string, text: string): Attachment {
  return { kind: 'words', key: wordsKey(role, text) };
}

function countAt(record: JsonRecord, key: string): number {
  const value = record[key];
  return typeof value === 'number' && value > 0 ? Math.floor(value) : 0;
}
