import type { Json } from '../../../ports/codec.ts';
import { idAt, isRecord, type JsonRecord, stringAt } from '../json.ts';

/** A block of a message that makes a call. `record` is what `readCall` reads. */
type CallBlock = { readonly kind: 'call'; readonly record: JsonRecord };

/** A block that answers one. */
export type ResultBlock = {
  readonly kind: 'result';
  /** Undefined: it does not say which call it answers. */
  readonly callId: string | undefined;
  readonly name: string | undefined;
  readonly content: Json | undefined;
  readonly isError: boolean;
};

/** Without its separators and case: `tool_use`, `toolUse`, `server_tool_use`, `toolRequest`, `tool-call`, `functionCall`, … */
const CALL = /(?:tool|function)(?:use|call|request)$/;
const RESULT = /(?:tool|function)(?:call)?(?:result|response|output|error)$/;

const CALL_ID_KEYS = ['tool_use_id', 'toolUseId', 'toolUseID', 'toolCallId', 'tool_call_id', 'call_id', 'callId'];
const RESULT_KEYS = ['content', 'output', 'result', 'response', 'toolResult', 'run', 'error'];

/**
 * The shapes that calls and results have in the content of messages: Anthropic's `{type: "tool_use", id}` and `{type: "tool_result",
 * tool_use_id}`, Amp's `toolUseID`, Bedrock's `{toolUse: {toolUseId}}`, Goose's `{type: "toolRequest", id, toolCall: {value}}`, and the AI
 * SDK's `{type: "tool-call", toolCallId}`. A shape that no one documents is taken for one where its name says so. null: something else.
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

/** A call of a list of calls, in a shape that `readCall` reads: `{toolCallId, toolName, args}` has other names for what it needs. */
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

/** Goose keeps what is called below, with the status of reading it. */
function callOf(body: JsonRecord): JsonRecord {
  const { toolCall } = body;
  if (!isRecord(toolCall)) return body;
  return isRecord(toolCall['value']) ? toolCall['value'] : toolCall;
}

function toResult(body: JsonRecord): ResultBlock {
  const key = RESULT_KEYS.find((one) => (body[one] ?? null) !== null);
  const told = key === undefined ? undefined : body[key];
  const isFailed = isRecord(told) && (isErrorWord(told['status']) || isErrorWord(told['type']));
  const isError = body['is_error'] === true || body['isError'] === true || isErrorWord(body['status']) || isFailed;
  return {
    kind: 'result',
    callId: findCallId(body) ?? idAt(body, 'id'),
    name: stringAt(body, 'name') ?? stringAt(body, 'toolName'),
    content: key === 'content' ? told : unwrap(told),
    isError: isError || key === 'error',
  };
}

/** Goose's and Amp's `{status, value | result | error}`, and the AI SDK's `{type, value}`. */
function unwrap(told: Json | undefined): Json | undefined {
  if (!isRecord(told)) return told;
  const inner = told['value'] ?? told['result'] ?? told['error'];
  const isWrapped = inner !== undefined && ('status' in told || 'type' in told);
  if (!isWrapped) return told;
  return isRecord(inner) && 'content' in inner ? inner['content'] : inner;
}

function isErrorWord(value: Json | undefined): boolean {
  return typeof value === 'string' && /^(?:error|failed|cancelled|execution-denied)/.test(value);
}

/** The id of the call that a record names; its own id is none. */
export function findCallId(record: JsonRecord): string | undefined {
  return CALL_ID_KEYS.map((key) => idAt(record, key)).find((id) => id !== undefined);
}
