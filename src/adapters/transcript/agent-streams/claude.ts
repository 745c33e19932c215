import { isClipArchiveText } from '../../../core/split.ts';
import type { Decoded } from '../../../core/transcript.ts';
import type { Codec, RecordProblem } from '../../../ports/codec.ts';
import { FORMATS } from '../formats.ts';
import { hasResult, isTypedPrompt, readParts, typedPrompt } from '../claude-code/decode.ts';
import { isList, isRecord, type JsonRecord, readIsoTime, recordAt, stringAt, textReader, valueAt } from '../json.ts';
import { argumentText, readPartText, textOfParts } from '../message-parts.ts';
import { callPart, resultPart, say } from '../said.ts';
import { createStreamSession, detectStream, type RecordPlace, type StreamReader } from './session.ts';

/** What `claude -p --output-format stream-json` prints: messages of the Claude Agent SDK, one a line. */
export const claudeStream: Codec = {
  format: FORMATS.claudeStream,
  detect: (sample) => detectStream(sample, { isOwn, isUsual, what: 'messages of the Claude Agent SDK' }),
  readProject: textReader('cwd'),
  readModel: textReader('message', 'model'),
  open: () => createStreamSession(createReader()),
};

function isUsual(record: JsonRecord): boolean {
  return stringAt(record, 'session_id') !== undefined && !isOfSession(record);
}

/** Whether a session of Claude Code has the record: its records are like those of a log in all else. */
function isOfSession(record: JsonRecord): boolean {
  return 'parentUuid' in record || 'sessionId' in record;
}

function isOwn(record: JsonRecord): boolean {
  if (!isUsual(record)) return false;
  switch (record['type']) {
    case 'user':
    case 'assistant':
      return isRecord(record['message']);
    case 'system':
    case 'result':
      return stringAt(record, 'subtype') !== undefined;
    case 'stream_event':
      return isRecord(record['event']);
    default:
      return false;
  }
}

function createReader(): StreamReader {
  const answerLines = new Map<string, number>();
  const runs = new Map<string, number>(); // by session: the line where its latest run begins
  const streaming = new Map<string, string>(); // by thread: the answer whose parts are coming in
  return {
    conversationOf: (record) => stringAt(record, 'session_id'),
    namesOnlyStarts: false,
    isStart: isInit,
    // A log may hold the same run twice, so the run is part of an answer's key.
    keyOf: (record, line) => {
      const session = stringAt(record, 'session_id') ?? '';
      if (isInit(record)) runs.set(session, line);
      const isPiece = record['type'] === 'stream_event';
      const ownId = record['type'] === 'assistant' ? stringAt(record, 'message', 'id') : undefined;
      const id = isPiece ? pieceId(record, streaming) : ownId;
      if (id === undefined) return undefined;
      const key = `${id} ${runs.get(session) ?? 0}`;
      if (!isPiece && !answerLines.has(key)) answerLines.set(key, line);
      return key;
    },
    read,
    anchorOf: (key) => answerLines.get(key),
    renderSummary: ({ text, firstKept, lastDropped, uuid }) => ({
      type: 'user',
      message: { role: 'user', content: text },
      parent_tool_use_id: null,
      session_id: valueAt([firstKept, lastDropped].find(isRecord), 'session_id') ?? '',
      uuid: uuid('summary'),
      timestamp: valueAt(lastDropped, 'timestamp'),
      isSynthetic: true,
    }),
  };
}

function isInit(record: JsonRecord): boolean {
  return record['type'] === 'system' && record['subtype'] === 'init';
}

/** A `stream_event` names its answer only where it begins, in older versions. */
function pieceId(record: JsonRecord, streaming: Map<string, string>): string | undefined {
  const thread = `${stringAt(record, 'session_id')} ${stringAt(record, 'parent_tool_use_id') ?? ''}`;
  const isStart = stringAt(record, 'event', 'type') === 'message_start';
  const begins = isStart ? stringAt(record, 'event', 'message', 'id') : undefined;
  if (begins !== undefined) streaming.set(thread, begins);
  return begins ?? streaming.get(thread);
}

function read(record: JsonRecord, { line, key }: RecordPlace): Decoded | RecordProblem {
  const { type } = record;
  if (isOfSession(record)) return { kind: 'meta' }; // a file with such messages is refused as mixed
  if (type === 'tool_call') return readCursorCall(record, line);
  if (type === 'result') return { kind: 'meta', latestKey: 'result' };
  if (type !== 'user' && type !== 'assistant') return { kind: 'meta', ...(isInit(record) && { latestKey: 'init' }) };
  const who = type === 'user' ? 'a user' : 'an assistant';
  const { message } = record;
  if (!isRecord(message)) return { problem: `${who} record without a message` };
  const content = message['content'];
  if (typeof content !== 'string' && !isList(content))
    return { problem: `${who} record whose message's content is neither text nor a list` };
  const parts = readParts(content);
  const isUser = type === 'user';
  const isSummary = isUser && record['isSynthetic'] === true && isClipArchiveText(textOfParts(parts));
  const role = isSummary ? 'system' : !isUser ? 'assistant' : hasResult(content) ? 'tool' : 'user';
  // A subagent's prompts come from a model, and synthetic messages from the program.
  const isFromPerson = (record['parent_tool_use_id'] ?? null) === null && isUser && record['isSynthetic'] !== true;
  const isTyped = isFromPerson && isTypedPrompt(record, content);
  const typed = isTyped ? typedPrompt(record, content) : undefined;
  return say(
    { line, id: stringAt(record, 'uuid'), role, parts, at: readIsoTime(record['timestamp']), typed },
    { kind: isSummary ? 'summary' : 'message', groupKey: key, ...(isTyped && { isPrompt: true }) },
  );
}

/**
 * Cursor's agent prints the same stream, with its tool calls in records of their own: `{type: 'tool_call', subtype:
 * 'started' | 'completed', call_id, tool_call: {readToolCall: {args, result?}}}`.
 */
function readCursorCall(record: JsonRecord, line: number): Decoded | RecordProblem {
  const id = stringAt(record, 'call_id');
  const { tool_call: call } = record;
  if (id === undefined || !isRecord(call)) return { problem: 'a tool_call record without a call_id or a call' };
  const [name = '', details = null] = Object.entries(call)[0] ?? [];
  const { args, result } = recordAt(details);
  if (record['subtype'] !== 'completed')
    return say({ line, role: 'assistant', parts: [callPart(id, name, argumentText(args))] });
  const isError = isRecord(result) && !('success' in result);
  return say({ line, role: 'tool', parts: [resultPart(id, readPartText(result), isError)] });
}
