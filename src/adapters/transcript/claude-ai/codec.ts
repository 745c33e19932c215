import type { Codec, CodecSession } from '../../../ports/codec.ts';
import { detectConversations } from '../json-list/detect.ts';
import { createListRecords } from '../json-list/records.ts';
import { isList, isRecord, stringAt } from '../json.ts';
import { leadingSummaryLine } from '../message-parts.ts';
import { findBranches } from './context.ts';
import { decodeMessage } from './decode.ts';
import { renderSummary } from './render.ts';

/** `conversations.json` of a Claude.ai export: a list of conversations with their messages. */
export const claudeAi: Codec = {
  format: {
    name: 'claude-ai',
    title: 'Claude.ai export',
    summary: 'conversations.json of a Claude.ai export',
    checked: 'nothing reads it back; the result is an export of the same shape, kept messages byte for byte',
    layout: { kind: 'document', links: 'order' },
  },
  records: createListRecords({ unit: 'element', kind: 'list', keys: ['chat_messages'] }),
  detect: ([beginning = null]) =>
    detectConversations(beginning, {
      wanted: 'a list "chat_messages"',
      isConversation: (value) => isList(value['chat_messages']),
    }),
  open: createSession,
};

/** Every message can be read by itself: nothing is remembered. */
function createSession(): CodecSession {
  return {
    observe: decodeMessage,
    decode: decodeMessage,
    openList: (around) => {
      const conversation = isRecord(around) ? stringAt(around, 'uuid') : undefined;
      return conversation === undefined ? {} : { conversation };
    },
    readContext: (entries) => {
      const branches = findBranches(entries);
      return {
        priorLine: leadingSummaryLine(entries),
        isStale: ({ line }) => branches.has(line),
      };
    },
    legalCuts: () => () => null,
    renderSummary,
  };
}
