import type { ConversationMessage, MessagePart, Role } from '../../../core/message.ts';
import { isClipArchiveText } from '../../../core/split.ts';
import type { Decoded, Entry } from '../../../core/transcript.ts';
import type { Codec, CodecSession, ContextView, Detection, Json, SummaryInput } from '../../../ports/codec.ts';
import { FORMATS } from '../formats.ts';
import { readAlone } from '../chat-lines/decode.ts';
import { toChatMessage } from '../chat-lines/dialects.ts';
import { createListRecords, printedRecords } from '../json-list/records.ts';
import { isList, isRecord, type JsonRecord, known, parseText, recordsAt, stringAt, valueAt } from '../json.ts';
import { withTyped } from '../message-parts.ts';
import { followParents } from '../parents.ts';
import { createSession, notOurs, readWholeContext } from '../session.ts';
import {
  descend,
  OTLP_LOGS,
  OTLP_SPANS,
  readSpans,
  type Span,
  SUMMARY_NAME,
  TIME_KEYS,
  type TraceKind,
  traceKindOf,
} from './spans.ts';

/** Records of tracing tools, one a line: OpenTelemetry's, Langfuse's, LangSmith's. */
export const traceLines: Codec = {
  format: FORMATS.traceLines,
  records: printedRecords,
  detect: detectIn,
  open: createTraceSession,
};

/** The same records in a list of a JSON document. */
export const traceDocument: Codec = {
  format: FORMATS.traceDocument,
  records: createListRecords({ unit: 'file', kind: 'list', keys: ['observations', 'runs'], orItself: true }),
  detect: ([beginning = null]) => {
    const list = isRecord(beginning) ? (beginning['observations'] ?? beginning['runs']) : beginning;
    return isList(list) ? detectIn(list) : notOurs('it has no list of observations or runs');
  },
  open: createTraceSession,
};

function detectIn(sample: readonly Json[]): Detection {
  const own = sample.filter((value) => isRecord(value) && traceKindOf(value) !== null).length;
  if (own === 0) return notOurs('no record is a span, an observation or a run');
  return { confidence: own >= sample.length / 2 ? 1 : 0.5, reason: `${own} spans, observations or runs` };
}

/**
 * A record with a call of a model is a message: the end of its history, from the last answer on, and its own answer.
 * Later calls repeat the rest. Other records are carried along.
 */
function createTraceSession(): CodecSession {
  /** What is known of records after the first pass. `isFirst`: nothing of its conversation precedes it, so its whole history is read. */
  const notes: { readonly isFirst: boolean; readonly ids: readonly string[]; readonly at: number | null }[] = [];
  const begun = new Set<string>();
  return createSession({
    what: 'a record that is',
    read: (record, { line, isFirstPass }) => {
      const spans = readSpans(record);
      const note = notes[line];
      if (!isFirstPass) {
        // A line of an earlier file may be asked for, under the number that it had there.
        const isSame = note?.ids[0] === spans[0]?.id;
        return readRecord(spans, { line, isFirst: isSame && note?.isFirst === true });
      }
      const conversation = conversationOf(spans);
      const isFirst = !begun.has(conversation);
      const decoded = readRecord(spans, { line, isFirst });
      if (decoded.kind !== 'meta') begun.add(conversation);
      notes[line] = { isFirst, ids: spans.flatMap(({ id }) => id ?? []), at: spans[0]?.at?.getTime() ?? null };
      return decoded;
    },
    readContext: (entries) => ({
      ...readWholeContext(entries),
      anchorOf: findAnchors(entries, (line) => notes[line]?.ids ?? []),
    }),
    legalCuts: (entries) => {
      const spoken = entries.filter(({ kind }) => kind === 'message');
      const times = spoken.flatMap(({ line }) => notes[line]?.at ?? []);
      const back = times.filter((time, at) => time < (times[at - 1] ?? time)).length;
      // Some tools export the newest record first. What stays would then be the oldest.
      const isReversed = back > 0 && back * 2 >= times.length;
      return () => (isReversed ? 'the newest record stands first; sort the records by time' : null);
    },
    renderSummary,
  });
}

function conversationOf(spans: readonly Span[]): string {
  return (spans.find(({ isModelCall }) => isModelCall) ?? spans[0])?.conversation ?? '';
}

function readRecord(
  spans: readonly Span[],
  { line, isFirst }: { readonly line: number; readonly isFirst: boolean },
): Decoded {
  const [first] = spans;
  if (first === undefined) return { kind: 'meta' };
  const conversation = conversationOf(spans);
  const { id, parentId } = first;
  const facts = known({ conversation, recordId: id, parentId });
  const summary = spans.find((span) => span.summary !== undefined)?.summary;
  const base = { id: id ?? `line:${line}`, conversation_id: conversation, created_at: first.at };
  if (summary !== undefined && isClipArchiveText(summary))
    return { ...facts, kind: 'summary', message: { ...base, role: 'system', content: summary } };
  const calls = spans.filter(({ isModelCall }) => isModelCall);
  const fresh = calls.flatMap((span, at) => readMessages(span, isFirst && at === 0));
  if (fresh.length === 0) return { ...facts, kind: 'meta' };
  const typed = fresh.flatMap((one) => one.typed ?? []).join('\n');
  const message: ConversationMessage = {
    ...base,
    role: typed === '' ? 'assistant' : 'user',
    content: fresh.map(({ text }) => text).join('\n'),
    parts: fresh.flatMap(({ parts }) => parts),
  };
  return { ...facts, kind: 'message', ...(typed !== '' && { isPrompt: true }), message: withTyped(message, typed) };
}

/** A message in the history or the answer of a span. */
type SpanMessage = {
  readonly role: Role;
  readonly text: string;
  readonly typed: string | undefined;
  readonly parts: readonly MessagePart[];
};

/**
 * What is new in a span: the messages after the last answer in its history, and what was answered. If `isWhole`, its
 * whole history. No instructions.
 * @throws RangeError if something is nested too deeply to be written as JSON.
 */
function readMessages({ input, output }: Span, isWhole: boolean): readonly SpanMessage[] {
  const history = findMessages(input, 'user').flatMap(toSpanMessage);
  const answer = findMessages(output, 'assistant').flatMap(toSpanMessage);
  const isSaid = ({ role }: SpanMessage): boolean => role !== 'system';
  const all = [...history, ...answer].filter(isSaid);
  if (isWhole) return all;
  const lastAnswer = history.findLastIndex(({ role }) => role === 'assistant');
  const fresh = [...history.slice(lastAnswer + 1), ...answer].filter(isSaid);
  // A call without an answer says the last message, so that a record is a message wherever it stands.
  return fresh.length > 0 ? fresh : all.slice(-1);
}

/** The keys under which instrumentation keeps messages, the surest first. */
const KEYS = ['messages', 'choices', 'generations', 'message', 'input', 'output', 'completion', 'content', 'text'];

/** The messages in a value of any shape; what is no message becomes the text of one. */
function findMessages(value: Json | undefined, role: string): readonly Json[] {
  if (value === undefined || value === null) return [];
  if (typeof value === 'string') {
    const parsed = /^\s*[{[]/.test(value) ? parseText(value) : undefined;
    return parsed === undefined ? [{ role, content: value }] : findMessages(parsed, role);
  }
  if (isList(value)) return value.flatMap((item) => findMessages(item, role));
  if (!isRecord(value)) return [{ role, content: JSON.stringify(value) }];
  const message = toChatMessage(value);
  if (isRecord(message) && typeof message['role'] === 'string') return [message];
  const key = KEYS.find((one) => (value[one] ?? null) !== null);
  if (key === undefined) return Object.keys(value).length === 0 ? [] : [{ role, content: JSON.stringify(value) }];
  return key === 'content' ? [{ ...value, role }] : findMessages(value[key], role);
}

function toSpanMessage(value: Json): readonly SpanMessage[] {
  if (!isRecord(value)) return [];
  const read = readAlone(value, 0);
  if (!('said' in read)) {
    // A message in a shape that we do not know.
    const json = JSON.stringify(value);
    const author = stringAt(value, 'role') === 'assistant' ? 'assistant' : 'tool';
    return [{ role: author, text: json, typed: undefined, parts: [{ kind: 'text', text: json }] }];
  }
  const { said, content } = read;
  const { text, parts } = content;
  const role = said.role === 'user' && content.hasResultBlock ? 'tool' : said.role;
  return text === '' ? [] : [{ role, text, parts, typed: role === 'user' ? content.typed : undefined }];
}

/**
 * A span around model calls (an agent, a chain) goes or stays with the last of them, so that no span that stays loses
 * its parents; any other span with the next model call.
 */
function findAnchors(
  entries: readonly Entry[],
  idsOf: (line: number) => readonly string[],
): NonNullable<ContextView['anchorOf']> {
  const byId = new Map(entries.flatMap((entry) => idsOf(entry.line).map((id) => [id, entry] as const)));
  const lastInside = new Map<number, number>();
  const spoken = entries.filter(({ kind }) => kind === 'message');
  const parentOf = ({ parentId }: Entry): Entry | undefined =>
    typeof parentId === 'string' ? byId.get(parentId) : undefined;
  for (const entry of spoken)
    for (const around of followParents(parentOf(entry), parentOf).found) lastInside.set(around.line, entry.line);
  const next = new Map<number, number>();
  let following = spoken.at(-1)?.line;
  for (const { line, kind } of entries.toReversed()) {
    if (kind === 'message') following = line;
    else if (following !== undefined) next.set(line, following);
  }
  return ({ kind, line }) => (kind === 'meta' ? (lastInside.get(line) ?? next.get(line) ?? null) : null);
}

/** A record of the neighbors' tool with the summary as its output, in the trace and the session of the first that stays. */
function renderSummary(input: SummaryInput): readonly string[] {
  const neighbor = [input.firstKept, input.lastDropped].find(isRecord) ?? {};
  const dropped = isRecord(input.lastDropped) ? input.lastDropped : neighbor;
  const render = RENDERERS[traceKindOf(neighbor) ?? 'langfuse'];
  return [JSON.stringify(render(input, neighbor, dropped))];
}

type Render = (input: SummaryInput, neighbor: JsonRecord, dropped: JsonRecord) => object;

/** An event of Langfuse, with keys as the neighbor spells them. */
const toObservation: Render = ({ text, uuid }, neighbor, dropped) => {
  const isSnake = 'trace_id' in neighbor;
  const time = dropped['startTime'] ?? dropped['start_time'] ?? dropped['timestamp'] ?? null;
  const { sessionId, session_id } = neighbor;
  return {
    id: uuid('summary'),
    [isSnake ? 'trace_id' : 'traceId']: neighbor['traceId'] ?? neighbor['trace_id'] ?? neighbor['id'] ?? null,
    type: 'EVENT',
    name: SUMMARY_NAME,
    [isSnake ? 'start_time' : 'startTime']: time,
    [isSnake ? 'end_time' : 'endTime']: time,
    [isSnake ? 'parent_observation_id' : 'parentObservationId']: null,
    sessionId,
    session_id,
    level: 'DEFAULT',
    input: null,
    output: text,
    metadata: {},
  };
};

/** A run of LangSmith below the root of its trace. Its dotted order is the root's, and then its own time and id. */
const toRun: Render = ({ text, uuid }, neighbor, dropped) => {
  const id = uuid('summary');
  const time = dropped['start_time'] ?? null;
  const [root = ''] = (stringAt(neighbor, 'dotted_order') ?? '').split('.');
  const digits = typeof time === 'string' ? `${time.replaceAll(/[-:.Z]/g, '')}${'0'.repeat(21)}`.slice(0, 21) : '';
  const { session_id, trace_id: trace = null } = neighbor;
  const metadata = valueAt(neighbor, 'extra', 'metadata');
  return {
    id,
    name: SUMMARY_NAME,
    run_type: 'chain',
    start_time: time,
    end_time: time,
    inputs: {},
    outputs: { output: text },
    error: null,
    status: 'success',
    extra: isRecord(metadata) ? { metadata } : undefined,
    session_id,
    parent_run_id: trace,
    trace_id: trace,
    ...('dotted_order' in neighbor && { dotted_order: `${root}.${digits}Z${id}` }),
  };
};

/** A span, or an event in files of logs, with the summary as an attribute. */
const toOtlp: Render = ({ text, uuid, conversationId }, neighbor, dropped) => {
  const isLog = isList(neighbor['resourceLogs']);
  const path = isLog ? OTLP_LOGS : OTLP_SPANS;
  const [resources, scopes, records] = path;
  const [[near = {}], [last = {}]] = [descend(neighbor, path), descend(dropped, path)];
  const timeKey = isLog ? 'timeUnixNano' : 'startTimeUnixNano';
  const time = last[timeKey] ?? near[timeKey] ?? '0';
  const session = readSpans(neighbor)[0]?.conversation ?? conversationId;
  const attributes = [
    { key: 'gen_ai.conversation.id', value: { stringValue: session } },
    { key: SUMMARY_NAME, value: { stringValue: text } },
  ];
  const ids = {
    traceId: stringAt(near, 'traceId') ?? '',
    spanId: uuid('summary').replaceAll('-', '').slice(0, 16),
  };
  const record = isLog
    ? { timeUnixNano: time, ...ids, eventName: SUMMARY_NAME, attributes }
    : { ...ids, name: SUMMARY_NAME, kind: 1, startTimeUnixNano: time, endTimeUnixNano: time, attributes };
  const { resource = {} } = recordsAt(neighbor, resources)[0] ?? {};
  return { [resources]: [{ resource, [scopes]: [{ scope: { name: 'compact' }, [records]: [record] }] }] };
};

/** A span with a plain object of attributes. Its ids and its time have the neighbor's keys. */
const toPlainSpan: Render = ({ text, uuid, conversationId }, neighbor, dropped) => {
  const id = uuid('summary').replaceAll('-', '').slice(0, 16);
  const { context } = neighbor;
  const idKey = ['spanId', 'span_id', 'id'].find((key) => key in neighbor);
  const pick = (keys: readonly string[], record: JsonRecord): object =>
    Object.fromEntries(keys.flatMap((key) => (key in record ? [[key, record[key]]] : [])));
  const session = readSpans(neighbor)[0]?.conversation ?? conversationId;
  return {
    ...pick(['resource', 'traceId', 'trace_id'], neighbor),
    ...(isRecord(context) && { context: { ...context, span_id: id } }),
    ...(idKey !== undefined && { [idKey]: id }),
    name: SUMMARY_NAME,
    ...pick(TIME_KEYS, dropped),
    attributes: { ...(session !== '' && { 'gen_ai.conversation.id': session }), [SUMMARY_NAME]: text },
  };
};

const RENDERERS: { readonly [kind in TraceKind]: Render } = {
  otlp: toOtlp,
  span: toPlainSpan,
  langsmith: toRun,
  langfuse: toObservation,
};
