import type { ConversationMessage, MessagePart, Role } from '../../../core/message.ts';
import type { Decoded } from '../../../core/transcript.ts';
import type { Json, RecordProblem } from '../../../ports/codec.ts';
import { isList, isRecord, type JsonRecord, readMilliseconds, stringAt } from '../json.ts';
import {
  argumentText,
  contentText,
  contentTexts,
  listCalls,
  readPartText,
  refuseDeepNesting,
  ruleWords,
  textOfParts,
  typedText,
  withTyped,
} from '../message-parts.ts';

/** Records of what happened, from which nothing is restored, or only what a compaction resets. */
const LOGGED =
  /^(?:turn\.|llm\.|full_compaction\.|micro_compaction\.|token_counting\.|mcp\.tools_discovered$|context\.(?:clear|undo|update_token_count)$)/;

/** Decodes a record. All state (model, tools, permissions, plans, goals, costs) is restored from its records, so they all stay. */
export function decodeRecord(value: Json, line: number): Decoded | RecordProblem {
  if (!isRecord(value)) return { kind: 'meta' };
  const { type } = value;
  return refuseDeepNesting('a message that is', () => {
    if (type === 'context.append_message') return decodeMessage(value, line);
    if (type === 'context.append_loop_event') return decodeEvent(value, line);
    if (type === 'context.apply_compaction') return decodeCompaction(value, line);
    return { kind: typeof type !== 'string' || LOGGED.test(type) ? 'meta' : 'header' };
  });
}

function decodeMessage(record: JsonRecord, line: number): Decoded | RecordProblem {
  const { message } = record;
  if (!isRecord(message)) return { problem: 'a context.append_message without a message' };
  const { role, content, toolCalls } = message;
  if (!isList(content)) return { problem: 'a message whose content is not a list' };
  if (role !== 'user' && role !== 'assistant' && role !== 'tool' && role !== 'system')
    return { problem: 'a message whose role is not user, assistant, tool or system' };
  const callId = stringAt(message, 'toolCallId');
  if (role === 'tool' && callId !== undefined)
    return said({ record, line, role, parts: [resultPart(callId, content, message['isError'] === true)] });
  const calls = (isList(toolCalls) ? toolCalls : []).filter(isRecord).map(callPart);
  const parts = [...textParts(content), ...calls];
  const decoded = said({ record, line, role, parts });
  if (role === 'system') return { ...decoded, kind: 'instruction' };
  const typed = isPrompt(message) ? typedText(content.map(readPartText)) : undefined;
  if (typed === undefined || decoded.message === undefined) return decoded;
  return { ...decoded, isPrompt: true, message: withTyped(decoded.message, typed, ruleTextOf(message, content)) };
}

/** A command's prompt holds the text of its skill, so only what the client notes as a person's own prompt may state rules. */
function ruleTextOf({ origin }: JsonRecord, content: readonly Json[]): string | undefined {
  if (!isRecord(origin) || origin['kind'] !== 'user') return undefined;
  return ruleWords(content.flatMap((part) => (isRecord(part) && part['type'] === 'text' ? [readPartText(part)] : [])));
}

/** A person sent it: Kimi Code can undo it and keeps it when it compacts. */
export function isPrompt({ role, origin }: JsonRecord): boolean {
  if (role !== 'user') return false;
  const kind = isRecord(origin) ? origin['kind'] : 'user';
  const isCommand = kind === 'skill_activation' || kind === 'plugin_command';
  return kind === 'user' || (isCommand && isRecord(origin) && origin['trigger'] === 'user-slash');
}

/** A step of the agent is stored as it was streamed: its parts and calls belong together. Thinking goes with them. */
function decodeEvent(record: JsonRecord, line: number): Decoded | RecordProblem {
  const { event } = record;
  if (!isRecord(event)) return { problem: 'a context.append_loop_event without an event' };
  const { type, part } = event;
  const groupKey = `step:${stringAt(event, 'stepUuid') ?? line}`;
  if (type === 'content.part') {
    if (!isRecord(part)) return { problem: 'a content.part without a part' };
    if (part['type'] === 'think') return { kind: 'meta' };
    return { ...said({ record, line, role: 'assistant', parts: textParts([part]) }), groupKey };
  }
  if (type === 'tool.call') return { ...said({ record, line, role: 'assistant', parts: [callPart(event)] }), groupKey };
  if (type !== 'tool.result') return { kind: 'meta' };
  const { result } = event;
  const callId = stringAt(event, 'toolCallId');
  if (!isRecord(result) || callId === undefined) return { problem: 'a tool.result without its result or call' };
  return said({
    record,
    line,
    role: 'tool',
    parts: [resultPart(callId, result['output'], result['isError'] === true)],
  });
}

function decodeCompaction(record: JsonRecord, line: number): Decoded | RecordProblem {
  const { summary } = record;
  const content = isRecord(summary) ? summary['content'] : undefined;
  const text =
    stringAt(record, 'contextSummary') ??
    stringAt(record, 'summary') ??
    (isList(content) ? contentText(content, '') : undefined);
  if (text === undefined) return { problem: 'a context.apply_compaction without a summary' };
  return { kind: 'summary', message: messageOf({ record, line, role: 'system', parts: [{ kind: 'text', text }] }) };
}

function textParts(content: readonly Json[]): readonly MessagePart[] {
  return contentTexts(content).map((text) => ({ kind: 'text', text }));
}

/** `{id, name, arguments: text}` in a message, `{toolCallId, name, args: any}` in a step. */
function callPart(call: JsonRecord): MessagePart {
  const id = stringAt(call, 'toolCallId') ?? stringAt(call, 'id') ?? '';
  return {
    kind: 'call',
    id,
    name: stringAt(call, 'name') ?? '',
    arguments: argumentText(call['args'] ?? call['arguments']),
  };
}

function resultPart(callId: string, output: Json | undefined, isError: boolean): MessagePart {
  return { kind: 'result', callId, text: contentText(output), isError };
}

type Said = {
  readonly record: JsonRecord;
  readonly line: number;
  readonly role: Role;
  readonly parts: readonly MessagePart[];
};

function said(input: Said): Decoded {
  const calls = input.parts.flatMap((part) => (part.kind === 'call' ? [part.id] : []));
  const results = input.parts.flatMap((part) => (part.kind === 'result' ? [part.callId] : []));
  return {
    kind: 'message',
    ...(calls.length > 0 && { calls }),
    ...(results.length > 0 && { results }),
    message: messageOf(input),
  };
}

function messageOf({ record, line, role, parts }: Said): ConversationMessage {
  const { message, event } = record;
  const [first] = parts;
  const own = isRecord(message) ? stringAt(message, 'id') : isRecord(event) ? stringAt(event, 'uuid') : undefined;
  return {
    id: own ?? `line:${line}`,
    conversation_id: '',
    role,
    content: textOfParts(parts),
    created_at: readMilliseconds(record['time']),
    parts,
    ...listCalls(parts),
    ...(first?.kind === 'result' && { tool_call_id: first.callId }),
  };
}
