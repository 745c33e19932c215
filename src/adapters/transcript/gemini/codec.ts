import type { ConversationMessage } from '../../../core/message.ts';
import { countOf } from '../../../core/tokens.ts';
import type { Decoded } from '../../../core/transcript.ts';
import type { Codec, CodecSession, Detection, Json, ListedFile, SummaryInput } from '../../../ports/codec.ts';
import { FORMATS } from '../formats.ts';
import { createListRecords } from '../json-list/records.ts';
import { firstIn, isList, isRecord, type JsonRecord, listOf, stringAt, textReader, valueAt } from '../json.ts';
import { asTitle, listedRecords } from '../listed-title.ts';
import { withoutTyped } from '../message-parts.ts';
import { firstText } from '../said.ts';
import { createSession as createPlainSession, notOurs } from '../session.ts';
import { createLog, type LineNote, type LogRecord, readContext } from './context.ts';
import {
  type CheckpointMessage,
  createAnswers,
  decodeCheckpoint,
  kindOfCheckpoint,
  type LogLine,
  type MessageReading,
  readCheckpoint,
  readLogLine,
  readMessage,
} from './decode.ts';

/** Sessions as Gemini CLI has logged them since 2026: `~/.gemini/tmp/<project>/chats/session-….jsonl`. */
export const gemini: Codec = {
  format: FORMATS.gemini,
  detect: detectGemini,
  readModel: textReader('model'),
  listedTitle,
  open: createSession,
};

const TYPES = new Set(['user', 'gemini', 'info', 'error', 'warning']);

/** How sure we are that these are records of a Gemini CLI session. */
function detectGemini(sample: readonly Json[]): Detection {
  const own = sample.filter(isOwn);
  if (own.length === 0) return notOurs('no record is a message, an update or the metadata of a session');
  if (sample.length === 1 && valueAt(own[0], 'messages') !== undefined)
    return notOurs('one document, as older versions of Gemini CLI wrote it, not a log');
  const hasMetadata = own.some((value) => readLogLine(value).kind === 'metadata');
  if (!hasMetadata && !own.some(isDistinctive))
    return { confidence: 0.3, reason: "messages like Gemini CLI's, but none from the model and no metadata" };
  const records = `${countOf(own.length, 'record')} of a session`;
  const confidence = own.length >= sample.length / 2 ? (hasMetadata ? 1 : 0.8) : 0.6;
  return { confidence, reason: `${records}${hasMetadata ? '' : ', but no metadata'}` };
}

function isOwn(value: Json): boolean {
  const line = readLogLine(value);
  if (line.kind !== 'message') return line.kind !== 'other';
  const { record } = line;
  return TYPES.has(stringAt(record, 'type') ?? '') && 'content' in record && !('role' in record);
}

/** Records that nobody else writes: rewinds and the like, answers of the model, and our summary. */
function isDistinctive(value: Json): boolean {
  const line = readLogLine(value);
  if (line.kind !== 'message' || line.record['type'] === 'gemini') return true;
  const reading = readMessage(line.record, 1);
  return 'decoded' in reading && reading.decoded.kind === 'summary';
}

const METADATA_WITH_MESSAGES = 'its metadata holds messages, as the documents of older versions of Gemini CLI do';

/** Keeps the log of the messages: a line's meaning depends on the lines before it, and what becomes of it on those after it. */
function createSession(): CodecSession {
  const log = createLog();
  const answers = createAnswers();
  const notes = new Map<number, LineNote>();
  const seen = { headerLine: 0, isSubagent: false };

  const noteMessage = (id: string, reading: MessageReading, line: number): void => {
    const { decoded, key } = reading;
    const repeats = answers.toldAt(reading);
    const isSummary = decoded.kind === 'summary' && (log.firstSaid()?.id ?? id) === id;
    const record: LogRecord = { kind: 'message', id, key, isSaid: decoded.kind !== 'meta' && repeats === null };
    log.add(record, line);
    answers.add(reading, line);
    notes.set(line, { record, ...(repeats !== null && { repeats }), isSummary });
  };
  const noteCheckpoint = (messages: readonly CheckpointMessage[], line: number): void => {
    const record: LogRecord = { kind: 'checkpoint', messages: messages.map(({ known }) => known) };
    const only = log.add(record, line);
    const first = log.firstSaid()?.lines.at(-1) ?? 0;
    const checkpoint = kindOfCheckpoint(pick(messages, only), notes.get(first)?.isSummary === true);
    notes.set(line, { record, only, checkpoint });
  };
  const noteMetadata = ({ isSubagent, messages }: Extract<LogLine, { kind: 'metadata' }>, line: number): void => {
    if (seen.headerLine === 0 && log.firstSaid() === null) seen.headerLine = line;
    if (line === seen.headerLine) seen.isSubagent = isSubagent;
    if (messages.length > 0) notes.set(line, { hasMessages: true });
  };

  const decodeMessage = ({ decoded }: MessageReading, line: number): Decoded => {
    const { repeats, isSummary = true } = notes.get(line) ?? {};
    if (repeats !== undefined) return { kind: 'meta' };
    const asRead: Decoded = decoded.kind === 'summary' && !isSummary ? { ...decoded, kind: 'message' } : decoded;
    return seen.isSubagent ? withoutTyped(asRead) : asRead;
  };
  const decodeList = (messages: readonly CheckpointMessage[], line: number): Decoded => {
    const { only = [...messages.keys()], checkpoint = 'summary' } = notes.get(line) ?? {};
    return decodeCheckpoint(pick(messages, only), checkpoint, line);
  };
  return createPlainSession({
    what: 'a message that is',
    read: (record, { line, isFirstPass }) => {
      const found = readLogLine(record);
      switch (found.kind) {
        case 'message': {
          const reading = readMessage(record, line);
          if ('problem' in reading) return reading;
          if (isFirstPass) noteMessage(found.id, reading, line);
          return decodeMessage(reading, line);
        }
        case 'checkpoint': {
          const messages = readCheckpoint(found.messages, { line, answers: isFirstPass ? answers : createAnswers() });
          if (isFirstPass) noteCheckpoint(messages, line);
          return decodeList(messages, line);
        }
        case 'metadata':
          if (isFirstPass) noteMetadata(found, line);
          if (line !== seen.headerLine) return { kind: 'meta', latestKey: 'metadata' };
          return { kind: 'header', conversation: found.sessionId };
        case 'rewind':
          if (isFirstPass) {
            log.add(found, line);
            notes.set(line, { record: found });
          }
          return { kind: 'meta' };
        case 'update':
          return { kind: 'meta', latestKey: `$set ${found.keys.join(' ')}` };
        default:
          return { kind: 'meta' };
      }
    },
    readContext: (entries) => readContext(entries, notes),
    // Only the order matters in a session: the kept part can begin at any message after the last checkpoint that would hide it.
    legalCuts: (entries) => {
      if (entries.some(({ line }) => notes.get(line)?.hasMessages === true)) return () => METADATA_WITH_MESSAGES;
      const { isStale } = readContext(entries, notes);
      const checkpoint = entries.findLast((entry) => entry.hidesBefore === true && !isStale(entry))?.line ?? 0;
      return (line) => (line > checkpoint ? null : 'Gemini CLI wrote all messages again after it');
    },
    // The client writes such an update when a model has summed up a session.
    renderSummary: (input) => [
      ...(input.listedAs === undefined ? [] : [JSON.stringify({ $set: { summary: input.listedAs } })]),
      renderSummary(input),
    ],
  });
}

/** What the messages at these positions say. */
function pick(messages: readonly CheckpointMessage[], positions: readonly number[]): readonly ConversationMessage[] {
  return positions.flatMap((position) => messages[position]?.message ?? []);
}

/** A user message as Gemini CLI 0.61 writes it, which it sends as the first one of the conversation. */
function renderSummary({ text, firstKept, lastDropped, uuid }: SummaryInput): string {
  const timestamp = firstText('timestamp', lastDropped, firstKept);
  const record = {
    id: uuid('summary'),
    ...(timestamp !== undefined && { timestamp }),
    type: 'user',
    content: [{ text }],
  };
  return JSON.stringify(record).replace(LINE_ENDS, (unit) => `\\u${unit.charCodeAt(0).toString(16)}`);
}

/**
 * JSON allows them, but Gemini CLI reads lines with `node:readline`, which ends a line at each of them: the record
 * would be lost.
 */
const LINE_ENDS = /[\u2028\u2029]/g;

/**
 * The title in the client's list, as @google/gemini-cli 0.61.0 finds it: the latest summary of the metadata, otherwise
 * the file's first user message that was meant for the model, even if it was taken back.
 */
function listedTitle(file: ListedFile): string | null {
  const beside = listedRecords(file, 'end', { isWanted: ({ kind }) => kind !== 'message' });
  const summary = firstIn(beside, (record) => summaryIn(record));
  if (summary !== null && summary !== '') return asTitle(summary);
  return asTitle(firstIn(listedRecords(file, 'start'), firstPromptIn));
}

function summaryIn(record: JsonRecord): string | null {
  const metadata = isRecord(record['$set']) ? record['$set'] : 'projectHash' in record ? record : {};
  return stringAt(metadata, 'summary') ?? null;
}

function firstPromptIn(record: JsonRecord): string | null {
  const update = isRecord(record['$set']) ? record['$set'] : record;
  const messages = isList(update['messages']) ? update['messages'] : [record];
  return firstIn(messages.filter(isRecord), promptText);
}

/** What the client adds or answers by itself. */
const NOT_SHOWN = /^(?:[/?]|<session_context>|<hook_context>)/;

function promptText(message: JsonRecord): string | null {
  if (message['type'] !== 'user' || stringAt(message, 'id') === undefined) return null;
  const { content } = message;
  const parts = listOf(content).map((part) => stringAt(part, 'text') ?? '');
  const text = typeof content === 'string' ? content : parts.join('');
  if (text.trim() === '' || NOT_SHOWN.test(text.trim())) return null;
  // The list shows only the printable characters of ASCII. A prompt without any is better than none.
  return asTitle(text.replace(/\s+/g, ' ').replace(/[^ -~]+/g, '')) ?? text;
}

/**
 * Sessions as Gemini CLI stored them before 2026: `~/.gemini/tmp/<project>/chats/session-….json`. On resuming one, it
 * makes a log of it.
 */
export const geminiDocument: Codec = {
  format: FORMATS.geminiDocument,
  records: createListRecords({ unit: 'file', kind: 'list', keys: ['messages'] }),
  detect: ([beginning = null]) => detectBeginning(beginning),
  readModel: textReader('model'),
  open: createDocumentSession,
};

function detectBeginning(beginning: Json): Detection {
  if (!isRecord(beginning)) return notOurs('it is not an object');
  const { sessionId, projectHash, messages } = beginning;
  if (typeof sessionId !== 'string' || typeof projectHash !== 'string')
    return notOurs('it has no sessionId and projectHash');
  if (!isList(messages)) return notOurs('it has no list "messages"');
  return { confidence: 1, reason: 'a session with sessionId, projectHash and messages' };
}

/**
 * Remembers whether this is a subagent's session. Every message can be read by itself: a call and its results are in
 * one message.
 */
function createDocumentSession(): CodecSession {
  let isSubagent = false;
  return createPlainSession({
    what: 'a message that is',
    read: (record, { line }) => {
      const reading = readMessage(record, line);
      if ('problem' in reading) return reading;
      return isSubagent ? withoutTyped(reading.decoded) : reading.decoded;
    },
    openList: (around) => {
      if (around['kind'] === 'subagent') isSubagent = true;
      return stringAt(around, 'sessionId');
    },
    renderSummary: (input) => [renderSummary(input)],
  });
}
