import type { MessagePart, Role } from '../../../core/message.ts';
import type { Json } from '../../../ports/codec.ts';
import { isList, isRecord, type JsonRecord, stringAt } from '../json.ts';
import { argumentText } from '../listed/said.ts';
import { readPartText } from '../part-text.ts';
import { typedText } from '../typed-text.ts';

/**
 * What the parts of a message say: text, calls with their results, what a subagent was asked. No reasoning, no files, no patches.
 * @throws RangeError where a call's input is nested too deeply to be written as JSON.
 */
export function readParts(parts: Json | undefined): readonly MessagePart[] {
  return isList(parts) ? parts.flatMap((part) => (isRecord(part) ? readPart(part) : textPart(readPartText(part)))) : [];
}

function readPart(part: JsonRecord): readonly MessagePart[] {
  switch (part['type']) {
    case 'text':
      // Shown to the person, and not sent.
      return part['ignored'] === true ? [] : textPart(readPartText(part));
    case 'subtask':
      return textPart(stringAt(part, 'prompt') ?? readPartText(part));
    case 'tool':
      return toolParts(part);
    default:
      return SILENT_PARTS.has(stringAt(part, 'type') ?? '') ? [] : textPart(readPartText(part));
  }
}

/** What the program notes of its own work; files and reasoning are silent anyway. */
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

/** A call that was not yet answered, or never, has no result. */
function toolParts(part: JsonRecord): readonly MessagePart[] {
  const state = isRecord(part['state']) ? part['state'] : {};
  const id = stringAt(part, 'callID') ?? stringAt(part, 'id') ?? '';
  const name = stringAt(part, 'tool') ?? '';
  const call: MessagePart = { kind: 'call', id, name, arguments: argumentText(state['input']) };
  const isError = state['status'] === 'error';
  const output = state[isError ? 'error' : 'output'] ?? null;
  return output === null ? [call] : [call, { kind: 'result', callId: id, text: readPartText(output), isError }];
}

/** Whether a person typed something: what the program itself puts into a person's message is marked. */
export function hasTyped(parts: Json | undefined): boolean {
  return (
    isList(parts) &&
    parts.some((part) => isRecord(part) && isPersons(part) && (part['type'] === 'file' || textOf(part).trim() !== ''))
  );
}

function isPersons(part: JsonRecord): boolean {
  return part['synthetic'] !== true && part['ignored'] !== true;
}

function textOf(part: JsonRecord): string {
  return part['type'] === 'text' ? (stringAt(part, 'text') ?? '') : '';
}

const FEEDBACK =
  /^(?:Error: )?The user rejected permission to use this specific tool call with the following feedback: /;

/** Tools of OpenCode itself, whose errors never begin with text from outside; a tool of an MCP server could copy the sentence. */
const OWN_TOOLS: ReadonlySet<string> = new Set(
  'bash edit multiedit write patch apply_patch read glob grep list webfetch task todowrite todoread skill'.split(' '),
);

/** What a person wrote: the text of a prompt, or, among the calls of an answer, the feedback with which they were rejected. */
export function typedWords(role: Role, parts: Json | undefined): string | undefined {
  const records = isList(parts) ? parts.filter(isRecord) : [];
  return typedText(role === 'user' ? records.filter(isPersons).map(textOf) : records.map(feedbackOf));
}

function feedbackOf(part: JsonRecord): string {
  const { state } = part;
  if (part['type'] !== 'tool' || !isRecord(state) || state['status'] !== 'error') return '';
  if (!OWN_TOOLS.has(stringAt(part, 'tool') ?? '')) return '';
  const error = stringAt(state, 'error') ?? '';
  return FEEDBACK.test(error) ? error.replace(FEEDBACK, '') : '';
}

/** The part with which a person or the program asks for a compaction. */
export function findCompaction(parts: Json | undefined): JsonRecord | null {
  if (!isList(parts)) return null;
  return parts.filter(isRecord).find((part) => part['type'] === 'compaction') ?? null;
}
