import type { Decoded, Entry } from '../../../core/transcript.ts';
import type { Codec, CodecSession, Json, RecordProblem } from '../../../ports/codec.ts';
import { detectConversations } from '../json-list/detect.ts';
import { createListRecords } from '../json-list/records.ts';
import { idAt, isRecord, stringAt } from '../json.ts';
import { refuseDeepNesting } from '../message-parts.ts';
import { buildTree, findCuts, readContext, type Tree } from './context.ts';
import { decodeNode } from './decode.ts';
import { renderSummary } from './render.ts';

/** `conversations.json` of a ChatGPT export: a list of conversations, each a tree of messages. */
export const chatGpt: Codec = {
  format: {
    name: 'chatgpt',
    title: 'ChatGPT export',
    summary: 'conversations.json of a ChatGPT export',
    checked:
      'nothing reads it back; the result is an export of the same shape, every tree whole, kept messages byte for byte',
    layout: { kind: 'document', links: 'parents' },
  },
  records: createListRecords({ unit: 'element', kind: 'members', keys: ['mapping'] }),
  detect: ([beginning = null]) =>
    detectConversations(beginning, {
      wanted: 'an object "mapping"',
      isConversation: (value) => isRecord(value['mapping']),
    }),
  open: createSession,
};

/** Remembers the current node of each conversation, by the line at which the conversation begins. */
function createSession(): CodecSession {
  const currentIds = new Map<number, string>();
  const treeOf = (entries: readonly Entry[]): Tree => buildTree(entries, currentIds.get(entries[0]?.line ?? 0));
  const decode = (value: Json): Decoded | RecordProblem =>
    refuseDeepNesting('a message that is', () => decodeNode(value));
  return {
    observe: decode,
    decode,
    openList: (around, line) => {
      if (!isRecord(around)) return {};
      const current = stringAt(around, 'current_node');
      if (current !== undefined) currentIds.set(line, current);
      const conversation = idAt(around, 'conversation_id') ?? idAt(around, 'id');
      return conversation === undefined ? {} : { conversation };
    },
    readContext: (entries) => readContext(treeOf(entries), entries),
    legalCuts: (entries) => findCuts(treeOf(entries)),
    renderSummary,
  };
}
