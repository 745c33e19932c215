import type { ConversationMessage } from '../../../core/message.ts';
import type { Decoded } from '../../../core/transcript.ts';
import type { RecordProblem } from '../../../ports/codec.ts';
import { refuseDeepNesting } from '../deep-nesting.ts';
import { isList, isRecord, type JsonRecord, stringAt } from '../json.ts';
import { readPartText } from '../part-text.ts';
import { typedText, withTyped } from '../typed-text.ts';
import { partsOf, readCalls, textOf } from './call.ts';
import { pinOf } from './pin.ts';
import { readTime } from './time.ts';

/** Where an event stands, what it says, and what persons did about calls, by the ids of the calls. */
export type EventInput = {
  readonly event: JsonRecord;
  readonly data: JsonRecord;
  readonly line: number;
  readonly commands: ReadonlyMap<string, string>;
  /** What persons wrote when they denied calls, by the ids of the calls. */
  readonly denials: ReadonlyMap<string, string>;
};

/** What an event says. Only those that Copilot puts into its history can be a problem: Copilot refuses a file that has such a one. */
export function decodeEvent(input: EventInput): Decoded | RecordProblem {
  return refuseDeepNesting('a call whose arguments are', () => decodeSaid(input) ?? decodeMeta(input));
}

/** Null: the event says nothing to the model. */
function decodeSaid(input: EventInput): Decoded | RecordProblem | null {
  const { event, data } = input;
  switch (event['type']) {
    case 'user.message':
      return decodePrompt(input);
    case 'assistant.message':
      return decodeAnswer(input);
    case 'tool.execution_complete':
      return data['isUserRequested'] === true ? decodeShell(input) : decodeResult(input);
    case 'system.notification':
      return decodeNotification(input);
    case 'session.compaction_complete':
      return decodeCompaction(input);
    default:
      return null;
  }
}

/** What a person typed, or a skill or an extension said in its name (`source`). */
function decodePrompt(input: EventInput): Decoded | RecordProblem {
  const { data } = input;
  const { content, attachments, isAutopilotContinuation } = data;
  if (typeof content !== 'string') return { problem: 'a user.message event whose content is no text' };
  const source = stringAt(data, 'source') ?? '';
  const isShown = content.trim() !== '' || (isList(attachments) && attachments.length > 0);
  const isPrompt = isShown && source === '' && isAutopilotContinuation !== true;
  const text = content.trim() === '' ? (stringAt(data, 'transformedContent') ?? content) : content;
  const message = messageOf(input, { role: 'user', content: text, ...(source !== '' && { name: source }) });
  const typed = isPrompt && !isOfSubagent(input) ? typedText([content]) : undefined;
  return { kind: 'message', ...(isPrompt && { isPrompt }), message: withTyped(message, typed) };
}

/** Answers of one call of the model share `apiCallId`. */
function decodeAnswer(input: EventInput): Decoded | RecordProblem {
  const { event, data } = input;
  const { content } = data;
  if (typeof content !== 'string') return { problem: 'an assistant.message event whose content is no text' };
  const calls = readCalls(data['toolRequests']);
  const groupKey = stringAt(data, 'apiCallId');
  return {
    kind: 'message',
    ...((isOfSubagent(input) || event['ephemeral'] === true) && { isSide: true }),
    ...(calls.length > 0 && { calls: calls.map(({ id }) => id) }),
    ...(groupKey !== undefined && { groupKey }),
    message: {
      ...messageOf(input, { role: 'assistant', content: textOf(content, calls) }),
      ...(calls.length > 0 && { tool_calls: calls }),
      parts: partsOf(content, calls),
    },
  };
}

function decodeResult(input: EventInput): Decoded | RecordProblem {
  const callId = stringAt(input.data, 'toolCallId');
  if (callId === undefined) return { problem: 'a tool.execution_complete event that names no call' };
  const text = outputOf(input.data);
  const message: ConversationMessage = {
    ...messageOf(input, { role: 'tool', content: text }),
    tool_call_id: callId,
    parts: [{ kind: 'result', callId, text, isError: input.data['success'] !== true }],
  };
  return {
    kind: 'message',
    ...(isOfSubagent(input) && { isSide: true }),
    results: [callId],
    message: withTyped(message, isOfSubagent(input) ? undefined : input.denials.get(callId)),
  };
}

/** A command that a person ran in Copilot's shell: sent in the name of the user, though it is no prompt. */
function decodeShell(input: EventInput): Decoded {
  const { data, commands } = input;
  const command = commands.get(stringAt(data, 'toolCallId') ?? '');
  const content = [...(command === undefined ? [] : [`$ ${command}`]), outputOf(data)].join('\n');
  return {
    kind: 'message',
    ...(isOfSubagent(input) && { isSide: true }),
    message: messageOf(input, { role: 'user', content }),
  };
}

/** Told to the model, by nobody. That instructions were found is not told. */
function decodeNotification(input: EventInput): Decoded | RecordProblem | null {
  const { content, kind } = input.data;
  if (isRecord(kind) && kind['type'] === 'instruction_discovered') return null;
  if (typeof content !== 'string') return { problem: 'a system.notification event whose content is no text' };
  return { kind: 'message', message: messageOf(input, { role: 'user', content }) };
}

/** Copilot's own, or ours; one that failed, or has no text, changed nothing. */
function decodeCompaction(input: EventInput): Decoded | null {
  const summary = stringAt(input.data, 'summaryContent') ?? '';
  if (input.data['success'] !== true || summary === '') return null;
  const message = messageOf(input, { role: 'system', content: summary });
  return { kind: 'summary', boundary: { keepsPrompts: true }, message };
}

/** Events of calls go and stay with them. */
function decodeMeta({ event, data }: EventInput): Decoded {
  const type = stringAt(event, 'type') ?? '';
  const request = data['permissionRequest'];
  const callId = stringAt(data, 'toolCallId') ?? (isRecord(request) ? stringAt(request, 'toolCallId') : undefined);
  const pin = pinOf(type, data);
  return {
    kind: 'meta',
    ...(pin !== undefined && { pin }),
    ...(callId !== undefined && { attachedTo: { kind: 'call', id: callId } }),
  };
}

function messageOf(
  { event, line }: EventInput,
  said: Pick<ConversationMessage, 'role' | 'content' | 'name'>,
): ConversationMessage {
  return {
    id: stringAt(event, 'id') ?? `line:${line}`,
    conversation_id: '',
    ...said,
    created_at: readTime(event['timestamp']),
    parts: partsOf(said.content, []),
  };
}

/** What the model is told of a result. */
function outputOf({ success, result, error }: JsonRecord): string {
  const [told, key] = success === true ? [result, 'content'] : [error, 'message'];
  return readPartText(isRecord(told) ? (told[key] ?? told) : told);
}

/** As Copilot tells them; it sends nothing of theirs with the main thread. */
function isOfSubagent({ event, data }: EventInput): boolean {
  const { agentId } = event;
  const { parentToolCallId } = data;
  return (
    (typeof agentId === 'string' && agentId !== '') || (typeof parentToolCallId === 'string' && parentToolCallId !== '')
  );
}
