import type { MessagePart } from '../../../core/message.ts';
import type { Decoded } from '../../../core/transcript.ts';
import type { Json, RecordProblem } from '../../../ports/codec.ts';
import { idAt, isList, isRecord, type JsonRecord, readIsoTime, stringAt } from '../json.ts';
import { argumentText, readPartText, ruleWords, typedText } from '../message-parts.ts';
import type { Noted } from '../session.ts';
import { asTyped, callPart, decodeSaid, decodeSummary, resultPart, type SaidPlace, textParts } from '../said.ts';

/** An event without words of its own goes or stays with the message that makes or answers this call. */
export type CallNote = { readonly callId: string };

/** What persons did about calls, by the ids of the calls. */
export type PersonsActs = {
  /** The commands that they ran in Copilot's shell. */
  readonly commands: ReadonlyMap<string, string>;
  /** What they wrote when they denied calls. */
  readonly denials: ReadonlyMap<string, string>;
};

/** Events of these types are in Copilot's history; it refuses a file with one that has no text. */
const SPEECH: ReadonlyMap<string, string> = new Map([
  ['user.message', 'a user.message event'],
  ['assistant.message', 'an assistant.message event'],
  ['system.notification', 'a system.notification event'],
]);

/** Decodes an event. Only events that Copilot puts into its history can have a problem. */
export function decodeEvent(event: JsonRecord, line: number, acts: PersonsActs): Noted<CallNote> | RecordProblem {
  const data = isRecord(event['data']) ? event['data'] : {};
  const type = stringAt(event, 'type') ?? '';
  const place = { id: stringAt(event, 'id'), line, at: readTime(event['timestamp']) };
  const { content, kind } = data;
  const isSide = isOfSubagent(event, data);
  const side = isSide && { isSide };
  // The model does not get the notification about discovered instructions.
  const isUnsent = type === 'system.notification' && isRecord(kind) && kind['type'] === 'instruction_discovered';
  const speech = isUnsent ? undefined : SPEECH.get(type);
  if (speech !== undefined) {
    if (typeof content !== 'string') return { problem: `${speech} whose content is not a string` };
    if (type === 'user.message') return decodePrompt(data, { content, place, isSide });
    if (type === 'system.notification') return decodeSaid({ ...place, role: 'user', parts: textParts([content]) });
    const groupKey = stringAt(data, 'apiCallId'); // the messages of one request to the model share it
    return {
      ...decodeSaid({ ...place, role: 'assistant', parts: [...textParts([content]), ...callParts(data)] }),
      ...((isSide || event['ephemeral'] === true) && { isSide: true }),
      ...(groupKey !== undefined && { groupKey }),
    };
  }
  if (type === 'tool.execution_complete') {
    const callId = stringAt(data, 'toolCallId');
    const text = outputOf(data);
    if (data['isUserRequested'] === true) {
      // What a person ran in Copilot's shell is sent as the user's, but it is not a prompt.
      const command = acts.commands.get(callId ?? '');
      const shell = command === undefined ? text : `$ ${command}\n${text}`;
      return { ...decodeSaid({ ...place, role: 'user', parts: textParts([shell]) }), ...side };
    }
    if (callId === undefined) return { problem: 'a tool.execution_complete event that names no call' };
    const result = resultPart(callId, text, data['success'] !== true);
    const said = decodeSaid({ ...place, role: 'tool', parts: [result] });
    return { ...asTyped(said, isSide ? undefined : acts.denials.get(callId)), ...side };
  }
  if (type === 'session.compaction_complete') {
    // Copilot's compaction, or ours. One that failed, or has no text, changed nothing.
    const summary = stringAt(data, 'summaryContent') ?? '';
    if (data['success'] === true && summary !== '') return decodeSummary(summary, place);
  }
  return decodeMeta(type, data);
}

/** What a person typed, or what a skill or an extension said as the user (`source`). */
function decodePrompt(
  data: JsonRecord,
  { content, place, isSide }: { readonly content: string; readonly place: SaidPlace; readonly isSide: boolean },
): Decoded {
  const { attachments, isAutopilotContinuation } = data;
  const source = stringAt(data, 'source') ?? '';
  const isBlank = content.trim() === '';
  const isShown = !isBlank || (isList(attachments) && attachments.length > 0);
  const isPrompt = isShown && source === '' && isAutopilotContinuation !== true;
  const text = isBlank ? (stringAt(data, 'transformedContent') ?? content) : content;
  const name = source === '' ? undefined : source;
  const typed = isPrompt && !isSide ? typedText([content]) : undefined;
  const said = decodeSaid({ ...place, role: 'user', name, parts: textParts([text]) });
  return {
    ...asTyped(said, typed, typed === undefined ? undefined : ruleWords([typed])),
    ...(isPrompt && { isPrompt }),
  };
}

/** Other events. Those of a call go and stay with it. */
function decodeMeta(type: string, data: JsonRecord): Noted<CallNote> {
  const request = data['permissionRequest'];
  const callId = stringAt(data, 'toolCallId') ?? (isRecord(request) ? stringAt(request, 'toolCallId') : undefined);
  const latestKey = latestKeyOf(type, data);
  return {
    kind: 'meta',
    ...(latestKey !== undefined && { latestKey }),
    ...(callId !== undefined && { note: { callId } }),
  };
}

/** The result as the model gets it. */
function outputOf({ success, result, error }: JsonRecord): string {
  const [output, key] = success === true ? [result, 'content'] : [error, 'message'];
  return readPartText(isRecord(output) ? (output[key] ?? output) : output);
}

/** By the same signs as Copilot, which sends nothing of a subagent with the main thread. */
function isOfSubagent(event: JsonRecord, data: JsonRecord): boolean {
  return (stringAt(event, 'agentId') ?? '') !== '' || (stringAt(data, 'parentToolCallId') ?? '') !== '';
}

/**
 * The calls that an answer requests. Their arguments are JSON, or text for a tool that takes plain text.
 * @throws RangeError if arguments are nested too deeply to be written as JSON.
 */
function callParts({ toolRequests }: JsonRecord): readonly MessagePart[] {
  return (isList(toolRequests) ? toolRequests : []).flatMap((request) => {
    const id = isRecord(request) ? stringAt(request, 'toolCallId') : undefined;
    if (!isRecord(request) || id === undefined) return [];
    return [callPart(id, stringAt(request, 'name') ?? '', argumentText(request['arguments']))];
  });
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

const EXACT_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/;

/** The time of an event (ISO 8601 with seconds and an offset, as Copilot requires), or null. */
export function readTime(value: Json | undefined): Date | null {
  return typeof value === 'string' && EXACT_TIME.test(value) ? readIsoTime(value) : null;
}
