import type { ConversationMessage, MessagePart } from '../../../core/message.ts';
import type { Decoded } from '../../../core/transcript.ts';
import type { Json, RecordProblem } from '../../../ports/codec.ts';
import { idAt, isList, isRecord, type JsonRecord, stringAt } from '../json.ts';
import { readPartText, refuseDeepNesting, ruleWords, typedText, withTyped } from '../message-parts.ts';
import type { Noted } from '../notes.ts';
import type { CallNote } from './context.ts';

/** An event and its line, and what persons did about calls, by the ids of the calls. */
type EventInput = {
  readonly event: JsonRecord;
  readonly data: JsonRecord;
  readonly line: number;
  readonly commands: ReadonlyMap<string, string>;
  /** What persons wrote when they denied calls, by the ids of the calls. */
  readonly denials: ReadonlyMap<string, string>;
};

/**
 * Decodes an event. Only events that Copilot puts into its history can have a problem: Copilot refuses a file with
 * such an event.
 */
export function decodeEvent(input: EventInput): Noted<CallNote> | RecordProblem {
  return refuseDeepNesting('a call whose arguments are', () => decodeSaid(input) ?? decodeMeta(input));
}

/** null: the model gets nothing from this event. */
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

/** What a person typed, or what a skill or an extension said as the user (`source`). */
function decodePrompt(input: EventInput): Decoded | RecordProblem {
  const { data } = input;
  const { content, attachments, isAutopilotContinuation } = data;
  if (typeof content !== 'string') return { problem: 'a user.message event whose content is not a string' };
  const source = stringAt(data, 'source') ?? '';
  const isShown = content.trim() !== '' || (isList(attachments) && attachments.length > 0);
  const isPrompt = isShown && source === '' && isAutopilotContinuation !== true;
  const text = content.trim() === '' ? (stringAt(data, 'transformedContent') ?? content) : content;
  const message = messageOf(input, { role: 'user', content: text, ...(source !== '' && { name: source }) });
  const typed = isPrompt && !isOfSubagent(input) ? typedText([content]) : undefined;
  return {
    kind: 'message',
    ...(isPrompt && { isPrompt }),
    message: withTyped(message, typed, typed === undefined ? undefined : ruleWords([typed])),
  };
}

/** The messages of one request to the model share `apiCallId`. */
function decodeAnswer(input: EventInput): Decoded | RecordProblem {
  const { event, data } = input;
  const { content } = data;
  if (typeof content !== 'string') return { problem: 'an assistant.message event whose content is not a string' };
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

/** A command that a person ran in Copilot's shell: it is sent as the user's, but it is not a prompt. */
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

/** A notification that the model gets. It does not get the one about discovered instructions. */
function decodeNotification(input: EventInput): Decoded | RecordProblem | null {
  const { content, kind } = input.data;
  if (isRecord(kind) && kind['type'] === 'instruction_discovered') return null;
  if (typeof content !== 'string') return { problem: 'a system.notification event whose content is not a string' };
  return { kind: 'message', message: messageOf(input, { role: 'user', content }) };
}

/** Copilot's compaction, or ours. One that failed, or has no text, changed nothing. */
function decodeCompaction(input: EventInput): Decoded | null {
  const summary = stringAt(input.data, 'summaryContent') ?? '';
  if (input.data['success'] !== true || summary === '') return null;
  const message = messageOf(input, { role: 'system', content: summary });
  return { kind: 'summary', message };
}

/** Other events. Those of a call go and stay with it. */
function decodeMeta({ event, data }: EventInput): Noted<CallNote> {
  const type = stringAt(event, 'type') ?? '';
  const request = data['permissionRequest'];
  const callId = stringAt(data, 'toolCallId') ?? (isRecord(request) ? stringAt(request, 'toolCallId') : undefined);
  const latestKey = latestKeyOf(type, data);
  return {
    kind: 'meta',
    ...(latestKey !== undefined && { latestKey }),
    ...(callId !== undefined && { note: { callId } }),
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

/** The result as the model gets it. */
function outputOf({ success, result, error }: JsonRecord): string {
  const [output, key] = success === true ? [result, 'content'] : [error, 'message'];
  return readPartText(isRecord(output) ? (output[key] ?? output) : output);
}

/** By the same signs as Copilot, which sends nothing of a subagent with the main thread. */
function isOfSubagent({ event, data }: EventInput): boolean {
  const { agentId } = event;
  const { parentToolCallId } = data;
  return (
    (typeof agentId === 'string' && agentId !== '') || (typeof parentToolCallId === 'string' && parentToolCallId !== '')
  );
}

/** A call. Its arguments are JSON, or text for a tool that takes plain text. */
type Call = { readonly id: string; readonly name: string; readonly arguments: string };

/**
 * The calls that an answer requests.
 * @throws RangeError if arguments are nested too deeply to be written as JSON.
 */
function readCalls(requests: Json | undefined): readonly Call[] {
  return (isList(requests) ? requests : []).flatMap((request): readonly Call[] => {
    if (!isRecord(request)) return [];
    const id = stringAt(request, 'toolCallId');
    const args = request['arguments'] ?? {};
    const text = typeof args === 'string' ? args : JSON.stringify(args);
    return id === undefined ? [] : [{ id, name: stringAt(request, 'name') ?? '', arguments: text }];
  });
}

/** A text and calls as the parts of a message, and as one text. */
function partsOf(text: string, calls: readonly Call[]): readonly MessagePart[] {
  const said: readonly MessagePart[] = text === '' ? [] : [{ kind: 'text', text }];
  return [...said, ...calls.map((call): MessagePart => ({ kind: 'call', ...call }))];
}

function textOf(text: string, calls: readonly Call[]): string {
  const written = calls.map(({ name, arguments: args }) => `${name} ${args}`);
  return (text === '' ? written : [text, ...written]).join('\n');
}

/** Events about the whole session that only report something and set nothing. */
const PASSING = new Set([
  'session.compaction_start',
  'session.compaction_complete',
  'session.truncation',
  'session.snapshot_rewind',
  'session.usage_info',
  'session.error',
  'session.warning',
  'session.info',
  'session.idle',
  'session.shutdown',
]);

/**
 * The key of what an event sets, if Copilot reads it again on resuming: model, modes, schedules, system prompt,
 * invoked skills, files that later events refer to by name. The latest event of each key stays. undefined: it sets
 * nothing.
 */
function latestKeyOf(type: string, data: JsonRecord): string | undefined {
  switch (type) {
    case 'session.binary_asset':
      return `${type} ${stringAt(data, 'assetId') ?? ''}`;
    case 'session.schedule_created':
    case 'session.schedule_cancelled':
      return `session.schedule ${idAt(data, 'id') ?? ''}`;
    case 'session.schedule_rearmed':
      return `${type} ${idAt(data, 'id') ?? ''}`;
    case 'system.message':
      return `${type} ${stringAt(data, 'role') ?? ''} ${stringAt(data, 'name') ?? ''}`;
    case 'skill.invoked':
      return `${type} ${stringAt(data, 'name') ?? ''}`;
    case 'subagent.selected':
    case 'subagent.deselected':
      return 'subagent.selected';
    default:
      return type.startsWith('session.') && !PASSING.has(type) ? type : undefined;
  }
}

const ISO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/;

/** The time of an event (ISO 8601 with seconds and an offset, as Copilot requires), or null. */
export function readTime(value: Json | undefined): Date | null {
  const time = typeof value === 'string' && ISO_TIME.test(value) ? new Date(value) : null;
  return time === null || Number.isNaN(time.getTime()) ? null : time;
}
