import type { MessagePart } from '../../../core/message.ts';
import type { Decoded } from '../../../core/transcript.ts';
import type { Json, RecordProblem } from '../../../ports/codec.ts';
import { isList, isRecord, type JsonRecord, readMilliseconds, stringAt } from '../json.ts';
import { argumentText, contentText, contentTexts, readPartText, ruleWords, typedText } from '../message-parts.ts';
import { asTyped, callPart, decodeSaid, decodeSummary, resultPart, type SaidPlace, textParts } from '../said.ts';

/** Records of what happened, from which nothing is restored, or only what a compaction resets. */
const LOGGED =
  /^(?:turn\.|llm\.|full_compaction\.|micro_compaction\.|token_counting\.|mcp\.tools_discovered$|context\.(?:clear|undo|update_token_count)$)/;

/** Decodes a record. All state (model, tools, permissions, plans, goals, costs) is restored from its records, so they all stay. */
export function decodeRecord(record: JsonRecord, line: number): Decoded | RecordProblem {
  const { type, message, event } = record;
  const id = isRecord(message) ? stringAt(message, 'id') : isRecord(event) ? stringAt(event, 'uuid') : undefined;
  const place = { id, line, at: readMilliseconds(record['time']) };
  if (type === 'context.append_message') return decodeMessage(message, place);
  if (type === 'context.append_loop_event') return decodeEvent(event, place);
  if (type === 'context.apply_compaction') return decodeCompaction(record, place);
  return { kind: typeof type !== 'string' || LOGGED.test(type) ? 'meta' : 'header' };
}

function decodeMessage(message: Json | undefined, place: SaidPlace): Decoded | RecordProblem {
  if (!isRecord(message)) return { problem: 'a context.append_message without a message' };
  const { role, content, toolCalls, isError } = message;
  if (!isList(content)) return { problem: 'a message whose content is not a list' };
  if (role !== 'user' && role !== 'assistant' && role !== 'tool' && role !== 'system')
    return { problem: 'a message whose role is not user, assistant, tool or system' };
  const callId = stringAt(message, 'toolCallId');
  if (role === 'tool' && callId !== undefined)
    return decodeSaid({ ...place, role, parts: [resultPart(callId, contentText(content), isError === true)] });
  const calls = (isList(toolCalls) ? toolCalls : []).filter(isRecord).map(readCall);
  const said = decodeSaid({ ...place, role, parts: [...textParts(contentTexts(content)), ...calls] });
  if (role === 'system') return { ...said, kind: 'instruction' };
  const typed = isPrompt(message) ? typedText(content.map(readPartText)) : undefined;
  return typed === undefined ? said : { ...asTyped(said, typed, ruleTextOf(message, content)), isPrompt: true };
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
function decodeEvent(event: Json | undefined, place: SaidPlace): Decoded | RecordProblem {
  if (!isRecord(event)) return { problem: 'a context.append_loop_event without an event' };
  const { type, part, result } = event;
  const groupKey = `step:${stringAt(event, 'stepUuid') ?? place.line}`;
  if (type === 'tool.call')
    return { ...decodeSaid({ ...place, role: 'assistant', parts: [readCall(event)] }), groupKey };
  if (type === 'content.part') {
    if (!isRecord(part)) return { problem: 'a content.part without a part' };
    if (part['type'] === 'think') return { kind: 'meta' };
    return { ...decodeSaid({ ...place, role: 'assistant', parts: textParts(contentTexts([part])) }), groupKey };
  }
  if (type !== 'tool.result') return { kind: 'meta' };
  const callId = stringAt(event, 'toolCallId');
  if (!isRecord(result) || callId === undefined) return { problem: 'a tool.result without its result or call' };
  const answer = resultPart(callId, contentText(result['output']), result['isError'] === true);
  return decodeSaid({ ...place, role: 'tool', parts: [answer] });
}

function decodeCompaction(record: JsonRecord, place: SaidPlace): Decoded | RecordProblem {
  const { summary } = record;
  const content = isRecord(summary) ? summary['content'] : undefined;
  const text =
    stringAt(record, 'contextSummary') ??
    stringAt(record, 'summary') ??
    (isList(content) ? contentText(content, '') : undefined);
  if (text === undefined) return { problem: 'a context.apply_compaction without a summary' };
  return decodeSummary(text, place);
}

/** `{id, name, arguments: text}` in a message, `{toolCallId, name, args: any}` in a step. */
function readCall(call: JsonRecord): MessagePart {
  const id = stringAt(call, 'toolCallId') ?? stringAt(call, 'id') ?? '';
  return callPart(id, stringAt(call, 'name') ?? '', argumentText(call['args'] ?? call['arguments']));
}
