import type { Codec, CodecSession, Detection, Json } from '../../../ports/codec.ts';
import { createListRecords } from '../json-list/records.ts';
import { isList, isRecord, stringAt } from '../json.ts';
import { createLineNotes, withoutNote } from '../notes.ts';
import { readContext, type RequestNote } from './context.ts';
import { decodeMessage } from './decode.ts';
import { renderSummary } from './render.ts';

/** What `opencode export` writes and `opencode import` reads: one session. */
export const openCode: Codec = {
  format: {
    name: 'opencode',
    title: 'OpenCode session',
    summary: 'a session that opencode export wrote',
    checked: 'compacted sessions imported and resumed by OpenCode 1.18.33',
    marksTyped: true,
    layout: { kind: 'document', links: 'order' },
  },
  records: createListRecords({ unit: 'file', kind: 'list', keys: ['messages'] }),
  formsOf: (element) => [withoutPruning(element)],
  detect: ([beginning = null]) => detectExport(beginning),
  open: createSession,
};

/** A message without the times at which OpenCode left outputs of its tools out of the context. */
function withoutPruning(element: Json): Json {
  const parts = isRecord(element) ? (element['parts'] ?? null) : null;
  if (!isRecord(element) || !isList(parts)) return element;
  const asRun = parts.map((part) => {
    const state = isRecord(part) ? (part['state'] ?? null) : null;
    const time = isRecord(state) ? (state['time'] ?? null) : null;
    if (!isRecord(part) || !isRecord(state) || !isRecord(time)) return part;
    const { compacted: _, ...ran } = time;
    return { ...part, state: { ...state, time: ran } };
  });
  return { ...element, parts: asRun };
}

/** How sure we are that this is the beginning of a session written by `opencode export`. */
function detectExport(beginning: Json): Detection {
  if (!isRecord(beginning)) return { confidence: 0, reason: 'it is not an object' };
  const { info, messages } = beginning;
  if (!isRecord(info)) return { confidence: 0, reason: 'it has no object "info"' };
  if (!isList(messages)) return { confidence: 0, reason: 'it has no list "messages"' };
  const isSession = stringAt(info, 'id')?.startsWith('ses') === true;
  const first = messages[0];
  const hasParts = isRecord(first) && isRecord(first['info']) && isList(first['parts']);
  if (!isSession && !hasParts) return { confidence: 0, reason: 'its messages have no "info" and "parts"' };
  return { confidence: 1, reason: 'a session with "info" and "messages"' };
}

/** Remembers the messages that asked for a summary. */
function createSession(): CodecSession {
  const notes = createLineNotes<RequestNote>();
  return {
    observe: (value, line) => notes.keep(decodeMessage(value, line), line),
    decode: (value, line) => withoutNote(decodeMessage(value, line)),
    openList: (around) => {
      const info = isRecord(around) ? around['info'] : undefined;
      const conversation = isRecord(info) ? stringAt(info, 'id') : undefined;
      return conversation === undefined ? {} : { conversation };
    },
    readContext: (entries) => readContext(entries, notes.of),
    legalCuts: () => () => null,
    renderSummary,
  };
}
