import { isClipArchiveText } from '../../../core/split.ts';
import type { Decoded } from '../../../core/transcript.ts';
import type { Codec, RecordProblem } from '../../../ports/codec.ts';
import { FORMATS } from '../formats.ts';
import { type JsonRecord, readIsoTime, stringAt, valueAt } from '../json.ts';
import { argumentText, contentText, joinTexts, readPartText } from '../message-parts.ts';
import { callPart, firstText, resultPart, type SaidPlace, say, textParts } from '../said.ts';
import { createStreamSession, detectStream, type RecordPlace, type StreamReader } from './session.ts';

/** What `gemini -o stream-json` prints: events of a run, one a line. */
export const geminiStream: Codec = {
  format: FORMATS.geminiStream,
  detect: (sample) => detectStream(sample, { isOwn, isUsual, what: 'events of gemini -o stream-json' }),
  open: () => createStreamSession(createReader()),
};

function isOwn(record: JsonRecord): boolean {
  const has = (...keys: readonly string[]): boolean => keys.every((key) => stringAt(record, key) !== undefined);
  switch (record['type']) {
    case 'init':
      return has('session_id', 'model');
    case 'tool_use':
      return has('tool_name', 'tool_id');
    case 'tool_result':
      return has('tool_id', 'status');
    case 'message':
      return has('timestamp', 'role') && record['delta'] === true;
    default:
      return false;
  }
}

function isUsual(record: JsonRecord): boolean {
  const type = stringAt(record, 'type') ?? '';
  return ['message', 'error', 'result'].includes(type) && stringAt(record, 'timestamp') !== undefined;
}

function createReader(): StreamReader {
  const answer = { key: '' }; // of the answer whose pieces are coming in
  return {
    conversationOf: (record) => (record['type'] === 'init' ? stringAt(record, 'session_id') : undefined),
    namesOnlyStarts: true,
    isStart: ({ type }) => type === 'init',
    keyOf: (record, line) => {
      const isPiece = record['type'] === 'message' && record['delta'] === true;
      if (!isPiece) answer.key = '';
      else if (answer.key === '') answer.key = `answer ${line} ${stringAt(record, 'timestamp') ?? ''}`;
      return isPiece ? answer.key : undefined;
    },
    read,
    anchorOf: () => undefined,
    renderSummary: ({ text, lastDropped, firstKept }) => ({
      type: 'message',
      timestamp: firstText('timestamp', lastDropped, firstKept),
      role: 'user',
      content: text,
    }),
  };
}

function read(record: JsonRecord, place: RecordPlace): Decoded | RecordProblem {
  switch (record['type']) {
    case 'message':
      return readMessage(record, place);
    case 'tool_use':
    case 'tool_result':
      return readTool(record, place);
    case 'error': {
      const parts = [resultPart(`line:${place.line}`, readPartText(record['message']), true)];
      return say({ ...placeOf(record, place), role: 'tool', parts }, { results: undefined });
    }
    case 'init':
      return { kind: 'meta', latestKey: 'init' };
    case 'result':
      return { kind: 'meta', latestKey: 'result' };
    default:
      return { kind: 'meta' };
  }
}

function placeOf(record: JsonRecord, { line }: RecordPlace): SaidPlace {
  return { line, at: readIsoTime(record['timestamp']) };
}

function readMessage(record: JsonRecord, place: RecordPlace): Decoded | RecordProblem {
  const role = stringAt(record, 'role');
  if (role === undefined) return { problem: 'a message without a role' };
  const content = contentText(record['content'], '');
  const said = { ...placeOf(record, place), parts: textParts([content]) };
  if (role === 'assistant') {
    const decoded = say({ ...said, role });
    const { key } = place;
    return key === undefined ? decoded : { ...decoded, groupKey: key, message: { ...decoded.message, pieceOf: key } };
  }
  if (role === 'user' && isClipArchiveText(content))
    return say({ ...said, role: 'system' }, { kind: 'summary', isUnmarked: true });
  const isTyped = role === 'user' && content.trim() !== '';
  return say({ ...said, role: 'user', typed: isTyped ? content : undefined }, isTyped ? { isPrompt: true } : {});
}

function readTool(record: JsonRecord, place: RecordPlace): Decoded | RecordProblem {
  const id = stringAt(record, 'tool_id');
  if (id === undefined) return { problem: `a ${stringAt(record, 'type')} event without a tool_id` };
  const at = placeOf(record, place);
  if (record['type'] === 'tool_use') {
    const call = callPart(id, stringAt(record, 'tool_name') ?? '', argumentText(record['parameters']));
    return say({ ...at, role: 'assistant', parts: [call] });
  }
  const output = contentText(record['output'], '');
  const reason = readPartText(valueAt(record, 'error', 'message'));
  // The reason of a failure mostly begins with the output.
  const text = reason.includes(output) ? reason : joinTexts([output, reason]);
  return say({ ...at, role: 'tool', parts: [resultPart(id, text, record['status'] === 'error')] });
}
