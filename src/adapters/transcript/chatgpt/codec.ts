import type { Codec } from '../../../ports/codec.ts';
import { isRecord } from '../json.ts';
import { detectConversations } from '../listed/detection.ts';
import { createListRecords } from '../listed/records.ts';
import { createSession } from './session.ts';

/** `conversations.json` of a ChatGPT export: a list of conversations, each a tree of messages. */
export const chatGpt: Codec = {
  format: {
    name: 'chatgpt',
    title: 'ChatGPT export',
    summary: 'conversations.json of a ChatGPT export',
    checked:
      'nothing reads it back; the result is an export of the same shape, every tree whole, kept messages byte for byte',
    isChain: true,
    isDocument: true,
  },
  records: createListRecords({ unit: 'element', kind: 'members', keys: ['mapping'] }),
  detect: ([beginning = null]) =>
    detectConversations(beginning, {
      wanted: 'an object "mapping"',
      isConversation: (value) => isRecord(value['mapping']),
    }),
  open: createSession,
};
