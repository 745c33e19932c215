import type { MessagePart, ToolCall } from '../../../core/message.ts';
import type { Json } from '../../../ports/codec.ts';
import { isList, isRecord, type JsonRecord, stringAt } from '../json.ts';
import { documentText, readPartText, typedText } from '../message-parts.ts';
import {
  type FindCall,
  findCallId,
  listCalls,
  readCall,
  type ReadCall,
  readToolBlock,
  type ResultBlock,
  toCallRecord,
} from './tools.ts';

/** The content of a record, without thinking and media. */
export type Content = {
  readonly parts: readonly MessagePart[];
  /** The parts as one text: texts, calls as `name arguments`, texts of results. */
  readonly text: string;
  readonly calls: readonly ToolCall[];
  /** Ids of the calls that it answers. */
  readonly results: readonly string[];
  /** One of its blocks is a tool result. */
  readonly hasResultBlock: boolean;
  /** What a person typed in it, if its author is a person. */
  readonly typed: string | undefined;
};

type ContentPlace = {
  readonly line: number;
  /** The record as a whole is a result, according to its role. */
  readonly isResult: boolean;
  /** For results that do not name the call that they answer. */
  readonly findCall: FindCall;
};

/** @throws RangeError if something is nested too deeply to be written as JSON. */
export function readContent(record: JsonRecord, { line, isResult, findCall }: ContentPlace): Content {
  const parts: MessagePart[] = [];
  const calls: ToolCall[] = [];
  const seen = new Set<string>();
  let hasResultBlock = false;
  const addText = (text: string): void => {
    if (text !== '') parts.push({ kind: 'text', text });
  };
  const addCall = (callRecord: JsonRecord): void => {
    const call = readCall(callRecord, { line, position: calls.length });
    if (seen.has(call.id)) return; // some exports write a call both as a block and in tool_calls
    seen.add(call.id);
    calls.push(call.call);
    parts.push(callPart(call));
  };
  const ownCallId = isResult ? findCallId(record) : undefined;
  for (const block of blocksOf(record['content'])) {
    const tool = isRecord(block) ? readToolBlock(block) : null;
    if (!isRecord(block)) addText(readPartText(block));
    else if (tool === null) addText(textOfBlock(block, stringAt(block, 'type') ?? ''));
    else if (tool.kind === 'call') addCall(tool.record);
    else {
      hasResultBlock = true;
      parts.push(resultPart(tool, tool.callId ?? ownCallId ?? findCall(tool.name)));
    }
  }
  if (parts.length === 0) addText(spokenInstead(record));
  const given = record['tool_calls'] ?? record['toolCalls'];
  const listed = listCalls(given);
  if (listed === null) addText(readPartText(given));
  else for (const call of listed) addCall(toCallRecord(call));
  listCalls(record['function_call'])?.forEach(addCall);
  if (!isResult || hasResultBlock) return finish({ parts, calls, hasResultBlock });
  const answered = ownCallId ?? findCall(stringAt(record, 'name') ?? stringAt(record, 'tool_name'));
  return finish({ parts: answered === null ? parts : wholeResult(parts, answered), calls, hasResultBlock });
}

function finish({ parts, calls, hasResultBlock }: Pick<Content, 'parts' | 'calls' | 'hasResultBlock'>): Content {
  const only = parts.length === 1 ? parts[0] : undefined;
  if (only?.kind === 'text') {
    return { parts, text: only.text, calls, results: [], hasResultBlock, typed: typedText([withoutNote(only.text)]) };
  }
  return {
    parts,
    text: joinParts(parts),
    calls,
    results: parts.flatMap((part) => (part.kind === 'result' ? [part.callId] : [])),
    hasResultBlock,
    typed: typedText(parts.flatMap((part) => (part.kind === 'text' ? [withoutNote(part.text)] : []))),
  };
}

function blocksOf(content: Json | undefined): readonly Json[] {
  if (content === undefined || content === null) return [];
  return isList(content) ? content : [content];
}

/** When OpenAI's answer is a refusal or audio, its content is null and its words are beside it. */
function spokenInstead(record: JsonRecord): string {
  const { audio } = record;
  return stringAt(record, 'refusal') ?? (isRecord(audio) ? (stringAt(audio, 'transcript') ?? '') : '');
}

/** The text of a block; '' for thinking and media. */
function textOfBlock(block: JsonRecord, type: string): string {
  if (type === 'refusal') return stringAt(block, 'refusal') ?? readPartText(block);
  return type === 'document' ? documentText(block) : readPartText(block);
}

function callPart({ id, name, arguments: args }: ReadCall): MessagePart {
  return { kind: 'call', id, name, arguments: args };
}

function resultPart({ content, isError }: ResultBlock, callId: string | null): MessagePart {
  const texts = blocksOf(content).map((item) =>
    isRecord(item) ? textOfBlock(item, stringAt(item, 'type') ?? '') : readPartText(item),
  );
  const text = texts.filter((one) => one !== '').join('\n');
  return callId === null ? { kind: 'text', text } : { kind: 'result', callId, text, isError };
}

/** The text of a record that is a result as a whole. If it also makes calls, they stay. */
function wholeResult(parts: readonly MessagePart[], callId: string): readonly MessagePart[] {
  const text = joinParts(parts.filter((part) => part.kind === 'text'));
  return [{ kind: 'result', callId, text, isError: false }, ...parts.filter((part) => part.kind !== 'text')];
}

function joinParts(parts: readonly MessagePart[]): string {
  return parts
    .map((part) => (part.kind === 'call' ? `${part.name} ${part.arguments}`.trim() : part.text))
    .filter((text) => text !== '')
    .join('\n');
}

const CLIENT_NOTE = /^\s*<system>/;
const NOTE_END = '</system>';

/** The text without the note that a client put before it (Kimi: `<system>CHECKPOINT 3</system>`). */
function withoutNote(text: string): string {
  if (!CLIENT_NOTE.test(text)) return text;
  const end = text.indexOf(NOTE_END);
  return end < 0 ? text : text.slice(end + NOTE_END.length);
}
