import type { Codec, CodecSession, Detection, Json } from '../../../ports/codec.ts';
import { isList, isRecord, stringAt } from '../json.ts';
import { leadingSummaryLine } from '../leading-summary.ts';
import { createListRecords } from '../listed/records.ts';
import { withoutTyped } from '../typed-text.ts';
import { readMessage } from './message.ts';
import { renderSummary } from './render.ts';

/** Sessions as Gemini CLI kept them before 2026: `~/.gemini/tmp/<project>/chats/session-….json`. It takes them up as logs. */
export const geminiDocument: Codec = {
  format: {
    name: 'gemini-document',
    title: 'Gemini CLI session, older',
    summary: 'older Gemini CLI sessions, one document each (~/.gemini/tmp/*/chats/*.json)',
    checked: 'compacted files resumed by Gemini CLI 0.61.0, which makes logs of them',
    places: [{ variable: 'GEMINI_CLI_HOME', base: '', folder: '.gemini/tmp/*/chats', file: '*.json' }],
    isChain: false,
    isDocument: true,
    lastStays: true,
  },
  records: createListRecords({ unit: 'file', kind: 'list', keys: ['messages'] }),
  detect: ([beginning = null]) => detectBeginning(beginning),
  open: createSession,
};

function detectBeginning(beginning: Json): Detection {
  if (!isRecord(beginning)) return { confidence: 0, reason: 'it is no object' };
  const { sessionId, projectHash, messages } = beginning;
  if (typeof sessionId !== 'string' || typeof projectHash !== 'string')
    return { confidence: 0, reason: 'it has no sessionId and projectHash' };
  if (!isList(messages)) return { confidence: 0, reason: 'it has no list "messages"' };
  return { confidence: 1, reason: 'a session with sessionId, projectHash and messages' };
}

/** Remembers whether a subagent's session is read. Every message tells all else that is needed of it: a call and its results stand in one. */
function createSession(): CodecSession {
  let isSubagent = false;
  return {
    decode: (value, line) => {
      if (!isRecord(value)) return { kind: 'meta' };
      const reading = readMessage(value, line);
      if ('problem' in reading) return reading;
      return isSubagent ? withoutTyped(reading.decoded) : reading.decoded;
    },
    openList: (around) => {
      if (isRecord(around) && around['kind'] === 'subagent') isSubagent = true;
      const conversation = isRecord(around) ? stringAt(around, 'sessionId') : undefined;
      return conversation === undefined ? {} : { conversation };
    },
    readContext: (entries) => ({ priorLine: leadingSummaryLine(entries), isStale: () => false }),
    legalCuts: () => () => null,
    renderSummary: (input) => [renderSummary(input)],
  };
}
