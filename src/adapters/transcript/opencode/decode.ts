import type { ConversationMessage, MessagePart, Role } from '../../../core/message.ts';
import type { Decoded } from '../../../core/transcript.ts';
import type { Json, RecordProblem } from '../../../ports/codec.ts';
import { isList, isRecord, type JsonRecord, readMilliseconds, stringAt } from '../json.ts';
import {
  argumentText,
  listCalls,
  readPartText,
  refuseDeepNesting,
  ruleWords,
  textOfParts,
  typedText,
  withTyped,
} from '../message-parts.ts';
import type { Noted } from '../notes.ts';
import type { RequestNote } from './context.ts';

/** An element `{info, parts}` of the list of messages. */
export function decodeMessage(value: Json, line: number): Noted<RequestNote> | RecordProblem {
  const info = isRecord(value) ? value['info'] : undefined;
  if (!isRecord(value) || !isRecord(info)) return { kind: 'meta' };
  const givenRole = info['role'];
  if (givenRole !== 'user' && givenRole !== 'assistant') return { kind: 'meta' };
  if (!isList(value['parts'])) return { problem: `a message of role ${givenRole} whose parts are not a list` };
  const recordId = stringAt(info, 'id');
  const asked = givenRole === 'user' ? findCompaction(value['parts']) : null;
  if (asked !== null) {
    const keptFrom = stringAt(asked, 'tail_start_id');
    return {
      kind: 'meta',
      ...(recordId !== undefined && { recordId }),
      note: keptFrom === undefined ? {} : { keptFrom },
    };
  }
  return refuseDeepNesting('a call whose input is', () => decodeSaid(value, { info, givenRole, line }));
}

function decodeSaid(
  value: JsonRecord,
  {
    info,
    givenRole,
    line,
  }: { readonly info: JsonRecord; readonly givenRole: 'user' | 'assistant'; readonly line: number },
): Decoded {
  const id = stringAt(info, 'id');
  const parentId = stringAt(info, 'parentID');
  const isSummary = givenRole === 'assistant' && isFinishedSummary(info);
  const role: Role = isSummary ? 'system' : givenRole;
  const parts = readParts(value['parts']);
  const calls = parts.flatMap((part) => (part.kind === 'call' ? [part.id] : []));
  const results = parts.flatMap((part) => (part.kind === 'result' ? [part.callId] : []));
  const message: ConversationMessage = {
    id: id ?? `line:${line}`,
    conversation_id: stringAt(info, 'sessionID') ?? '',
    role,
    content: textOfParts(parts),
    ...listCalls(parts),
    created_at: isRecord(info['time']) ? readMilliseconds(info['time']['created']) : null,
    parts,
  };
  return {
    kind: isSummary ? 'summary' : 'message',
    ...(id !== undefined && { recordId: id }),
    ...(parentId !== undefined && { parentId }),
    ...(calls.length > 0 && { calls }),
    ...(results.length > 0 && { results }),
    ...(role === 'user' && hasTyped(value['parts']) && { isPrompt: true }),
    message: isSummary
      ? message
      : withTyped(message, typedWords(role, value['parts']), ruleTextOf(role, value['parts'])),
  };
}

/** OpenCode accepts no other message as a summary. */
function isFinishedSummary(info: JsonRecord): boolean {
  const isFinished = typeof info['finish'] === 'string' && info['finish'] !== '';
  return info['summary'] === true && isFinished && (info['error'] ?? null) === null;
}

/**
 * The parts of a message: texts, calls with their results, tasks of subagents. No reasoning, files or patches.
 * @throws RangeError if the input of a call is nested too deeply to be written as JSON.
 */
function readParts(parts: Json | undefined): readonly MessagePart[] {
  return isList(parts) ? parts.flatMap((part) => (isRecord(part) ? readPart(part) : textPart(readPartText(part)))) : [];
}

function readPart(part: JsonRecord): readonly MessagePart[] {
  switch (part['type']) {
    case 'text':
      // The person sees it, but it is not sent.
      return part['ignored'] === true ? [] : textPart(readPartText(part));
    case 'subtask':
      return textPart(stringAt(part, 'prompt') ?? readPartText(part));
    case 'tool':
      return toolParts(part);
    default:
      return SILENT_PARTS.has(stringAt(part, 'type') ?? '') ? [] : textPart(readPartText(part));
  }
}

/** Records of the program about its own work; files and reasoning have no text anyway. */
const SILENT_PARTS: ReadonlySet<string> = new Set([
  'step-start',
  'step-finish',
  'snapshot',
  'patch',
  'agent',
  'retry',
  'compaction',
]);

function textPart(text: string): readonly MessagePart[] {
  return text === '' ? [] : [{ kind: 'text', text }];
}

/** A call that is not answered yet, or never was, has no result. */
function toolParts(part: JsonRecord): readonly MessagePart[] {
  const state = isRecord(part['state']) ? part['state'] : {};
  const id = stringAt(part, 'callID') ?? stringAt(part, 'id') ?? '';
  const name = stringAt(part, 'tool') ?? '';
  const call: MessagePart = { kind: 'call', id, name, arguments: argumentText(state['input']) };
  const isError = state['status'] === 'error';
  const output = state[isError ? 'error' : 'output'] ?? null;
  return output === null ? [call] : [call, { kind: 'result', callId: id, text: readPartText(output), isError }];
}

/** Whether a person typed something: what the program itself adds to a user message is marked. */
function hasTyped(parts: Json | undefined): boolean {
  return (
    isList(parts) &&
    parts.some((part) => isRecord(part) && isFromUser(part) && (part['type'] === 'file' || textOf(part).trim() !== ''))
  );
}

function isFromUser(part: JsonRecord): boolean {
  return part['synthetic'] !== true && part['ignored'] !== true;
}

function textOf(part: JsonRecord): string {
  return part['type'] === 'text' ? (stringAt(part, 'text') ?? '') : '';
}

const FEEDBACK =
  /^(?:Error: )?The user rejected permission to use this specific tool call with the following feedback: /;

/**
 * Tools of OpenCode itself, whose errors never begin with text from outside. A tool of an MCP server could copy the
 * sentence.
 */
const OWN_TOOLS: ReadonlySet<string> = new Set(
  'bash edit multiedit write patch apply_patch read glob grep list webfetch task todowrite todoread skill'.split(' '),
);

/**
 * What a person typed: the text of a prompt or, among the calls of an answer, the feedback given when rejecting them.
 */
function typedWords(role: Role, parts: Json | undefined): string | undefined {
  const records = isList(parts) ? parts.filter(isRecord) : [];
  return typedText(role === 'user' ? records.filter(isFromUser).map(textOf) : records.map(feedbackOf));
}

/** Tools of OpenCode that neither run anything nor fetch text from outside. */
const EDITING_TOOLS: ReadonlySet<string> = new Set(
  'edit multiedit write patch apply_patch todowrite question'.split(' '),
);

function ruleTextOf(role: Role, parts: Json | undefined): string | undefined {
  const records = isList(parts) ? parts.filter(isRecord) : [];
  if (role === 'user') return ruleWords(records.filter(isFromUser).map(textOf));
  return ruleWords(records.filter((part) => EDITING_TOOLS.has(stringAt(part, 'tool') ?? '')).map(feedbackOf));
}

function feedbackOf(part: JsonRecord): string {
  const { state } = part;
  if (part['type'] !== 'tool' || !isRecord(state) || state['status'] !== 'error') return '';
  if (!OWN_TOOLS.has(stringAt(part, 'tool') ?? '')) return '';
  const error = stringAt(state, 'error') ?? '';
  return FEEDBACK.test(error) ? error.replace(FEEDBACK, '') : '';
}

/** The part by which a person or the program requests a compaction. */
function findCompaction(parts: Json | undefined): JsonRecord | null {
  if (!isList(parts)) return null;
  return parts.filter(isRecord).find((part) => part['type'] === 'compaction') ?? null;
}
