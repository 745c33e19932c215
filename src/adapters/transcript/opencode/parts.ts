import type { MessagePart } from '../../../core/message.ts';
import type { Json } from '../../../ports/codec.ts';
import { isList, isRecord, stringAt } from '../json.ts';
import type { JsonRecord } from '../json.ts';
import { argumentText } from '../listed/said.ts';
import { readPartText } from '../part-text.ts';

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
    parts.some((part) => {
      if (!isRecord(part) || part['synthetic'] === true || part['ignored'] === true) return false;
      return part['type'] === 'file' || (part['type'] === 'text' && (stringAt(part, 'text') ?? '').trim() !== '');
    })
  );
}

/** The part with which a person or the program asks for a compaction. */
export function findCompaction(parts: Json | undefined): JsonRecord | null {
  if (!isList(parts)) return null;
  return parts.filter(isRecord).find((part) => part['type'] === 'compaction') ?? null;
}
