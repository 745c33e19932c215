import type { Json, SummaryInput } from '../../../ports/codec.ts';
import { isList, isRecord, type JsonRecord, listAt, stringAt, valueAt } from '../json.ts';
import { summaryRole } from '../message-parts.ts';
import { listCalls } from './content.ts';

/** Messages that are not `{role, content}`, and what the same message is as one, with blocks that `readContent` reads. */
type Dialect = {
  readonly matches: (record: JsonRecord) => boolean;
  /** @throws RangeError if something is nested too deeply to be written as JSON. */
  readonly toChat: (record: JsonRecord) => JsonRecord;
  /** The summary beside a message of the dialect, which shows the shape and the keys. `id` is new, for messages that have ids. */
  readonly toSummary: (
    summary: { readonly role: 'user' | 'system'; readonly text: string; readonly id: string },
    neighbor: JsonRecord,
  ) => object;
};

const UI_PART = /^(?:file|source|step-start|tool-invocation|dynamic-tool|(?:source|tool|data)-.+)$/;

/**
 * UI messages of the AI SDK, `{id, role, parts}`. A call and its result are one part: `tool-NAME` and `dynamic-tool`
 * since version 5, `tool-invocation` before. https://ai-sdk.dev/docs/reference/ai-sdk-core/ui-message
 */
const uiMessages: Dialect = {
  matches: ({ role, parts }) =>
    typeof role === 'string' &&
    isList(parts) &&
    parts.some(isUiPart) &&
    parts.every((part) => stringAt(part, 'type') !== undefined),
  toChat: ({ parts, ...record }) => {
    const time = record['createdAt'] ?? valueAt(record, 'metadata', 'createdAt');
    const content = (isList(parts) ? parts : []).flatMap((part) => (isRecord(part) ? toBlocks(part) : [part]));
    return { ...record, content, ...(time !== undefined && { created_at: time }) };
  },
  toSummary: ({ role, text, id }, neighbor) => ({
    id,
    createdAt: stringAt(neighbor, 'createdAt'),
    role,
    ...('content' in neighbor && { content: text }),
    parts: [{ type: 'text', text }],
  }),
};

function isUiPart(part: Json): boolean {
  const type = stringAt(part, 'type') ?? '';
  return type === 'text' || type === 'reasoning' ? stringAt(part, 'text') !== undefined : UI_PART.test(type);
}

function toBlocks(part: JsonRecord): readonly Json[] {
  const type = stringAt(part, 'type') ?? '';
  if (type === 'step-start') return [];
  if (type === 'tool-invocation' && isRecord(part['toolInvocation'])) return toPair(part['toolInvocation'], null);
  if (type !== 'dynamic-tool' && !type.startsWith('tool-')) return [part];
  return 'toolCallId' in part ? toPair(part, type === 'dynamic-tool' ? null : type.slice('tool-'.length)) : [part];
}

/** The call, and its result if there is one: text and the content of MCP tools as they are; anything else as JSON. */
function toPair(part: JsonRecord, name: string | null): readonly Json[] {
  const { toolCallId = null } = part;
  const toolName = name ?? stringAt(part, 'toolName') ?? '';
  const input = part['input'] ?? part['rawInput'] ?? part['args'] ?? {};
  const call: Json = { type: 'tool-call', toolCallId, toolName, input };
  const error = stringAt(part, 'errorText');
  const output = error ?? part['output'] ?? part['result'];
  if (output === undefined) return [call];
  const inner = valueAt(output, 'content');
  const content = typeof output === 'string' ? output : isList(inner) ? inner : JSON.stringify(output);
  return [call, { type: 'tool-result', toolCallId, toolName, content, ...(error !== undefined && { isError: true }) }];
}

const LANGCHAIN_ROLES: ReadonlyMap<string, string> = new Map([
  ['human', 'user'],
  ['ai', 'assistant'],
  ['system', 'system'],
  ['developer', 'developer'],
  ['tool', 'tool'],
  ['function', 'function'],
]);
/** Other programs have records of these types too, with keys that a message of LangChain does not have. */
const COMMON_TYPES: ReadonlySet<string> = new Set(['system', 'developer', 'tool', 'function']);
const OTHER_KEYS = ['role', 'uuid', 'timestamp', 'message', 'payload', 'subtype', 'data'];

/**
 * Messages of LangChain and LangGraph in their three forms: `{type: "human", content}`, `{type, data: {content}}`, and
 * serialized, `{lc, type: "constructor", id: […, "HumanMessage"], kwargs: {content}}`.
 */
const langChain: Dialect = {
  matches: (record) => openLangChain(record) !== null,
  toChat: (record) => {
    const message = openLangChain(record);
    if (message === null) return record;
    const { type, fields } = message;
    const role = type === 'chat' ? (stringAt(fields, 'role') ?? 'user') : (LANGCHAIN_ROLES.get(type) ?? type);
    const { content = null, id, name, tool_call_id: answered } = fields;
    // Calls whose arguments are no JSON are calls too, under another key.
    const own = [...listAt(fields, 'tool_calls'), ...listAt(fields, 'invalid_tool_calls')];
    const calls = own.length === 0 ? listAt(fields, 'additional_kwargs', 'tool_calls') : own;
    return {
      role,
      content,
      ...(typeof id === 'string' && { id }),
      ...(typeof name === 'string' && { name }),
      ...(calls.length > 0 && { tool_calls: calls }),
      ...(typeof answered === 'string' && { tool_call_id: answered }),
    };
  },
  toSummary: ({ role, text, id }, neighbor) => {
    const fields = openLangChain(neighbor)?.fields ?? {};
    const type = role === 'user' ? 'human' : 'system';
    const common = { content: text, additional_kwargs: {}, response_metadata: {}, ...('id' in fields && { id }) };
    const path = neighbor['id'];
    if (isList(path)) {
      const className = role === 'user' ? 'HumanMessage' : 'SystemMessage';
      const kwargs = 'type' in fields ? { ...common, type } : common;
      return { lc: 1, type: 'constructor', id: [...path.slice(0, -1), className], kwargs };
    }
    return isRecord(neighbor['data']) ? { type, data: { ...common, type } } : { ...common, type };
  },
};

/** The type without `Message` and `Chunk`, in lower case; and the fields. null: it is no message of LangChain. */
function openLangChain(record: JsonRecord): { readonly type: string; readonly fields: JsonRecord } | null {
  const { id, kwargs, data } = record;
  if (isList(id) && isRecord(kwargs)) {
    const className = id.at(-1);
    const name = typeof className === 'string' ? /^(\w+)Message(?:Chunk)?$/.exec(className)?.[1] : undefined;
    return name === undefined ? null : { type: name.toLowerCase(), fields: kwargs };
  }
  const given = stringAt(record, 'type') ?? '';
  const [, chunk] = /^(.*)MessageChunk$/.exec(given) ?? [];
  const type = chunk?.toLowerCase() ?? given;
  if (!LANGCHAIN_ROLES.has(type) && type !== 'chat') return null;
  if (isRecord(data) && 'content' in data) return { type, fields: data };
  const hasRole = 'role' in record;
  if (!('content' in record) || hasRole !== (type === 'chat')) return null;
  const isOther = COMMON_TYPES.has(type) && OTHER_KEYS.some((key) => key in record);
  return isOther ? null : { type, fields: record };
}

const OTEL_PART =
  /^(?:text|reasoning|tool_call|tool_call_response|blob|file|uri|server_tool_call|server_tool_call_response)$/;

/**
 * Messages as OpenTelemetry records them, `{role, parts: [{type: "text", content}, …]}`.
 * https://opentelemetry.io/docs/specs/semconv/gen-ai/
 */
const otelMessages: Dialect = {
  matches: ({ role, parts }) =>
    typeof role === 'string' && isList(parts) && parts.length > 0 && parts.every(isOtelPart),
  toChat: ({ parts, ...record }) => ({ ...record, content: listAt(parts).map(fromOtelPart) }),
  toSummary: ({ role, text }) => ({ role, parts: [{ type: 'text', content: text }] }),
};

function isOtelPart(part: Json): boolean {
  const type = stringAt(part, 'type') ?? '';
  return OTEL_PART.test(type) && (type !== 'text' || valueAt(part, 'content') !== undefined);
}

function fromOtelPart(part: Json): Json {
  const text = stringAt(part, 'type') === 'text' ? stringAt(part, 'content') : undefined;
  return text === undefined ? part : { type: 'text', text };
}

/**
 * Items of the OpenAI Agents SDK, whose keys are those of JavaScript: `{type: "function_call", callId}`. Its messages are `{role, content}`.
 * https://openai.github.io/openai-agents-js/
 */
const agentItems: Dialect = {
  matches: (record) => AGENT_ITEM.test(stringAt(record, 'type') ?? '') && 'callId' in record && !('role' in record),
  toChat: ({ type, callId: toolCallId = null, name: toolName = null, ...record }) => {
    const isResult = type === 'function_call_result';
    const said: JsonRecord = isResult ? { content: record['output'] ?? null } : { input: record['arguments'] ?? null };
    const block = { type: isResult ? 'tool-result' : 'tool-call', toolCallId, toolName, ...said };
    return { role: isResult ? 'tool' : 'assistant', content: [block] };
  },
  toSummary: ({ role, text }) => ({ type: 'message', role, content: text }),
};

const AGENT_ITEM = /^function_call(?:_result)?$/;

const DIALECTS: readonly Dialect[] = [uiMessages, langChain, otelMessages, agentItems];

/** The dialect of a message; null: it is `{role, content}`, or no message. */
export function findDialect(value: Json | undefined): Dialect | null {
  return isRecord(value) ? (DIALECTS.find(({ matches }) => matches(value)) ?? null) : null;
}

/** The message as `{role, content, tool_calls?, tool_call_id?}`; anything else as it is. */
export function toChatMessage(value: Json): Json {
  return isRecord(value) ? (findDialect(value)?.toChat(value) ?? value) : value;
}

/** The summary in the dialect of the messages beside it; null: they are `{role, content}`. */
export function renderInDialect(input: SummaryInput): string | null {
  const { text, firstKept, firstDropped = null, lastDropped, prior = null } = input;
  const neighbor = [firstKept, lastDropped, firstDropped].find((value) => findDialect(value) !== null);
  const dialect = findDialect(neighbor);
  if (dialect === null || !isRecord(neighbor)) return null;
  const role = summaryRole({ ...input, prior: toChatMessage(prior) });
  return JSON.stringify(dialect.toSummary({ role, text, id: input.uuid('summary') }, neighbor));
}

/** The roles for ShareGPT's speakers. */
const SHAREGPT_ROLES: ReadonlyMap<string, string> = new Map([
  ['chatgpt', 'assistant'],
  ['gpt', 'assistant'],
  ['bing', 'assistant'],
  ['bard', 'assistant'],
  ['function_call', 'assistant'],
  ['tool_call', 'assistant'],
  ['observation', 'tool'],
  ['function_response', 'tool'],
  ['tool_response', 'tool'],
]);

/** The values of these speakers, and of parts of these types, are calls as JSON text. */
const CALLERS = new Set(['function_call', 'tool_call']);

/**
 * An element of a conversation in a list, as a chat message `{role, content, tool_calls?}`. ShareGPT's `{from, value}` and parts with their text
 * under `value` are translated, and so are the messages of other dialects; anything else stays as it is.
 */
export function toChatElement(value: Json): Json {
  const element = toChatMessage(value);
  if (!isRecord(element)) return element;
  const from = stringAt(element, 'from');
  const isShareGpt = from !== undefined && !('role' in element);
  return fromValues(isShareGpt ? fromShareGpt(element, from) : fromResponsesItem(element));
}

/** Calls and results in the input of a request to OpenAI's Responses API have a type and no role. */
function fromResponsesItem(record: JsonRecord): JsonRecord {
  if ('role' in record || !('call_id' in record)) return record;
  const type = stringAt(record, 'type') ?? '';
  const { call_id: id = null, output = null } = record;
  if (type.endsWith('call_output')) return { role: 'tool', tool_call_id: id, content: output };
  return type.endsWith('call') ? { role: 'assistant', content: null, tool_calls: [{ ...record, id }] } : record;
}

function fromShareGpt(record: JsonRecord, from: string): JsonRecord {
  const { from: _, value = null, ...rest } = record;
  const role = SHAREGPT_ROLES.get(from) ?? from;
  const calls = CALLERS.has(from) ? callsIn(value) : [];
  return calls.length > 0 ? { ...rest, role, content: '', tool_calls: calls } : { ...rest, role, content: value };
}

/** Parts `{type, value}` (LLaMA-Factory): text, and calls as JSON text, but no reasoning. Other parts stay as they are. */
function fromValues(record: JsonRecord): JsonRecord {
  const { content } = record;
  if (!isList(content) || !content.some((part) => isRecord(part) && 'value' in part)) return record;
  const callsOf = (part: Json): readonly JsonRecord[] =>
    CALLERS.has(stringAt(part, 'type') ?? '') ? callsIn(valueAt(part, 'value')) : [];
  const calls = content.flatMap(callsOf);
  const texts = content
    .filter((part) => callsOf(part).length === 0)
    .map((part) => {
      const value = stringAt(part, 'type') === 'text' ? valueAt(part, 'value') : undefined;
      return value === undefined ? part : { type: 'text', text: value };
    });
  return { ...record, content: texts, ...(calls.length > 0 && { tool_calls: calls }) };
}

/** Calls have a name; other JSON is text that somebody wrote. */
function callsIn(value: Json | undefined): readonly JsonRecord[] {
  return (listCalls(value) ?? []).filter((call) => stringAt(call, 'name') !== undefined);
}
