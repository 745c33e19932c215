import type { ConversationMessage, MessagePart } from '../../../core/message.ts';
import { isClipArchiveText } from '../../../core/split.ts';
import type { Decoded } from '../../../core/transcript.ts';
import type { Codec, RecordProblem } from '../../../ports/codec.ts';
import { isRecord, type JsonRecord, readIsoTime, stringAt } from '../json.ts';
import { argumentText, contentText, listCalls, readPartText, textOfParts, withTyped } from '../message-parts.ts';
import { createStreamSession, detectStream, type RecordPlace, type StreamReader } from './session.ts';

/** What `gemini -o stream-json` prints: events of a run, one a line. */
export const geminiStream: Codec = {
  format: {
    name: 'gemini-stream',
    title: 'output of gemini -o stream-json',
    summary: 'logs of gemini -o stream-json; several runs in one file too',
    checked:
      'logs that Gemini CLI 0.61.0 wrote; nothing reads them back; each event that stays is compared byte for byte, and the last result stays',
    layout: { kind: 'lines', links: 'order', summaryPlace: 'before-kept' },
  },
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
    renderSummary: ({ text, lastDropped, firstKept }) => {
      const times = [lastDropped, firstKept].map((record) =>
        isRecord(record) ? stringAt(record, 'timestamp') : undefined,
      );
      const timestamp = times.find((time) => time !== undefined);
      return { type: 'message', ...(timestamp !== undefined && { timestamp }), role: 'user', content: text };
    },
  };
}

function read(record: JsonRecord, place: RecordPlace): Decoded | RecordProblem {
  switch (record['type']) {
    case 'message':
      return readMessage(record, place);
    case 'tool_use':
    case 'tool_result':
      return readTool(record, place.line);
    case 'error': {
      const callId = `line:${place.line}`;
      const text = readPartText(record['message']);
      const message = createMessage(record, place.line, [{ kind: 'result', callId, text, isError: true }]);
      return { kind: 'message', message: { ...message, role: 'tool', tool_call_id: callId } };
    }
    case 'init':
      return { kind: 'meta', latestKey: 'init' };
    case 'result':
      return { kind: 'meta', latestKey: 'result' };
    default:
      return { kind: 'meta' };
  }
}

function readMessage(record: JsonRecord, { line, key }: RecordPlace): Decoded | RecordProblem {
  const role = stringAt(record, 'role');
  if (role === undefined) return { problem: 'a message without a role' };
  const content = contentText(record['content'], '');
  const message = createMessage(record, line, content === '' ? [] : [{ kind: 'text', text: content }]);
  if (role === 'assistant') {
    const isPiece = key !== undefined;
    return {
      kind: 'message',
      ...(isPiece && { groupKey: key }),
      message: { ...message, role: 'assistant', ...(isPiece && { pieceOf: key }) },
    };
  }
  if (role === 'user' && isClipArchiveText(content)) {
    return { kind: 'summary', isUnmarked: true, message: { ...message, role: 'system' } };
  }
  const isTyped = role === 'user' && content.trim() !== '';
  return {
    kind: 'message',
    ...(isTyped && { isPrompt: true }),
    message: withTyped({ ...message, role: 'user' as const }, isTyped ? content : undefined),
  };
}

function readTool(record: JsonRecord, line: number): Decoded | RecordProblem {
  const id = stringAt(record, 'tool_id');
  if (id === undefined) return { problem: `a ${stringAt(record, 'type')} event without a tool_id` };
  if (record['type'] === 'tool_use') {
    const name = stringAt(record, 'tool_name') ?? '';
    const parts = [{ kind: 'call', id, name, arguments: argumentText(record['parameters']) }] as const;
    const message = createMessage(record, line, parts);
    return { kind: 'message', calls: [id], message: { ...message, role: 'assistant', ...listCalls(parts) } };
  }
  const { error, status } = record;
  const output = contentText(record['output'], '');
  const reason = isRecord(error) ? readPartText(error['message']) : '';
  // The reason of a failure mostly begins with the output.
  const text = reason.includes(output) ? reason : [output, reason].filter((one) => one !== '').join('\n');
  const part = { kind: 'result', callId: id, text, isError: status === 'error' } as const;
  const message = createMessage(record, line, [part]);
  return { kind: 'message', results: [id], message: { ...message, role: 'tool', tool_call_id: id } };
}

function createMessage(
  record: JsonRecord,
  line: number,
  parts: readonly MessagePart[],
): Omit<ConversationMessage, 'role'> {
  const created_at = readIsoTime(record['timestamp']);
  return { id: `line:${line}`, conversation_id: '', content: textOfParts(parts), created_at, parts };
}
