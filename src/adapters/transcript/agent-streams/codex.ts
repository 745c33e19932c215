import type { MessagePart } from '../../../core/message.ts';
import { isClipArchiveText } from '../../../core/split.ts';
import type { Decoded } from '../../../core/transcript.ts';
import type { Codec, RecordProblem } from '../../../ports/codec.ts';
import { FORMATS } from '../formats.ts';
import { isRecord, type JsonRecord, listAt, stringAt, valueAt } from '../json.ts';
import { argumentText, contentText, readPartText } from '../message-parts.ts';
import { callPart, decodeSummary, resultPart, say } from '../said.ts';
import { createStreamSession, detectStream, type RecordPlace, type StreamReader } from './session.ts';

/** What `codex exec --json` prints: events of a thread, one a line. */
export const codexExec: Codec = {
  format: FORMATS.codexExec,
  detect: (sample) => detectStream(sample, { isOwn, isUsual, what: 'events of codex exec --json' }),
  open: () => createStreamSession(createReader()),
};

const ITEM_EVENT = /^item\.(?:started|updated|completed)$/;

function isOwn(record: JsonRecord): boolean {
  const type = stringAt(record, 'type') ?? '';
  if (type === 'thread.started') return stringAt(record, 'thread_id') !== undefined;
  return ITEM_EVENT.test(type) && isRecord(record['item']) && stringAt(record['item'], 'type') !== undefined;
}

function isUsual(record: JsonRecord): boolean {
  const type = stringAt(record, 'type') ?? '';
  return type.startsWith('turn.') || (type === 'error' && stringAt(record, 'message') !== undefined);
}

/** Items that are no work with a beginning and an end, but something said. */
const SAID = new Set(['agent_message', 'reasoning', 'error', 'todo_list']);

function createReader(): StreamReader {
  const callLines = new Map<string, number>();
  const open = new Map<string, string>(); // by item id: the key of the call that has not ended
  return {
    conversationOf: (record) => (record['type'] === 'thread.started' ? stringAt(record, 'thread_id') : undefined),
    namesOnlyStarts: true,
    isStart: ({ type }) => type === 'thread.started',
    // Ids of items begin again in every run, so the line of the beginning makes the key.
    keyOf: (record, line) => {
      if (record['type'] === 'thread.started') open.clear();
      const { item } = record;
      if (!isRecord(item) || SAID.has(stringAt(item, 'type') ?? '')) return undefined;
      const id = stringAt(item, 'id') ?? '';
      const known = open.get(id);
      if (record['type'] === 'item.completed') {
        open.delete(id);
        return known;
      }
      if (record['type'] !== 'item.started') return known;
      const key = `${id}@${line}`;
      open.set(id, key);
      callLines.set(key, line);
      return key;
    },
    read: (record, place) => read(record, place, callLines),
    anchorOf: (key) => callLines.get(key),
    // No event holds what a user says. Scripts take the last agent_message for the answer, so it must not be one.
    renderSummary: ({ text, uuid }) => ({
      type: 'item.completed',
      item: { id: `${SUMMARY_ID}${uuid('summary')}`, type: 'reasoning', text },
    }),
  };
}

const SUMMARY_ID = 'context_summary_';

function read(record: JsonRecord, place: RecordPlace, callLines: ReadonlyMap<string, number>): Decoded | RecordProblem {
  const type = stringAt(record, 'type') ?? '';
  if (type === 'thread.started') return { kind: 'meta', latestKey: 'thread' };
  if (type === 'turn.completed' || type === 'turn.failed') return { kind: 'meta', latestKey: 'turn' };
  if (type === 'error') return readError(record, place.line);
  if (!ITEM_EVENT.test(type)) return { kind: 'meta' };
  const { item } = record;
  if (!isRecord(item)) return { problem: `an ${type} event without an item` };
  switch (item['type']) {
    case 'error':
      return readError(item, place.line);
    case 'reasoning':
      return readReasoning(item, place.line);
    case 'agent_message':
      return say({ line: place.line, role: 'assistant', parts: [{ kind: 'text', text: readPartText(item['text']) }] });
    case 'todo_list':
      return sayAlone(callPart(`line:${place.line}`, 'todo_list', planOf(item)), place.line);
    default:
      return readWork(item, place, { isDone: type === 'item.completed', callLines });
  }
}

/** Reasoning is no part of a conversation; our summary has this type too. */
function readReasoning(item: JsonRecord, line: number): Decoded {
  const text = stringAt(item, 'text') ?? '';
  const id = stringAt(item, 'id') ?? '';
  const isSummary = id.startsWith(SUMMARY_ID) && isClipArchiveText(text);
  return isSummary ? decodeSummary(text, { id, line }) : { kind: 'meta' };
}

/** No record answers this call, or makes the call that this answers. */
function sayAlone(part: MessagePart, line: number): Decoded {
  const role = part.kind === 'result' ? 'tool' : 'assistant';
  return say({ line, role, parts: [part] }, { calls: undefined, results: undefined });
}

function readError(record: JsonRecord, line: number): Decoded {
  return sayAlone(resultPart(`line:${line}`, readPartText(record['message']), true), line);
}

function planOf(item: JsonRecord): string {
  const todos = listAt(item, 'items').map((todo) => {
    const content = stringAt(todo, 'text');
    const status = valueAt(todo, 'completed') === true ? 'completed' : 'pending';
    return content === undefined ? todo : { content, status };
  });
  return JSON.stringify({ todos });
}

/** A command, a tool call or the like. If its beginning is not in the log, its end is the call and the result. */
function readWork(
  item: JsonRecord,
  { line, key }: RecordPlace,
  { isDone, callLines }: { readonly isDone: boolean; readonly callLines: ReadonlyMap<string, number> },
): Decoded {
  if (!isDone && callLines.get(key ?? '') !== line) return { kind: 'meta' }; // an update
  const id = key ?? `line:${line}`;
  const calls = isDone && key !== undefined ? [] : callsOf(item, id);
  const parts = [...calls, ...(isDone ? [resultOf(item, id, calls.length > 0)] : [])];
  const pairs = { calls: calls.length > 0 ? [id] : undefined, results: isDone ? [id] : undefined };
  return say({ line, role: isDone ? 'tool' : 'assistant', parts }, pairs);
}

function callsOf(item: JsonRecord, id: string): readonly MessagePart[] {
  const type = stringAt(item, 'type') ?? '';
  const changes = type === 'file_change' ? listAt(item, 'changes') : [];
  if (changes.length > 0)
    return changes.map((change, at) => callPart(at === 0 ? id : `${id}/${at}`, type, argumentText(change)));
  if (type === 'command_execution') return [callPart(id, type, argumentText({ command: item['command'] ?? '' }))];
  if (type !== 'mcp_tool_call') return [callPart(id, type, argumentText(withoutState(item)))];
  const tool = ['server', 'tool'].flatMap((key) => stringAt(item, key) ?? []).join('.');
  return [callPart(id, tool, argumentText(item['arguments']))];
}

const STATE_KEYS = new Set(['id', 'type', 'status', 'result', 'error']);

function withoutState(item: JsonRecord): JsonRecord {
  return Object.fromEntries(Object.entries(item).filter(([key]) => !STATE_KEYS.has(key)));
}

const WORK = new Set(['command_execution', 'mcp_tool_call', 'file_change']);

function resultOf(item: JsonRecord, callId: string, isAlone: boolean): MessagePart {
  const { aggregated_output: output, exit_code: code, result, error, status } = item;
  const exit = typeof code === 'number' && code !== 0 ? `exit code ${code}` : '';
  // Other items, such as searches, know all that they are about only at their end.
  const rest = isAlone || WORK.has(stringAt(item, 'type') ?? '') ? '' : argumentText(withoutState(item));
  const content = valueAt(result, 'content') ?? result;
  const texts = [rest, readPartText(output), exit, contentText(content), readPartText(valueAt(error, 'message'))];
  const text = texts.filter((one) => one.trim() !== '').join('\n');
  const isError = exit !== '' || isRecord(error) || status === 'failed' || status === 'declined';
  return { kind: 'result', callId, text: text === '' && isError ? argumentText(status) : text, isError };
}
