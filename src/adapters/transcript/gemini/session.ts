import type { ConversationMessage } from '../../../core/message.ts';
import type { Decoded, Entry } from '../../../core/transcript.ts';
import type { CodecSession, ContextView, CutProblem, Json, RecordProblem } from '../../../ports/codec.ts';
import type { JsonRecord } from '../json.ts';
import { withoutTyped } from '../typed-text.ts';
import { createAnswers } from './answers.ts';
import { decodeCheckpoint, kindOfCheckpoint, readCheckpoint } from './checkpoint.ts';
import { type LineNote, readContext } from './context.ts';
import { createLog, type LogRecord } from './log.ts';
import { readMessage } from './message.ts';
import { type LogLine, readLogLine } from './record.ts';
import { renderSummary } from './render.ts';

const METADATA_WITH_MESSAGES = 'its metadata holds messages, as the documents of older versions of Gemini CLI do';

/** Keeps the log of the messages: what a line means depends on the lines before it, and what becomes of it on those after. */
export function createSession(): CodecSession {
  const log = createLog();
  const notes = new Map<number, LineNote>();
  const seen = { headerLine: 0, lastLine: 0, isSubagent: false };
  const answers = createAnswers();
  const note = (line: number, found: LineNote): void => {
    notes.set(line, found);
    seen.lastLine = line;
  };

  const decodeMessage = (id: string, record: JsonRecord, line: number): Decoded | RecordProblem => {
    const reading = readMessage(record, line);
    if ('problem' in reading) return reading;
    const { decoded, key } = reading;
    if (line > seen.lastLine) {
      const repeats = answers.toldAt(reading);
      const isSummary = decoded.kind === 'summary' && (log.firstSaid()?.id ?? id) === id;
      const entry: LogRecord = { kind: 'message', id, key, isSaid: decoded.kind !== 'meta' && repeats === null };
      log.add(entry, line);
      answers.add(reading, line);
      note(line, { record: entry, ...(repeats !== null && { repeats }), isSummary });
    }
    if (notes.get(line)?.repeats !== undefined) return { kind: 'meta' };
    const isClip = decoded.kind === 'summary' && notes.get(line)?.isSummary !== false;
    return decoded.kind === 'summary' && !isClip ? { ...decoded, kind: 'message' } : decoded;
  };
  const decodeList = (messages: readonly Json[], line: number): Decoded => {
    const isNew = line > seen.lastLine;
    const read = readCheckpoint(messages, { line, answers: isNew ? answers : createAnswers() });
    const told = (positions: readonly number[]): readonly ConversationMessage[] =>
      positions.flatMap((position) => read[position]?.message ?? []);
    if (isNew) {
      const record: LogRecord = { kind: 'checkpoint', messages: read.map(({ known }) => known) };
      const only = log.add(record, line);
      const first = log.firstSaid()?.lines.at(-1) ?? 0;
      note(line, { record, only, checkpoint: kindOfCheckpoint(told(only), notes.get(first)?.isSummary === true) });
    }
    const { only = [...read.keys()], checkpoint = 'summary' } = notes.get(line) ?? {};
    return decodeCheckpoint(told(only), checkpoint, line);
  };
  const decodeMetadata = (found: Extract<LogLine, { kind: 'metadata' }>, line: number): Decoded => {
    const isFirst = seen.headerLine === 0 && log.firstSaid() === null;
    if (isFirst && line > seen.lastLine) seen.headerLine = line;
    const facts = found.messages.length > 0 ? { obstacle: METADATA_WITH_MESSAGES } : {};
    if (line !== seen.headerLine) return { kind: 'meta', pin: 'metadata', ...facts };
    seen.isSubagent = found.isSubagent;
    return { kind: 'header', conversation: found.sessionId, ...facts };
  };
  const decode = (value: Json, line: number): Decoded | RecordProblem => {
    const found = readLogLine(value);
    switch (found.kind) {
      case 'message': {
        const decoded = decodeMessage(found.id, found.record, line);
        return seen.isSubagent && !('problem' in decoded) ? withoutTyped(decoded) : decoded;
      }
      case 'checkpoint':
        return decodeList(found.messages, line);
      case 'metadata':
        return decodeMetadata(found, line);
      case 'rewind':
        if (line > seen.lastLine) {
          log.add(found, line);
          note(line, { record: found });
        }
        return { kind: 'meta' };
      case 'update':
        return { kind: 'meta', pin: `$set ${found.keys.join(' ')}` };
      default:
        return { kind: 'meta' };
    }
  };
  return {
    decode,
    readContext: (entries: readonly Entry[]): ContextView => readContext(entries, notes),
    legalCuts: (entries) => legalCuts(entries, readContext(entries, notes)),
    renderSummary: (input) => [renderSummary(input)],
  };
}

/** Order is everything in a session: any message can be the first that stays, but after a checkpoint that would take its place. */
function legalCuts(entries: readonly Entry[], { isStale }: ContextView): (line: number) => CutProblem {
  const obstacle = entries.find((entry) => entry.obstacle !== undefined)?.obstacle ?? null;
  const checkpoint = entries.findLast((entry) => entry.hidesBefore === true && !isStale(entry))?.line ?? 0;
  return (line) => obstacle ?? (line > checkpoint ? null : 'Gemini CLI noted all messages anew after it');
}
