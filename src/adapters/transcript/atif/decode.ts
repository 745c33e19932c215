import type { ConversationMessage, MessagePart, Role } from '../../../core/message.ts';
import type { Json, RecordProblem } from '../../../ports/codec.ts';
import { isList, isRecord, type JsonRecord, readIsoTime, stringAt } from '../json.ts';
import {
  argumentText,
  contentText,
  listCalls,
  refuseDeepNesting,
  textOfParts,
  typedText,
  withTyped,
} from '../message-parts.ts';
import type { Noted } from '../notes.ts';

/** A step that only holds the number of one that left. */
export type StepNote = 'placeholder';

/** The message of a placeholder. */
export const PLACEHOLDER = '(compacted)';

/** An element of `steps`. A step of the system is an instruction only before anything was said. */
export function decodeStep(value: Json, line: number, isLeading: boolean): Noted<StepNote> | RecordProblem {
  if (!isRecord(value)) return { kind: 'meta' };
  const source = value['source'];
  if (typeof source !== 'string') return { problem: 'a step whose source is not a string' };
  if (isPlaceholder(value)) return { kind: 'meta', note: 'placeholder' };
  return refuseDeepNesting('a step that is', () => decodeSaid(value, { source, line, isLeading }));
}

function isPlaceholder(step: JsonRecord): boolean {
  return step['source'] === 'system' && step['message'] === PLACEHOLDER && Object.keys(step).length === 3;
}

function decodeSaid(
  step: JsonRecord,
  { source, line, isLeading }: { readonly source: string; readonly line: number; readonly isLeading: boolean },
): Noted<StepNote> {
  const isSummary = source === 'system' && isCompaction(step);
  const parts = isSummary ? readSummary(step) : readParts(step, line);
  const calls = parts.flatMap((part) => (part.kind === 'call' ? [part.id] : []));
  const role: Role = isSummary || (source === 'system' && isLeading) ? 'system' : (ROLES.get(source) ?? 'tool');
  const message: ConversationMessage = {
    id: `step:${typeof step['step_id'] === 'number' ? step['step_id'] : line}`,
    conversation_id: '',
    role,
    content: textOfParts(parts),
    ...listCalls(parts),
    created_at: readIsoTime(step['timestamp']),
    parts,
  };
  const isInstruction = role === 'system' && !isSummary;
  return {
    kind: isSummary ? 'summary' : isInstruction ? 'instruction' : 'message',
    ...(calls.length > 0 && { calls, results: calls }),
    ...(role === 'user' && { isPrompt: true }),
    message: withTyped(message, role === 'user' ? typedText([message.content]) : undefined),
  };
}

/** Other steps of the system report what happened around the agent, as the result of a tool does. */
const ROLES: ReadonlyMap<string, Role> = new Map([
  ['user', 'user'],
  ['agent', 'assistant'],
]);

/** Section VII of the RFC: such a step replaces everything before it in the context of the agent. */
function isCompaction({ extra }: JsonRecord): boolean {
  const management = isRecord(extra) ? extra['context_management'] : undefined;
  return isRecord(management) && management['boundary'] === 'replace';
}

/** The summary is the observation; a producer may have put it into the message instead. */
function readSummary(step: JsonRecord): readonly MessagePart[] {
  const observed = resultsOf(step)
    .map(({ content }) => contentText(content))
    .join('\n');
  return [{ kind: 'text', text: observed.trim() === '' ? contentText(step['message']) : observed }];
}

/**
 * What a step says, its calls, and their results. A result that names no call answers the only one; without calls it is
 * what the terminal shows.
 * @throws RangeError if the arguments of a call are nested too deeply to be written as JSON.
 */
function readParts(step: JsonRecord, line: number): readonly MessagePart[] {
  const text = contentText(step['message']);
  const calls = (isList(step['tool_calls']) ? step['tool_calls'] : []).filter(isRecord).map((call, at) => ({
    kind: 'call' as const,
    id: stringAt(call, 'tool_call_id') ?? `call:${line}:${at}`,
    name: stringAt(call, 'function_name') ?? '',
    arguments: argumentText(call['arguments']),
  }));
  const only = calls.length === 1 ? calls[0]?.id : undefined;
  const results = resultsOf(step).map((result, at): MessagePart => ({
    kind: 'result',
    callId: stringAt(result, 'source_call_id') ?? only ?? `result:${line}:${at}`,
    text: contentText(result['content']),
    isError: false,
  }));
  return [...(text === '' ? [] : [{ kind: 'text', text } as const]), ...calls, ...results];
}

function resultsOf({ observation }: JsonRecord): readonly JsonRecord[] {
  const results = isRecord(observation) ? observation['results'] : undefined;
  return isList(results) ? results.filter(isRecord) : [];
}
