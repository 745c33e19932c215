import type { Json } from '../../../ports/codec.ts';
import {
  idAt,
  isList,
  isRecord,
  type JsonRecord,
  listAt,
  readIsoTime,
  recordAt,
  recordsAt,
  stringAt,
  validDate,
  valueAt,
} from '../json.ts';

/** One step of a trace: a call of a model, or anything else that was recorded. */
export type Span = {
  readonly id: string | undefined;
  readonly parentId: string | undefined;
  /** The session or thread if it has one, else the trace. */
  readonly conversation: string;
  readonly at: Date | null;
  /** It called a model, so its input has the history up to this call. */
  readonly isModelCall: boolean;
  readonly input: Json;
  readonly output: Json;
  /** The text of a summary that we wrote. */
  readonly summary?: string;
};

/** otlp: any number of spans. span: one span or log record with a plain object of attributes, as exporters to a file or console write it. */
export type TraceKind = 'langfuse' | 'langsmith' | 'otlp' | 'span';

/** The attribute, or the name of the record, by which our summaries are recognized. */
export const SUMMARY_NAME = 'compact.summary';

const OBSERVATIONS: ReadonlySet<string> = new Set(
  'GENERATION SPAN EVENT AGENT TOOL CHAIN RETRIEVER EVALUATOR EMBEDDING GUARDRAIL'.split(' '),
);

const MODEL_KEY = /^(?:gen_ai|llm|compact)\./;

/** Which tool wrote a record; null: none of them. */
export function traceKindOf(record: JsonRecord): TraceKind | null {
  if (isList(record['resourceSpans']) || isList(record['resourceLogs'])) return 'otlp';
  if (Object.keys(recordAt(record, 'attributes')).some((key) => MODEL_KEY.test(key))) return 'span';
  const isRun = typeof record['run_type'] === 'string' && 'inputs' in record;
  if (isRun && ('trace_id' in record || 'dotted_order' in record)) return 'langsmith';
  const hasTrace = typeof (record['traceId'] ?? record['trace_id']) === 'string';
  const hasStart = typeof (record['startTime'] ?? record['start_time']) === 'string';
  const isObservation = OBSERVATIONS.has(stringAt(record, 'type') ?? '') && hasTrace && hasStart;
  return isObservation || isLangfuseTrace(record) ? 'langfuse' : null;
}

/** A trace as a whole, with or without its observations. */
function isLangfuseTrace(record: JsonRecord): boolean {
  return (
    typeof record['htmlPath'] === 'string' || ('input' in record && 'output' in record && 'observations' in record)
  );
}

/** The spans of a record, in order. An OTLP record may hold any number. */
export function readSpans(record: JsonRecord): readonly Span[] {
  switch (traceKindOf(record)) {
    case 'otlp':
      return [
        ...descend(record, OTLP_SPANS).map((span) => readOtlpSpan(span)),
        ...descend(record, OTLP_LOGS).map(readOtlpLog),
      ];
    case 'span':
      return [readOtlpSpan(record)];
    case 'langsmith':
      return [readRun(record)];
    case 'langfuse': {
      const nested = isLangfuseTrace(record) ? recordsAt(record, 'observations') : [];
      return (nested.length > 0 ? nested : [record]).map((observation) => readObservation(observation, record));
    }
    default:
      // Beside spans of model calls there are others, without such attributes.
      return isRecord(record['attributes']) ? [readOtlpSpan(record)] : [];
  }
}

function readObservation(record: JsonRecord, trace: JsonRecord): Span {
  const { input = null, output = null } = record;
  const session = [trace, record].flatMap((one) => idAt(one, 'sessionId') ?? idAt(one, 'session_id') ?? []);
  const traceId = idAt(record, 'traceId') ?? idAt(record, 'trace_id') ?? idAt(trace, 'id') ?? '';
  const type = stringAt(record, 'type');
  const isSummary = stringAt(record, 'name') === SUMMARY_NAME && typeof output === 'string';
  return {
    id: idAt(record, 'id'),
    parentId: idAt(record, 'parentObservationId') ?? idAt(record, 'parent_observation_id'),
    conversation: session.find((id) => id !== '') ?? traceId,
    at: readIsoTime(record['startTime'] ?? record['start_time'] ?? record['timestamp']),
    isModelCall: type === 'GENERATION' || type === undefined,
    input,
    output,
    ...(isSummary && { summary: output }),
  };
}

/** The keys under which LangSmith looks for the thread of a run. */
const THREAD_KEYS = ['session_id', 'thread_id', 'conversation_id'];

function readRun(record: JsonRecord): Span {
  const { inputs = null, outputs = null } = record;
  const metadata = recordAt(record, 'extra', 'metadata');
  const thread = THREAD_KEYS.map((key) => idAt(metadata, key)).find((id) => id !== undefined && id !== '');
  const text = stringAt(outputs, 'output');
  const isSummary = stringAt(record, 'name') === SUMMARY_NAME && text !== undefined;
  return {
    id: idAt(record, 'id'),
    parentId: idAt(record, 'parent_run_id'),
    conversation: thread ?? idAt(record, 'trace_id') ?? '',
    at: readIsoTime(record['start_time']) ?? readIsoTime(`${stringAt(record, 'start_time')}Z`), // in UTC, without an offset
    isModelCall: record['run_type'] === 'llm',
    input: inputs,
    output: outputs,
    ...(isSummary && { summary: text }),
  };
}

/** Where OTLP has its spans and its log records, level by level. */
export const OTLP_SPANS = ['resourceSpans', 'scopeSpans', 'spans'] as const;
export const OTLP_LOGS = ['resourceLogs', 'scopeLogs', 'logRecords'] as const;

/** The objects in the lists under these keys, level by level. */
export function descend(record: JsonRecord, [key, ...keys]: readonly string[]): readonly JsonRecord[] {
  return key === undefined ? [record] : recordsAt(record, key).flatMap((inner) => descend(inner, keys));
}

/** An event of its own, which names its span. */
function readOtlpLog(log: JsonRecord): Span {
  return { ...readOtlpSpan(log, new Map(), [log]), id: undefined, parentId: stringAt(log, 'spanId') };
}

function readOtlpSpan(
  span: JsonRecord,
  attributes = readAttributes(span['attributes']),
  events = recordsAt(span, 'events'),
): Span {
  const { input, output } = readOtelMessages(attributes, events);
  const all = new Map([...attributes, ...events.flatMap((event) => [...readAttributes(event['attributes'])])]);
  const session = all.get('gen_ai.conversation.id') ?? all.get('session.id');
  const summary = all.get(SUMMARY_NAME);
  const ids = { ...recordAt(span, 'context'), ...span };
  const find = (...keys: readonly string[]): string | undefined =>
    keys.map((key) => stringAt(ids, key)).find((id) => id !== undefined && id !== '');
  return {
    id: find('spanId', 'span_id', 'id'),
    parentId: find('parentSpanId', 'parent_span_id', 'parent_id', 'parentId'),
    conversation: typeof session === 'string' && session !== '' ? session : (find('traceId', 'trace_id') ?? ''),
    at: readSpanTime(span),
    isModelCall: input !== null || output !== null,
    input,
    output,
    ...(typeof summary === 'string' && { summary }),
  };
}

/** Nanoseconds, which OTLP writes as strings; `[seconds, nanoseconds]`; or an ISO time. */
function readSpanTime(span: JsonRecord): Date | null {
  const time = TIME_KEYS.map((key) => span[key]).find((value) => value !== undefined) ?? null;
  const [seconds, nanoseconds] = isList(time) ? time : [0, time];
  const date = new Date(Number(seconds) * 1000 + Number(nanoseconds ?? Number.NaN) / 1e6);
  return readIsoTime(time) ?? validDate(date);
}

/** The keys under which spans and log records have their time. */
export const TIME_KEYS = ['startTimeUnixNano', 'timeUnixNano', 'startTime', 'start_time', 'hrTime'];

type Attributes = ReadonlyMap<string, Json>;

/** The attributes of a span, an event or a log record: `[{key, value: {stringValue: …}}]`, or a plain object. */
function readAttributes(list: Json | undefined): Attributes {
  if (isRecord(list)) return new Map(Object.entries(list));
  if (!isList(list)) return new Map();
  return new Map(list.filter(isRecord).map((record) => [stringAt(record, 'key') ?? '', readValue(record['value'])]));
}

/** A value of OTLP in JSON: an object whose only key is its type. */
function readValue(value: Json | undefined): Json {
  if (!isRecord(value)) return value ?? null;
  const [[type, inner] = ['', null]] = Object.entries(value);
  if (type === 'kvlistValue') return Object.fromEntries(readAttributes(valueAt(inner, 'values')));
  return type === 'arrayValue' ? listAt(inner, 'values').map(readValue) : inner;
}

type Messages = { readonly input: Json; readonly output: Json };

/** Where the conventions keep a history and an answer as one value, the newest first. */
const INPUT_KEYS = ['gen_ai.input.messages', 'gen_ai.prompt'];
const OUTPUT_KEYS = ['gen_ai.output.messages', 'gen_ai.completion'];
/** Where they number the messages: `gen_ai.prompt.0.role`. */
const INPUT_LISTS = ['gen_ai.prompt', 'llm.input_messages'];
const OUTPUT_LISTS = ['gen_ai.completion', 'llm.output_messages'];

/** What a span says was asked and answered, in its attributes or in its events. null: it says nothing about it. */
function readOtelMessages(attributes: Attributes, events: readonly JsonRecord[]): Messages {
  const inEvents = events.map(readEvent);
  const all = [inAttributes(attributes), ...inEvents];
  const spoken = inEvents.flatMap(({ message }) => message ?? []);
  const input = all.map((one) => one.input).find((value) => value !== null) ?? null;
  const output = all.map((one) => one.output).find((value) => value !== null) ?? null;
  return { input: input ?? (spoken.length > 0 ? spoken : null), output };
}

function inAttributes(attributes: Attributes): Messages {
  const find = (keys: readonly string[], lists: readonly string[]): Json => {
    const value = keys.map((key) => attributes.get(key)).find((one) => one !== undefined && one !== null);
    return value ?? lists.map((key) => readNumbered(attributes, key)).find((list) => list !== null) ?? null;
  };
  return { input: find(INPUT_KEYS, INPUT_LISTS), output: find(OUTPUT_KEYS, OUTPUT_LISTS) };
}

/** `gen_ai.prompt.0.role`, `gen_ai.prompt.0.tool_calls.0.name`: a list whose paths are written as keys. */
function readNumbered(attributes: Attributes, prefix: string): Json {
  const root: { [key: string]: Json } = {};
  for (const [key, value] of attributes) {
    if (key.startsWith(`${prefix}.`)) set(root, key.slice(prefix.length + 1).split('.'), value);
  }
  const list = toList(root);
  return isList(list) ? list.map(unwrap) : null;
}

/** OpenInference has each message and each call under a key of its own. */
function unwrap(item: Json): Json {
  if (!isRecord(item)) return item;
  const message = isRecord(item['message']) ? item['message'] : item;
  const { tool_calls: calls } = message;
  return isList(calls) ? { ...message, tool_calls: calls.map((call) => valueAt(call, 'tool_call') ?? call) } : message;
}

function set(target: { [key: string]: Json }, [key = '', ...rest]: readonly string[], value: Json): void {
  if (rest.length === 0) {
    target[key] = value;
    return;
  }
  const known = target[key];
  const inner: { [key: string]: Json } = isRecord(known) ? { ...known } : {};
  set(inner, rest, value);
  target[key] = inner;
}

/** An object whose keys are numbers is a list. */
function toList(value: Json): Json {
  if (!isRecord(value)) return value;
  const entries = Object.entries(value).map(([key, inner]): [string, Json] => [key, toList(inner)]);
  if (entries.length === 0 || !entries.every(([key]) => /^\d+$/.test(key))) return Object.fromEntries(entries);
  return entries.toSorted(([a], [b]) => Number(a) - Number(b)).map(([, inner]) => inner);
}

const MESSAGE_EVENT = /^gen_ai\.(system|user|assistant|tool)\.message$|^gen_ai\.choice$/;

/** An event with the whole call (`gen_ai.client.inference.operation.details`), or with one message, as older versions wrote. */
function readEvent(event: JsonRecord): Messages & { readonly message: Json } {
  const attributes = readAttributes(event['attributes']);
  const messages = inAttributes(attributes);
  const name = stringAt(event, 'eventName') ?? stringAt(event, 'name') ?? attributes.get('event.name') ?? '';
  const match = typeof name === 'string' ? MESSAGE_EVENT.exec(name) : null;
  if (match === null) return { ...messages, message: null };
  const body = readValue(event['body']);
  const fields = isRecord(body) ? body : Object.fromEntries(attributes);
  const message = isRecord(fields['message']) ? fields['message'] : fields;
  const role = match[1] ?? 'assistant';
  const answered = role === 'tool' && { tool_call_id: message['id'] ?? null };
  return { ...messages, message: { role, ...message, ...answered } };
}
