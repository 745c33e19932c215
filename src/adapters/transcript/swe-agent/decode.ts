import { isClipArchiveText } from '../../../core/split.ts';
import type { Json } from '../../../ports/codec.ts';
import { isList, isRecord, type JsonRecord, stringAt } from '../json.ts';
import { contentText } from '../message-parts.ts';

/**
 * What an element is. step: of the list `trajectory`. aside: a demonstration. task: said before the first answer.
 * turn: an answer, or what the environment said to it. other: as its role says.
 */
export type Reading =
  | { readonly kind: 'step' | 'aside' | 'task' | 'other' }
  | { readonly kind: 'turn'; readonly turn: number; readonly isResult: boolean };

type ElementReader = {
  /** First pass: elements in the order of the file. */
  readonly note: (value: Json, line: number) => void;
  readonly of: (line: number) => Reading;
};

export function createElementReader(): ElementReader {
  const readings = new Map<number, Reading>();
  let turn = 0;
  const read = (value: Json): Reading => {
    if (!isRecord(value)) return { kind: 'other' };
    if (isStep(value)) return { kind: 'step' };
    if (value['is_demo'] === true) return { kind: 'aside' };
    const role = isResponse(value) ? 'assistant' : (value['role'] ?? value['type']);
    if (role === undefined || role === 'system' || isClipArchiveText(stringAt(value, 'content') ?? ''))
      return { kind: 'other' };
    if (role === 'assistant') turn += 1;
    else if (turn === 0) return { kind: 'task' };
    return { kind: 'turn', turn, isResult: role !== 'assistant' };
  };
  return {
    note: (value, line) => readings.set(line, read(value)),
    of: (line) => readings.get(line) ?? { kind: 'other' },
  };
}

/** A step has no role, but what was done. */
export function isStep(value: JsonRecord): boolean {
  return !('role' in value) && ('action' in value || 'observation' in value);
}

/** mini-swe-agent stores answers of the Responses API as they are. */
function isResponse(value: JsonRecord): boolean {
  return value['object'] === 'response' && isList(value['output']);
}

/**
 * An element as a chat message. The task counts as an instruction. What the environment says has the role user where
 * the model calls no tools, and is still the result of an action.
 */
export function toChat(value: Json, reading: Reading): Json {
  if (!isRecord(value)) return value;
  if (reading.kind === 'task') return { ...value, role: 'system' };
  if (reading.kind !== 'turn') return value;
  if (isResponse(value)) return fromResponse(value);
  if (!reading.isResult) return value;
  const ids = value['tool_call_ids'];
  const callId = (isList(ids) ? ids[0] : undefined) ?? value['tool_call_id'] ?? value['call_id'];
  const content = value['content'] ?? value['output'] ?? '';
  return { ...value, role: 'tool', content, ...(callId !== undefined && { tool_call_id: callId }) };
}

/** The texts and calls of a response; reasoning is left out. */
function fromResponse({ output }: JsonRecord): Json {
  const items = (isList(output) ? output : []).filter(isRecord);
  const texts = items.flatMap(({ type, content }) => (type === 'message' ? [contentText(content)] : []));
  const calls = items.filter((item) => stringAt(item, 'type')?.endsWith('_call') === true);
  return {
    role: 'assistant',
    content: texts.join('\n'),
    tool_calls: calls.map(({ call_id: id = '', name = '', arguments: args = '' }) => ({ id, name, arguments: args })),
  };
}
