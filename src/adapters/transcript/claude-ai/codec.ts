import type { Codec } from '../../../ports/codec.ts';
import { isList } from '../json.ts';
import { detectConversations } from '../listed/detection.ts';
import { createListRecords } from '../listed/records.ts';
import { createSession } from './session.ts';

/** `conversations.json` of a Claude.ai export: a list of conversations with their messages. */
export const claudeAi: Codec = {
  format: {
    name: 'claude-ai',
    title: 'Claude.ai export',
    summary: 'conversations.json of a Claude.ai export',
    checked: 'nothing reads it back; the result is an export of the same shape, kept messages byte for byte',
    isChain: false,
    isDocument: true,
    lastStays: true,
  },
  records: createListRecords({ unit: 'element', kind: 'list', keys: ['chat_messages'] }),
  detect: ([beginning = null]) =>
    detectConversations(beginning, {
      wanted: 'a list "chat_messages"',
      isConversation: (value) => isList(value['chat_messages']),
    }),
  open: createSession,
};
