import { isClipArchiveText } from '../../../core/split.ts';
import type { Entry } from '../../../core/transcript.ts';
import type { Codec, CodecSession, ContextView, Detection, Json, SummaryInput } from '../../../ports/codec.ts';
import { FORMATS } from '../formats.ts';
import { createElementReader } from '../conversations/codec.ts';
import { createListRecords } from '../json-list/records.ts';
import { isList, isRecord, type JsonRecord, recordsAt, stringAt } from '../json.ts';
import { contentText, summaryRole } from '../message-parts.ts';
import { createSession, notOurs, readWholeContext } from '../session.ts';

/** A trajectory of SWE-agent (`.traj`) or mini-swe-agent (`.traj.json`). */
export const sweAgent: Codec = {
  format: FORMATS.sweAgent,
  records: createListRecords({ unit: 'file', kind: 'list', keys: ['history', 'messages'], alongside: ['trajectory'] }),
  detect: ([beginning = null]) => detectTrajectory(beginning),
  open: createTrajectorySession,
};

function detectTrajectory(beginning: Json): Detection {
  if (!isRecord(beginning)) return notOurs('it is not an object');
  const { history, trajectory, info } = beginning;
  const isMini = isRecord(info) && 'mini_version' in info;
  if (isMini || stringAt(beginning, 'trajectory_format')?.startsWith('mini-swe-agent') === true)
    return { confidence: 1, reason: 'a trajectory of mini-swe-agent' };
  const isOwn = (one: JsonRecord): boolean => 'role' in one && ('agent' in one || 'message_type' in one);
  if (recordsAt(history).some(isOwn))
    return { confidence: 0.95, reason: 'a "history" of messages with the name of their agent' };
  const isFullStep = (step: JsonRecord): boolean =>
    isStep(step) && 'action' in step && 'observation' in step && 'response' in step;
  if (history === undefined && recordsAt(trajectory).some(isFullStep))
    return { confidence: 0.9, reason: 'a "trajectory" of steps with action, observation and response' };
  return notOurs('it has neither a "history" nor a "trajectory" of SWE-agent');
}

/** Messages are read as in chat lines, after their roles have been translated. */
function createTrajectorySession(): CodecSession {
  const reader = createElementReader();
  const readings = new Map<number, Reading>();
  const turns = { count: 0 };
  const readingOf = (line: number): Reading => readings.get(line) ?? { kind: 'other' };
  return createSession({
    what: 'a message that is',
    read: (record, place) => {
      if (place.isFirstPass) readings.set(place.line, readElement(record, turns));
      const reading = readingOf(place.line);
      if (reading.kind === 'aside' || reading.kind === 'step') return { kind: 'meta' };
      const decoded = reader.read(toChat(record, reading), place);
      if ('problem' in decoded || reading.kind !== 'turn') return decoded;
      return { ...decoded, groupKey: `turn:${reading.turn}` };
    },
    readContext: (entries) => ({ ...readWholeContext(entries), anchorOf: findAnchors(entries, readingOf) }),
    renderSummary,
  });
}

/** A step of the trajectory goes or stays with the answer that made it. Those left over, and the last one, stay. */
function findAnchors(
  entries: readonly Entry[],
  readingOf: (line: number) => Reading,
): NonNullable<ContextView['anchorOf']> {
  const steps = entries.filter(({ line }) => readingOf(line).kind === 'step');
  const answers = entries.filter(({ line }) => {
    const reading = readingOf(line);
    return reading.kind === 'turn' && !reading.isResult;
  });
  const last = entries.findLast(({ kind }) => kind === 'message')?.line ?? 0;
  const anchors = new Map(
    steps.map(({ line }, at) => [line, (at === steps.length - 1 ? undefined : answers[at]?.line) ?? last]),
  );
  return ({ line }) => anchors.get(line) ?? null;
}

/**
 * What an element is. step: of the list `trajectory`. aside: a demonstration. task: said before the first answer.
 * turn: an answer, or what the environment said to it. other: as its role says.
 */
type Reading =
  | { readonly kind: 'step' | 'aside' | 'task' | 'other' }
  | { readonly kind: 'turn'; readonly turn: number; readonly isResult: boolean };

/** `turns` counts the answers so far. */
function readElement(record: JsonRecord, turns: { count: number }): Reading {
  if (isStep(record)) return { kind: 'step' };
  if (record['is_demo'] === true) return { kind: 'aside' };
  const role = isResponse(record) ? 'assistant' : (record['role'] ?? record['type']);
  if (role === undefined || role === 'system' || isClipArchiveText(stringAt(record, 'content') ?? ''))
    return { kind: 'other' };
  if (role === 'assistant') turns.count += 1;
  else if (turns.count === 0) return { kind: 'task' };
  return { kind: 'turn', turn: turns.count, isResult: role !== 'assistant' };
}

/** A step has no role, but what was done. */
function isStep(value: JsonRecord): boolean {
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
function toChat(value: JsonRecord, reading: Reading): Json {
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
function fromResponse(response: JsonRecord): Json {
  const items = recordsAt(response, 'output');
  const texts = items.flatMap(({ type, content }) => (type === 'message' ? [contentText(content)] : []));
  const calls = items.filter((item) => stringAt(item, 'type')?.endsWith('_call') === true);
  return {
    role: 'assistant',
    content: texts.join('\n'),
    tool_calls: calls.map(({ call_id: id = '', name = '', arguments: args = '' }) => ({ id, name, arguments: args })),
  };
}

/** A message with the keys that its neighbors have. It is no answer, so a replay takes no actions from it. */
function renderSummary(input: SummaryInput): readonly string[] {
  const neighbors = [input.lastDropped, input.firstKept].filter(isRecord);
  const { agent, message_type: type } = neighbors.find((one) => 'role' in one) ?? {};
  const message_type = type === undefined ? undefined : 'observation';
  return [JSON.stringify({ role: summaryRole(input), content: input.text, agent, message_type })];
}
