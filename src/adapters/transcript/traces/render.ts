import type { SummaryInput } from '../../../ports/codec.ts';
import { isList, isRecord, type JsonRecord, recordsAt, stringAt, valueAt } from '../json.ts';
import {
  descend,
  OTLP_LOGS,
  OTLP_SPANS,
  readSpans,
  SUMMARY_NAME,
  TIME_KEYS,
  type TraceKind,
  traceKindOf,
} from './spans.ts';

/** A record of the neighbors' tool with the summary as its output, in the trace and the session of the first that stays. */
export function renderSummary(input: SummaryInput): readonly string[] {
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
  const digits =
    typeof time === 'string'
      ? time
          .replaceAll(/[-:.Z]/g, '')
          .padEnd(21, '0')
          .slice(0, 21)
      : '';
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
