import type { Codec, CodecSession, Detection, Json } from '../../../ports/codec.ts';
import { createListRecords } from '../json-list/records.ts';
import { isList, isRecord, stringAt } from '../json.ts';
import { readContext } from './context.ts';
import { decodeMessage } from './decode.ts';
import { renderSummary } from './render.ts';

/** What `opencode export` writes and `opencode import` reads: one session. */
export const openCode: Codec = {
  format: {
    name: 'opencode',
    title: 'OpenCode session',
    summary: 'a session that opencode export wrote',
    checked: 'compacted sessions imported and resumed by OpenCode 1.18.33',
    isChain: false,
    isDocument: true,
    lastStays: true,
  },
  records: createListRecords({ unit: 'file', kind: 'list', keys: ['messages'] }),
  detect: ([beginning = null]) => detectExport(beginning),
  open: createSession,
};

/** How sure it is that this is the beginning of a session that `opencode export` wrote. */
function detectExport(beginning: Json): Detection {
  if (!isRecord(beginning)) return { confidence: 0, reason: 'it is no object' };
  const { info, messages } = beginning;
  if (!isRecord(info)) return { confidence: 0, reason: 'it has no object "info"' };
  if (!isList(messages)) return { confidence: 0, reason: 'it has no list "messages"' };
  const isSession = stringAt(info, 'id')?.startsWith('ses') === true;
  const first = messages[0];
  const hasParts = isRecord(first) && isRecord(first['info']) && isList(first['parts']);
  if (!isSession && !hasParts) return { confidence: 0, reason: 'its messages have no "info" and "parts"' };
  return { confidence: 1, reason: 'a session with "info" and "messages"' };
}

/** Every message tells all that is needed of it: nothing is remembered. */
function createSession(): CodecSession {
  return {
    decode: decodeMessage,
    openList: (around) => {
      const info = isRecord(around) ? around['info'] : undefined;
      const conversation = isRecord(info) ? stringAt(info, 'id') : undefined;
      return conversation === undefined ? {} : { conversation };
    },
    readContext,
    legalCuts: () => () => null,
    renderSummary,
  };
}
