import type { MessagePart, Role } from '../../../core/message.ts';
import type { Json } from '../../../ports/codec.ts';
import { isList, isRecord, type JsonRecord, stringAt } from '../json.ts';
import { readPartText, ruleWords, typedText } from '../message-parts.ts';

/** The content and tool calls of a message, without thoughts and media. */
export type Content = {
  readonly parts: readonly MessagePart[];
  /** Ids of the calls that it makes, and of those that it answers, each once. */
  readonly calls: readonly string[];
  readonly results: readonly string[];
  /** It begins with something other than text: a picture or a file. */
  readonly beginsWithMedia: boolean;
};

/**
 * The parts of `content` (text, a part, or a list of both), then the calls of `toolCalls` with their results. Newer
 * versions have a call in both places; it counts once.
 * @throws RangeError if arguments or results are nested too deeply to be written as JSON.
 */
export function readContent({ content, toolCalls }: JsonRecord): Content {
  const given = partsOf(content);
  const first = given.find((part) => part['thought'] !== true);
  const reader = createPartReader();
  for (const part of given) reader.addPart(part);
  for (const call of isList(toolCalls) ? toolCalls.filter(isRecord) : []) reader.addToolCall(call);
  return { ...reader.read(), beginsWithMedia: first !== undefined && typeof first['text'] !== 'string' };
}

function createPartReader(): {
  readonly addPart: (part: JsonRecord) => void;
  readonly addToolCall: (call: JsonRecord) => void;
  readonly read: () => Omit<Content, 'beginsWithMedia'>;
} {
  const parts: MessagePart[] = [];
  const calls = new Set<string>();
  const results = new Set<string>();
  const addCall = (id: string | undefined, name: string, args: Json | undefined): void => {
    const text = JSON.stringify(args ?? {});
    if (id === undefined) return void parts.push({ kind: 'text', text: `${name} ${text}` });
    if (calls.has(id)) return;
    calls.add(id);
    parts.push({ kind: 'call', id, name, arguments: text });
  };
  const addResult = (id: string | undefined, text: string, isError: boolean): void => {
    if (id === undefined) return void parts.push({ kind: 'text', text });
    if (results.has(id)) return;
    results.add(id);
    parts.push({ kind: 'result', callId: id, text, isError });
  };
  const addPart = (part: JsonRecord): void => {
    const { functionCall, functionResponse } = part;
    if (part['thought'] === true) return;
    if (isRecord(functionCall)) {
      addCall(stringAt(functionCall, 'id'), stringAt(functionCall, 'name') ?? 'tool', functionCall['args']);
    } else if (isRecord(functionResponse)) {
      const { response } = functionResponse;
      addResult(stringAt(functionResponse, 'id'), responseText(response), isRecord(response) && 'error' in response);
    } else {
      const text = textOfPart(part);
      if (text !== '') parts.push({ kind: 'text', text });
    }
  };
  const addToolCall = (call: JsonRecord): void => {
    const id = stringAt(call, 'id');
    const { result } = call;
    addCall(id, stringAt(call, 'name') ?? 'tool', call['args']);
    if (result === undefined || result === null || result === '') return;
    addResult(id, resultText(result), /^(?:error|cancelled)$/.test(stringAt(call, 'status') ?? ''));
  };
  return { addPart, addToolCall, read: () => ({ parts, calls: [...calls], results: [...results] }) };
}

function partsOf(content: Json | undefined): readonly JsonRecord[] {
  const list = isList(content) ? content : content === undefined ? [] : [content];
  return list.map((part): JsonRecord => (isRecord(part) ? part : { text: readPartText(part) }));
}

/** Text, or '' for media. Code that the server ran, and unknown parts, become JSON. */
function textOfPart(part: JsonRecord): string {
  return MEDIA_KEYS.some((key) => key in part) ? (stringAt(part, 'text') ?? '') : readPartText(part);
}

const MEDIA_KEYS = ['inlineData', 'fileData'];

/** A result, given as text or as parts: the function's answer, and what was sent with it. */
function resultText(result: Json): string {
  const texts = partsOf(result).map((part) => {
    const { functionResponse } = part;
    return isRecord(functionResponse) ? responseText(functionResponse['response']) : textOfPart(part);
  });
  return texts.filter((text) => text !== '').join('\n');
}

/** Gemini CLI's tools answer `{output}` or `{error}`; the tools of other servers answer anything. */
function responseText(response: Json | undefined): string {
  if (!isRecord(response)) return readPartText(response);
  return stringAt(response, 'output') ?? stringAt(response, 'error') ?? JSON.stringify(response);
}

/** From this line on, Gemini CLI adds the text of the files that a prompt names (`@path`). */
const FILES_FOLLOW = '--- Content from referenced files ---';

/**
 * What Gemini CLI says as the user: a command that a person ran in its shell, with its output, and the model's own
 * summary.
 */
const NOT_TYPED = ['I ran the following shell command:', '<state_snapshot>'];

/**
 * What a person typed in a user's record. `displayContent` is the prompt as it was typed, if something else was sent.
 */
export function readTyped({ displayContent, content }: JsonRecord): string | undefined {
  const texts = textsOf(displayContent ?? content);
  const at = texts.findIndex((text) => text.includes(FILES_FOLLOW));
  if (at < 0) return typedText(texts.filter(isFromUser));
  const [before = ''] = (texts[at] ?? '').split(FILES_FOLLOW, 1);
  return typedText([...texts.slice(0, at), before.trimEnd()].filter(isFromUser));
}

/** What of a prompt may state rules: its first text. The texts after it are files and notes of hooks. */
export function readRuleText({ displayContent, content }: JsonRecord): string | undefined {
  return ruleWords(
    textsOf(displayContent ?? content)
      .slice(0, 1)
      .filter(isFromUser),
  );
}

function textsOf(content: Json | undefined): readonly string[] {
  const parts = partsOf(content).filter((part) => part['thought'] !== true);
  return parts.flatMap((part) =>
    isRecord(part['functionCall']) || isRecord(part['functionResponse']) ? [] : [textOfPart(part)],
  );
}

function isFromUser(text: string): boolean {
  const start = text.trimStart();
  return !NOT_TYPED.some((words) => start.startsWith(words));
}

const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;

/**
 * A short key for what a message says: the ids of its calls or results if it has any, else its words without white
 * space. A checkpoint that Gemini CLI writes after a compression gives every message a new id; this key finds the
 * message again.
 */
export function messageKey(role: Role, { parts, calls, results }: Content): string {
  if (calls.length > 0) return `calls:${calls.join('\n')}`;
  if (results.length > 0) return `results:${results.join('\n')}`;
  const words = parts
    .map((part) => ('text' in part ? part.text : ''))
    .join('')
    .replace(/\s+/g, '');
  if (words === '') return '';
  let hash = FNV_OFFSET;
  for (let at = 0; at < words.length; at += 1) hash = Math.imul(hash ^ words.charCodeAt(at), FNV_PRIME);
  return `${role}:${words.length}:${(hash >>> 0).toString(36)}`;
}
