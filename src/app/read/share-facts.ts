import type { Decoded } from '../../core/transcript.ts';

/** Ids that are named again are named soon: a parent by its children, a call by its result, a conversation by every line. */
const MAX_REMEMBERED = 2_000;

/**
 * Lets equal ids of records that stand near each other be one string. Every parsed line has strings of its own, and the table of a
 * transcript's lines keeps half a dozen a line.
 */
export function createFactSharer(): (decoded: Decoded) => Decoded {
  const recent = new Map<string, string>();
  const share = (text: string): string => {
    const known = recent.get(text);
    if (known !== undefined) return known;
    if (recent.size >= MAX_REMEMBERED) recent.clear();
    recent.set(text, text);
    return text;
  };
  return (decoded) => {
    const { conversation, recordId, parentId, calls, results, groupKey, message } = decoded;
    return {
      ...decoded,
      ...(conversation !== undefined && { conversation: share(conversation) }),
      ...(recordId !== undefined && { recordId: share(recordId) }),
      ...(typeof parentId === 'string' && { parentId: share(parentId) }),
      ...(calls !== undefined && { calls: calls.map(share) }),
      ...(results !== undefined && { results: results.map(share) }),
      ...(groupKey !== undefined && { groupKey: share(groupKey) }),
      ...(message !== undefined && { message: { ...message, id: share(message.id) } }),
    };
  };
}
