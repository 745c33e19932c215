import type { ToolCall } from '../../../core/message.ts';
import type { Json } from '../../../ports/codec.ts';
import { idAt, isList, isRecord, type JsonRecord, stringAt } from '../json.ts';

/** A call of a record. `arguments` is JSON text; '' where there are none. */
export type ReadCall = {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
  /** In the shape in which the record has it. */
  readonly call: ToolCall;
};

/** A call without an id is known by where it stands. */
export type CallPlace = { readonly line: number; readonly position: number };

/** The records of a `tool_calls` field: a list, one alone, or either as JSON text; null where it is neither. */
export function listCalls(value: Json | undefined): readonly JsonRecord[] | null {
  if (value === undefined || value === null || value === '') return [];
  if (typeof value === 'string') {
    const parsed = parseText(value);
    return parsed === undefined || typeof parsed === 'string' ? null : listCalls(parsed);
  }
  if (isList(value)) return value.filter(isRecord);
  return isRecord(value) ? [value] : null;
}

/**
 * A call in any of the shapes that stand in chat lines: OpenAI's function or custom call, Anthropic's tool_use, or a plain
 * `{id, name, arguments}`.
 * @throws RangeError where its arguments are nested too deeply to be written as JSON.
 */
export function readCall(record: JsonRecord, place: CallPlace): ReadCall {
  const id = idAt(record, 'id') ?? idAt(record, 'call_id') ?? `call:${place.line}:${place.position}`;
  if (isBlockCall(record)) {
    const name = stringAt(record, 'name') ?? '';
    const input = record['input'] ?? {};
    return { id, name, arguments: textOf(input), call: { type: 'tool_use', id, name, input } };
  }
  const inner = [record['function'], record['custom']].find(isRecord) ?? record;
  const name = stringAt(inner, 'name') ?? '';
  const args = textOf(inner['arguments'] ?? inner['input'] ?? inner['args']);
  return { id, name, arguments: args, call: { id, type: 'function', function: { name, arguments: args } } };
}

function isBlockCall(record: JsonRecord): boolean {
  return (stringAt(record, 'type') ?? '').endsWith('tool_use');
}

function textOf(value: Json | undefined): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function parseText(text: string): Json | undefined {
  try {
    const value: Json = JSON.parse(text);
    return value;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
