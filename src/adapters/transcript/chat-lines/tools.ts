import type { ToolCall } from '../../../core/message.ts';
import type { Json } from '../../../ports/codec.ts';
import { idAt, isList, isRecord, type JsonRecord, stringAt } from '../json.ts';

/** A block of a message that makes a call. `record` is what `readCall` reads. */
type CallBlock = { readonly kind: 'call'; readonly record: JsonRecord };

/** A block that answers a call. */
export type ResultBlock = {
  readonly kind: 'result';
  /** Undefined: it does not name the call that it answers. */
  readonly callId: string | undefined;
  readonly name: string | undefined;
  readonly content: Json | undefined;
  readonly isError: boolean;
};

/**
 * The type without separators, in lower case: `tool_use`, `toolUse`, `server_tool_use`, `toolRequest`, `tool-call`,
 * `functionCall`, …
 */
const CALL = /(?:tool|function)(?:use|call|request)$/;
const RESULT = /(?:tool|function)(?:call)?(?:result|response|output|error)$/;

const CALL_ID_KEYS = ['tool_use_id', 'toolUseId', 'toolUseID', 'toolCallId', 'tool_call_id', 'call_id', 'callId'];
const RESULT_KEYS = ['content', 'output', 'result', 'response', 'toolResult', 'run', 'error'];

/**
 * The shapes of calls and results in the content of messages: Anthropic's `{type: "tool_use", id}` and `{type:
 * "tool_result", tool_use_id}`, Amp's `toolUseID`, Bedrock's `{toolUse: {toolUseId}}`, Goose's `{type: "toolRequest",
 * id, toolCall: {value}}`, and the AI SDK's `{type: "tool-call", toolCallId}`. An undocumented shape is recognized by
 * its name. null: neither a call nor a result.
 */
export function readToolBlock(block: JsonRecord): CallBlock | ResultBlock | null {
  const type = stringAt(block, 'type');
  if (type !== undefined) return readNamed(type, block);
  // Bedrock names the block by its only key.
  for (const [key, body] of Object.entries(block)) {
    const named = isRecord(body) ? readNamed(key, body) : null;
    if (named !== null) return named;
  }
  return null;
}

function readNamed(name: string, body: JsonRecord): CallBlock | ResultBlock | null {
  const plain = name.toLowerCase().replace(/[^a-z]/g, '');
  if (CALL.test(plain)) return { kind: 'call', record: toCallBlock(body) };
  return RESULT.test(plain) ? toResult(body) : null;
}

/** A call from a list of calls, in a shape that `readCall` reads: `{toolCallId, toolName, args}` uses other names. */
export function toCallRecord(call: JsonRecord): JsonRecord {
  return 'id' in call || 'call_id' in call || findCallId(call) === undefined ? call : toCallBlock(call);
}

function toCallBlock(body: JsonRecord): JsonRecord {
  if ('id' in body && 'name' in body && 'input' in body) return { ...body, type: 'tool_use' }; // Anthropic's own
  const inner = callOf(body);
  const id = findCallId(body) ?? idAt(body, 'id');
  return {
    type: 'tool_use',
    ...(id !== undefined && { id }),
    name: stringAt(inner, 'name') ?? stringAt(inner, 'toolName') ?? '',
    input: inner['input'] ?? inner['arguments'] ?? inner['args'] ?? {},
  };
}

/** Goose wraps the call together with the status of parsing it. */
function callOf(body: JsonRecord): JsonRecord {
  const { toolCall } = body;
  if (!isRecord(toolCall)) return body;
  return isRecord(toolCall['value']) ? toolCall['value'] : toolCall;
}

function toResult(body: JsonRecord): ResultBlock {
  const key = RESULT_KEYS.find((one) => (body[one] ?? null) !== null);
  const output = key === undefined ? undefined : body[key];
  const isFailed = isRecord(output) && (isErrorWord(output['status']) || isErrorWord(output['type']));
  const isError = body['is_error'] === true || body['isError'] === true || isErrorWord(body['status']) || isFailed;
  return {
    kind: 'result',
    callId: findCallId(body) ?? idAt(body, 'id'),
    name: stringAt(body, 'name') ?? stringAt(body, 'toolName'),
    content: key === 'content' ? output : unwrap(output),
    isError: isError || key === 'error',
  };
}

/** Goose's and Amp's `{status, value | result | error}`, and the AI SDK's `{type, value}`. */
function unwrap(output: Json | undefined): Json | undefined {
  if (!isRecord(output)) return output;
  const inner = output['value'] ?? output['result'] ?? output['error'];
  const isWrapped = inner !== undefined && ('status' in output || 'type' in output);
  if (!isWrapped) return output;
  return isRecord(inner) && 'content' in inner ? inner['content'] : inner;
}

function isErrorWord(value: Json | undefined): boolean {
  return typeof value === 'string' && /^(?:error|failed|cancelled|execution-denied)/.test(value);
}

/** The id of the call that a record names, which is never its own id. */
export function findCallId(record: JsonRecord): string | undefined {
  return CALL_ID_KEYS.map((key) => idAt(record, key)).find((id) => id !== undefined);
}

/** A call in a record. `arguments` is JSON text; '' if there are none. */
export type ReadCall = {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
  /** In the shape that the record has. */
  readonly call: ToolCall;
};

/** A call without an id is named by its place. */
type CallPlace = { readonly line: number; readonly position: number };

/** The records of a `tool_calls` field: a list, a single call, or either as JSON text. null: it is neither. */
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
 * A call in any shape found in chat lines: OpenAI's function or custom call, Anthropic's tool_use, or a plain `{id,
 * name, arguments}`.
 * @throws RangeError if its arguments are nested too deeply to be written as JSON.
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

type OpenCall = { readonly id: string; readonly name: string };

/**
 * Finds the call that a result without an id answers: some producers rely on the order, or on the name of the
 * function.
 */
export type Pairing = {
  /** A record of the conversation makes these calls, which may be none. */
  readonly noteCalls: (conversation: string, calls: readonly OpenCall[]) => void;
  /** The call with this id is answered. */
  readonly noteResult: (conversation: string, id: string) => void;
  /** The unanswered call with this name, or else the first one; null: every call is answered. */
  readonly takeCall: (conversation: string, name: string | undefined) => string | null;
};

/**
 * Only the calls of the current turn are open: a result never answers a call that was given up before other messages.
 */
export function createPairing(): Pairing {
  const open = new Map<string, { calls: readonly OpenCall[]; isCalling: boolean }>();
  const stateOf = (conversation: string): { calls: readonly OpenCall[]; isCalling: boolean } => {
    const known = open.get(conversation);
    if (known !== undefined) return known;
    const fresh = { calls: [], isCalling: false };
    open.set(conversation, fresh);
    return fresh;
  };
  const answer = (conversation: string, id: string): void => {
    const state = stateOf(conversation);
    state.calls = state.calls.filter((call) => call.id !== id);
    state.isCalling = false;
  };
  return {
    noteCalls: (conversation, calls) => {
      const state = stateOf(conversation);
      if (calls.length > 0) state.calls = state.isCalling ? [...state.calls, ...calls] : calls;
      state.isCalling = calls.length > 0;
    },
    noteResult: answer,
    takeCall: (conversation, name) => {
      const { calls } = stateOf(conversation);
      const call = calls.find((one) => one.name === name) ?? calls[0];
      if (call !== undefined) answer(conversation, call.id);
      return call?.id ?? null;
    },
  };
}

/** The call that a result without an id answers. Asked again for one record, it gives the call of that record's next result. */
export type FindCall = (name: string | undefined) => string | null;

/** Pairs results without ids in the first pass, and remembers the pairs for when a record is read again. */
export type CallFinder = {
  readonly take: (pairing: Pairing, place: { readonly line: number; readonly conversation: string }) => FindCall;
  readonly recall: (line: number) => FindCall;
};

export function createCallFinder(): CallFinder {
  const answered = new Map<string, string>();
  const eachResult = (line: number, find: (key: string, name: string | undefined) => string | null): FindCall => {
    let position = 0;
    return (name) => {
      position += 1;
      return find(`${line}:${position}`, name);
    };
  };
  return {
    take: (pairing, { line, conversation }) =>
      eachResult(line, (key, name) => {
        const taken = pairing.takeCall(conversation, name);
        if (taken !== null) answered.set(key, taken);
        return taken;
      }),
    recall: (line) => eachResult(line, (key) => answered.get(key) ?? null),
  };
}
