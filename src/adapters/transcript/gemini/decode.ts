import type { ConversationMessage, MessagePart } from '../../../core/message.ts';
import { isClipArchiveText } from '../../../core/split.ts';
import type { Decoded } from '../../../core/transcript.ts';
import type { Json, RecordProblem } from '../../../ports/codec.ts';
import { isList, isRecord, type JsonRecord, listAt, readIsoTime, recordsAt, stringAt } from '../json.ts';
import { joinTexts, readPartText, refuseDeepNesting, ruleWords, typedText } from '../message-parts.ts';
import { callPart, decodeSummary, resultPart, say, textParts, wordsKey } from '../said.ts';
import type { CheckpointKind, LogMessage } from './context.ts';

/** One message of a session, from a line or from a list of messages. */
export type MessageReading = {
  /** A message, a clip-archive (kind summary, wherever it is), or meta if it is not sent to the model on resuming. */
  readonly decoded: Decoded;
  /**
   * Two messages with the same key say the same, whatever their ids: the ids of their calls or results, else their words. '': it says nothing. A
   * checkpoint that Gemini CLI writes after a compression gives every message a new id.
   */
  readonly key: string;
  /** It holds only results. */
  readonly isOnlyResults: boolean;
};

/** Typed for the program itself, or added by it again with every session. */
const NOT_SENT = /^(?:$|\/|<session_context>|<hook_context>)/;

/** A record `{id, timestamp, type, content, toolCalls?, …}`. Only malformed content or tool calls are a problem. */
export function readMessage(record: JsonRecord, line: number): MessageReading | RecordProblem {
  const { type, content = null, toolCalls = null } = record;
  if (type !== 'user' && type !== 'gemini') return META;
  if (content !== null && typeof content !== 'string' && typeof content !== 'object')
    return { problem: `a ${type} message whose content is neither text nor parts` };
  if (toolCalls !== null && !isList(toolCalls)) return { problem: `a ${type} message whose toolCalls are not a list` };
  return refuseDeepNesting('a message that is', () => readSaid(record, type === 'user', line));
}

const META: MessageReading = { decoded: { kind: 'meta' }, key: '', isOnlyResults: false };

function readSaid(record: JsonRecord, isUser: boolean, line: number): MessageReading {
  const parts = readParts(record);
  const isOnlyResults = isUser && parts.some(({ kind }) => kind === 'result');
  const role = isOnlyResults ? 'tool' : isUser ? 'user' : 'assistant';
  const said = { id: stringAt(record, 'id'), line, role, parts, at: readIsoTime(record['timestamp']) } as const;
  const decoded = say(said);
  const { calls = [], results = [], message } = decoded;
  const first = partsOf(record['content']).find((part) => part['thought'] !== true);
  const beginsWithMedia = first !== undefined && typeof first['text'] !== 'string';
  // A model made pictures or audio; its thoughts do not count.
  const hasMedia = recordsAt(record, 'content').some((part) => isRecord(part['inlineData']) || 'fileData' in part);
  const isSent = isUser ? beginsWithMedia || !NOT_SENT.test(message.content.trim()) : parts.length > 0 || hasMedia;
  if (!isSent) return META;
  const words = parts.map((part) => ('text' in part ? part.text : '')).join('');
  const key =
    calls.length > 0
      ? `calls:${calls.join('\n')}`
      : results.length > 0
        ? `results:${results.join('\n')}`
        : words.trim() === ''
          ? ''
          : wordsKey(role, words);
  if (role !== 'user') return { decoded, key, isOnlyResults };
  const asPrompt = isClipArchiveText(message.content)
    ? say(said, { kind: 'summary', isPrompt: true, isUnmarked: true })
    : say({ ...said, typed: readTyped(record), ruleText: readRuleText(record) }, { isPrompt: true });
  return { decoded: asPrompt, key, isOnlyResults };
}

/**
 * The parts of `content` (text, a part, or a list of both), then the calls of `toolCalls` with their results, without thoughts and media. Newer
 * versions have a call in both places; it counts once.
 * @throws RangeError if arguments or results are nested too deeply to be written as JSON.
 */
export function readParts({ content, toolCalls }: JsonRecord): readonly MessagePart[] {
  const seen = new Set<string>();
  const isNew = (part: MessagePart): boolean => {
    if (part.kind === 'text') return true;
    const key = part.kind === 'call' ? `call ${part.id}` : `result ${part.callId}`;
    const isKnown = seen.has(key);
    seen.add(key);
    return !isKnown;
  };
  return [...partsOf(content).flatMap(readPart), ...recordsAt(toolCalls).flatMap(readToolCall)].filter(isNew);
}

function readPart(part: JsonRecord): readonly MessagePart[] {
  const { functionCall, functionResponse } = part;
  if (part['thought'] === true) return [];
  if (isRecord(functionCall)) return [readCall(functionCall)];
  if (!isRecord(functionResponse)) return textParts([textOfPart(part)]);
  const { response } = functionResponse;
  const isError = isRecord(response) && 'error' in response;
  return [resultPart(stringAt(functionResponse, 'id'), responseText(response), isError)];
}

function readToolCall(call: JsonRecord): readonly MessagePart[] {
  const { result } = call;
  if (result === undefined || result === null || result === '') return [readCall(call)];
  const isError = /^(?:error|cancelled)$/.test(stringAt(call, 'status') ?? '');
  return [readCall(call), resultPart(stringAt(call, 'id'), resultText(result), isError)];
}

function readCall(call: JsonRecord): MessagePart {
  return callPart(stringAt(call, 'id'), stringAt(call, 'name') ?? 'tool', JSON.stringify(call['args'] ?? {}));
}

function partsOf(content: Json | undefined): readonly JsonRecord[] {
  const list = isList(content) ? content : content === undefined ? [] : [content];
  return list.map((part): JsonRecord => (isRecord(part) ? part : { text: readPartText(part) }));
}

/** Text, or '' for media. Code that the server ran, and unknown parts, become JSON. */
function textOfPart(part: JsonRecord): string {
  const isMedia = 'inlineData' in part || 'fileData' in part;
  return isMedia ? (stringAt(part, 'text') ?? '') : readPartText(part);
}

/** A result, given as text or as parts: the function's answer, and what was sent with it. */
function resultText(result: Json): string {
  const texts = partsOf(result).map((part) => {
    const { functionResponse } = part;
    return isRecord(functionResponse) ? responseText(functionResponse['response']) : textOfPart(part);
  });
  return joinTexts(texts);
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
  const [before = ''] = (texts[at] ?? '').split(FILES_FOLLOW, 1);
  return typedText((at < 0 ? texts : [...texts.slice(0, at), before.trimEnd()]).filter(isFromUser));
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

/** What a line of the log is, distinguished in the same order as in Gemini CLI. */
export type LogLine =
  | { readonly kind: 'rewind'; readonly id: string }
  | { readonly kind: 'message'; readonly id: string; readonly record: JsonRecord }
  | { readonly kind: 'checkpoint'; readonly messages: readonly Json[] }
  | { readonly kind: 'update'; readonly keys: readonly string[] }
  | {
      readonly kind: 'metadata';
      readonly sessionId: string;
      readonly messages: readonly Json[];
      readonly isSubagent: boolean;
    }
  | { readonly kind: 'other' };

export function readLogLine(value: Json): LogLine {
  if (!isRecord(value)) return { kind: 'other' };
  const rewind = stringAt(value, '$rewindTo');
  if (rewind !== undefined) return { kind: 'rewind', id: rewind };
  const id = stringAt(value, 'id');
  if (id !== undefined) return { kind: 'message', id, record: value };
  const { $set: update } = value;
  if (isRecord(update)) {
    const { messages } = update;
    return isList(messages)
      ? { kind: 'checkpoint', messages }
      : { kind: 'update', keys: Object.keys(update).toSorted() };
  }
  const sessionId = stringAt(value, 'sessionId');
  if (sessionId === undefined || stringAt(value, 'projectHash') === undefined) return { kind: 'other' };
  return { kind: 'metadata', sessionId, messages: listAt(value, 'messages'), isSubagent: value['kind'] === 'subagent' };
}

/** What Gemini CLI itself adds to a list of messages, and what is not part of the conversation. */
const FILLERS = new Set([
  'Got it. Thanks for the additional context!',
  '[The previous response was interrupted before it completed.]',
]);

/** A message of a checkpoint: how the log identifies it, and its content (null: it is empty or not new). */
export type CheckpointMessage = { readonly known: LogMessage; readonly message: ConversationMessage | null };

/** The messages of a checkpoint that have ids; Gemini CLI ignores the others. One that cannot be read counts as empty. */
export function readCheckpoint(
  messages: readonly Json[],
  { line, answers }: { readonly line: number; readonly answers: Answers },
): readonly CheckpointMessage[] {
  return messages.filter(isRecord).flatMap((record): readonly CheckpointMessage[] => {
    const id = stringAt(record, 'id');
    if (id === undefined) return [];
    const read = readMessage(record, line);
    const reading = 'problem' in read ? META : read;
    const { message = null } = reading.decoded;
    const isTold = answers.toldAt(reading) !== null;
    answers.add(reading, line);
    const text = message?.content.trim() ?? '';
    const isSaid = !isTold && text !== '' && !FILLERS.has(text);
    return [{ known: { id, key: reading.key, isSaid }, message: isSaid ? message : null }];
  });
}

export function kindOfCheckpoint(only: readonly ConversationMessage[], hasSummary: boolean): CheckpointKind {
  if (only.length === 0) return 'repeats';
  // A clip-archive may quote a snapshot.
  const hasSnapshot = only.some(
    ({ role, content }) => role === 'user' && content.includes('<state_snapshot>') && !isClipArchiveText(content),
  );
  return hasSummary || hasSnapshot ? 'summary' : 'message';
}

/** Decodes a checkpoint by the messages that are nowhere else. */
export function decodeCheckpoint(only: readonly ConversationMessage[], kind: CheckpointKind, line: number): Decoded {
  const [first] = only;
  if (first === undefined || kind === 'repeats') return { kind: 'meta' };
  const blocks = only.map(({ role, content }) => `[${role}]\n${content}`);
  const content = only.length === 1 ? first.content : blocks.join('\n\n');
  const place = { id: undefined, line, at: only.at(-1)?.created_at ?? null };
  if (kind === 'summary') return decodeSummary(content, place);
  const typed = typedText(only.flatMap((one) => one.typed ?? []));
  const parts: readonly MessagePart[] = [{ kind: 'text', text: content }];
  return say({ ...place, role: 'user', parts, typed }, { hidesBefore: true });
}

/** Which results were seen so far, and on which line. */
type Answers = {
  /**
   * For a message that holds only results: the line of the message that already has them; null: something in it is
   * new.
   */
  readonly toldAt: (reading: MessageReading) => number | null;
  readonly add: (reading: MessageReading, line: number) => void;
};

/**
 * Gemini CLI records a result twice: with its call, in the message of the model, and in the message that sent it to
 * the model. The first one counts.
 */
export function createAnswers(): Answers {
  const lines = new Map<string, number>();
  return {
    toldAt: ({ decoded, isOnlyResults }) => {
      const ids = isOnlyResults ? (decoded.results ?? []) : [];
      const [line = null, ...others] = new Set(ids.map((id) => lines.get(id) ?? null));
      return others.length === 0 ? line : null;
    },
    add: ({ decoded, isOnlyResults }, line) => {
      if (!isOnlyResults) for (const call of decoded.results ?? []) lines.set(call, line);
    },
  };
}
