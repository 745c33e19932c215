import type { MessagePart } from '../../../core/message.ts';
import type { Json } from '../../../ports/codec.ts';
import { idAt, isList, isRecord, type JsonRecord, parseText, stringAt, valueAt } from '../json.ts';
import { argumentText, documentText, joinTexts, readPartText, textOfParts, typedText } from '../message-parts.ts';
import { resultPart } from '../said.ts';

/** The content of a record, without thinking and media. */
export type Content = {
  readonly parts: readonly MessagePart[];
  /** The parts as one text: texts, calls as `name arguments`, texts of results. */
  readonly text: string;
  /** One of its blocks is a tool result. */
  readonly hasResultBlock: boolean;
  /** What a person typed in it, if its author is a person. */
  readonly typed: string | undefined;
};

/** The call that a result without an id answers. Asked again for one record, it gives the call of that record's next result. */
export type FindCall = (name: string | undefined) => string | null;

/**
 * `isResult`: the record as a whole is a result, according to its role.
 * @throws RangeError if something is nested too deeply to be written as JSON.
 */
export function readContent(
  record: JsonRecord,
  { line, isResult, findCall }: { readonly line: number; readonly isResult: boolean; readonly findCall: FindCall },
): Content {
  const parts: MessagePart[] = [];
  let seen: Set<string> | undefined; // of most records it stays undefined
  let hasResultBlock = false;
  const addText = (text: string): void => {
    if (text !== '') parts.push({ kind: 'text', text });
  };
  const addCall = ({ id = `call:${line}:${seen?.size ?? 0}`, ...call }: Call): void => {
    seen ??= new Set();
    if (seen.has(id)) return; // some exports write a call both as a block and in tool_calls
    seen.add(id);
    parts.push({ kind: 'call', id, ...call });
  };
  const ownCallId = isResult ? findCallId(record) : undefined;
  for (const block of blocksOf(record['content'])) {
    const tool = isRecord(block) ? readToolBlock(block) : null;
    if (tool === null) addText(textOfBlock(block));
    else if (tool.kind === 'call') addCall(tool.call);
    else {
      hasResultBlock = true;
      const callId = tool.callId ?? ownCallId ?? findCall(tool.name);
      const text = joinTexts(blocksOf(tool.content).map(textOfBlock));
      parts.push(resultPart(callId ?? undefined, text, tool.isError));
    }
  }
  // When OpenAI's answer is a refusal or audio, its content is null and its words are beside it.
  if (parts.length === 0) addText(stringAt(record, 'refusal') ?? stringAt(record, 'audio', 'transcript') ?? '');
  const given = record['tool_calls'] ?? record['toolCalls'];
  const listed = listCalls(given);
  if (listed === null) addText(readPartText(given));
  else for (const call of listed) addCall(readListedCall(call));
  for (const call of listCalls(record['function_call']) ?? []) addCall(readListedCall(call));
  const answered =
    isResult && !hasResultBlock
      ? (ownCallId ?? findCall(stringAt(record, 'name') ?? stringAt(record, 'tool_name')))
      : null;
  const texts: string[] = [];
  for (const part of parts) if (part.kind === 'text') texts.push(part.text);
  if (answered === null) {
    return { parts, text: textOfParts(parts), hasResultBlock, typed: typedText(texts.map(withoutNote)) };
  }
  // A record that is a result as a whole: its texts answer the call. If it also makes calls, they stay.
  const result = resultPart(answered, joinTexts(texts), false);
  const all = [result, ...parts.filter((part) => part.kind !== 'text')];
  return { parts: all, text: textOfParts(all), hasResultBlock, typed: undefined };
}

function blocksOf(content: Json | undefined): readonly Json[] {
  if (content === undefined || content === null) return [];
  return isList(content) ? content : [content];
}

/** The text of a block; '' for thinking and media. */
function textOfBlock(block: Json): string {
  if (!isRecord(block)) return readPartText(block);
  if (block['type'] === 'refusal') return stringAt(block, 'refusal') ?? readPartText(block);
  return block['type'] === 'document' ? documentText(block) : readPartText(block);
}

const CLIENT_NOTE = /^\s*<system>/;
const NOTE_END = '</system>';

/** The text without the note that a client put before it (Kimi: `<system>CHECKPOINT 3</system>`). */
function withoutNote(text: string): string {
  if (!CLIENT_NOTE.test(text)) return text;
  const end = text.indexOf(NOTE_END);
  return end < 0 ? text : text.slice(end + NOTE_END.length);
}

/** A call in a record. `arguments` is JSON text; '' if there are none. */
type Call = { readonly id: string | undefined; readonly name: string; readonly arguments: string };

type ToolBlock =
  | { readonly kind: 'call'; readonly call: Call }
  | {
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
 * @throws RangeError if arguments are nested too deeply to be written as JSON.
 */
export function readToolBlock(block: JsonRecord): ToolBlock | null {
  const type = stringAt(block, 'type');
  if (type !== undefined) return readNamed(type, block);
  // Bedrock names the block by its only key.
  for (const [key, body] of Object.entries(block)) {
    const named = isRecord(body) ? readNamed(key, body) : null;
    if (named !== null) return named;
  }
  return null;
}

function readNamed(name: string, body: JsonRecord): ToolBlock | null {
  const plain = name.toLowerCase().replace(/[^a-z]/g, '');
  if (CALL.test(plain)) return { kind: 'call', call: readCall(body) };
  return RESULT.test(plain) ? readResult(body) : null;
}

function readCall(body: JsonRecord): Call {
  if ('id' in body && 'name' in body && 'input' in body) return readAnthropicCall(body);
  // Goose wraps the call together with the status of parsing it.
  const inner = [valueAt(body, 'toolCall', 'value'), body['toolCall']].find(isRecord) ?? body;
  return {
    id: findCallId(body) ?? idAt(body, 'id'),
    name: stringAt(inner, 'name') ?? stringAt(inner, 'toolName') ?? '',
    arguments: argumentText(inner['input'] ?? inner['arguments'] ?? inner['args']),
  };
}

function readAnthropicCall(body: JsonRecord): Call {
  const id = idAt(body, 'id') ?? idAt(body, 'call_id');
  return { id, name: stringAt(body, 'name') ?? '', arguments: argumentText(body['input']) };
}

/** A call in a list of calls: OpenAI's function or custom call, Anthropic's tool_use, the AI SDK's, or a plain `{id, name, arguments}`. */
function readListedCall(call: JsonRecord): Call {
  const isSdk = !('id' in call) && !('call_id' in call) && findCallId(call) !== undefined;
  if (isSdk) return readCall(call);
  if (stringAt(call, 'type')?.endsWith('tool_use') === true) return readAnthropicCall(call);
  const inner = [call['function'], call['custom']].find(isRecord) ?? call;
  const args = inner['arguments'] ?? inner['input'] ?? inner['args'] ?? '';
  return {
    id: idAt(call, 'id') ?? idAt(call, 'call_id'),
    name: stringAt(inner, 'name') ?? '',
    arguments: argumentText(args),
  };
}

function readResult(body: JsonRecord): ToolBlock {
  const key = RESULT_KEYS.find((one) => (body[one] ?? null) !== null) ?? '';
  const output = body[key];
  const words = [body['status'], valueAt(output, 'status'), valueAt(output, 'type')];
  return {
    kind: 'result',
    callId: findCallId(body) ?? idAt(body, 'id'),
    name: stringAt(body, 'name') ?? stringAt(body, 'toolName'),
    content: key === 'content' ? output : unwrap(output),
    isError:
      key === 'error' ||
      body['is_error'] === true ||
      body['isError'] === true ||
      words.some((word) => typeof word === 'string' && ERROR_WORD.test(word)),
  };
}

/** Goose's and Amp's `{status, value | result | error}`, and the AI SDK's `{type, value}`. */
function unwrap(output: Json | undefined): Json | undefined {
  if (!isRecord(output)) return output;
  const inner = output['value'] ?? output['result'] ?? output['error'];
  const isWrapped = inner !== undefined && ('status' in output || 'type' in output);
  return isWrapped ? (valueAt(inner, 'content') ?? inner) : output;
}

const ERROR_WORD = /^(?:error|failed|cancelled|execution-denied)/;

/** The id of the call that a record names, which is never its own id. */
function findCallId(record: JsonRecord): string | undefined {
  return CALL_ID_KEYS.map((key) => idAt(record, key)).find((id) => id !== undefined);
}

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
