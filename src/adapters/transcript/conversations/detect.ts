import type { Detection, Json } from '../../../ports/codec.ts';
import { isList, isRecord, stringAt } from '../json.ts';

/** Where the messages of a conversation stand; the first that is a list counts. */
export const LIST_KEYS = ['messages', 'conversations'] as const;

/** How sure it is that these are lines with a conversation in each. */
export function detectConversations(sample: readonly Json[]): Detection {
  if (sample.length === 0) return { confidence: 0, reason: 'there is no record to tell by' };
  return tellConversations(sample);
}

/** The share of values that hold a conversation; the last one may be cut off. */
export function tellConversations(values: readonly Json[]): Detection {
  const lists = values.flatMap((value) => {
    const list = isRecord(value) ? LIST_KEYS.map((key) => value[key]).find(isList) : undefined;
    return list === undefined ? [] : [list];
  });
  if (lists.length === 0) return { confidence: 0, reason: 'no record has a list "messages" or "conversations"' };
  const spoken = lists.filter((list) => list.some(isSpoken)).length;
  if (spoken === 0) return { confidence: 0, reason: 'the lists hold no messages with a role, or with from and value' };
  const reason = `${spoken} ${spoken === 1 ? 'record' : 'records'} with a list of messages`;
  return { confidence: spoken >= values.length / 2 ? 0.85 : 0.5, reason };
}

/** Also what is left of a message that was cut off. */
function isSpoken(element: Json): boolean {
  return isRecord(element) && (stringAt(element, 'role') ?? stringAt(element, 'from')) !== undefined;
}
