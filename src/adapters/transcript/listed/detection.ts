import type { Detection, Json } from '../../../ports/codec.ts';
import { isList, isRecord, type JsonRecord } from '../json.ts';

/** How a kind of conversation is told. */
export type ConversationSign = {
  /** As a reason names it: `a list "chat_messages"`. */
  readonly wanted: string;
  readonly isConversation: (value: JsonRecord) => boolean;
};

/** Whether a document is a list of conversations of a kind; it may be cut off after some of them. */
export function detectConversations(beginning: Json, { wanted, isConversation }: ConversationSign): Detection {
  if (isRecord(beginning) && isConversation(beginning)) {
    return {
      confidence: 0,
      reason: `it is one conversation, and an export is a list of them; make it one: jq -c '[.]' FILE`,
    };
  }
  if (!isList(beginning)) return { confidence: 0, reason: 'it is no list of conversations' };
  if (beginning.length === 0) return { confidence: 0, reason: 'it is an empty list' };
  const found = beginning.filter((value) => isRecord(value) && isConversation(value)).length;
  if (found === 0) return { confidence: 0, reason: `no element of the list has ${wanted}` };
  return { confidence: 1, reason: `a list of conversations, each with ${wanted}` };
}
