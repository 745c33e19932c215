import type { Codec, Format } from '../../../ports/codec.ts';
import { isList } from '../json.ts';
import { createListRecords } from '../listed/records.ts';
import type { UnitKind } from '../listed/units.ts';
import { detectConversations, LIST_KEYS, tellConversations } from './detect.ts';
import { createSession } from './session.ts';

const CHECKED = 'nothing reads them back; the result is parsed, and what stays is compared byte for byte';

/** `{messages: […]}` or ShareGPT's `{conversations: […]}`, one conversation a line. */
export const conversationLines: Codec = {
  ...codecFor('line', {
    name: 'conversation-lines',
    title: 'conversations, one a line',
    summary:
      'fine-tuning data ({messages}), ShareGPT ({conversations}): each line is compacted by itself, the others stay as they are',
  }),
  detect: detectConversations,
};

/** The same values as elements of one JSON list. */
export const conversationList: Codec = {
  ...codecFor('element', {
    name: 'conversation-list',
    title: 'a JSON list of conversations',
    summary: 'a .json file, a list of such values: each element is compacted by itself',
  }),
  detect: ([beginning]) => tellConversations(isList(beginning) ? beginning : []),
};

/** One such value that is the whole file. */
export const conversationDocument: Codec = {
  ...codecFor('file', {
    name: 'conversation-document',
    title: 'one conversation in a JSON file',
    summary:
      'a .json file [message, …], {messages: […]} or {conversations: […]}, as requests to chat models are stored',
  }),
  detect: ([beginning = null]) => tellConversations([isList(beginning) ? { messages: beginning } : beginning]),
};

function codecFor(unit: UnitKind, format: Pick<Format, 'name' | 'title' | 'summary'>): Omit<Codec, 'detect'> {
  return {
    format: { ...format, checked: CHECKED, isChain: false, lastStays: true, isDocument: unit !== 'line' },
    records: createListRecords({ unit, kind: 'list', keys: LIST_KEYS, orItself: unit === 'file' }),
    open: createSession,
  };
}
