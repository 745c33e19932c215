const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;

/**
 * A short name for the words of a message, by which the record that repeats them is found near it. White space does not count: a message
 * has one part for each thing typed, its mirror one text. Two texts with one name do no harm but where they stand next to each other.
 */
export function wordsKey(role: string, text: string): string {
  const words = text.replace(/\s+/g, '');
  let hash = FNV_OFFSET;
  for (let at = 0; at < words.length; at += 1) hash = Math.imul(hash ^ words.charCodeAt(at), FNV_PRIME);
  return `${role}:${words.length}:${(hash >>> 0).toString(36)}`;
}
