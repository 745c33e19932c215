/**
 * Whether a text that begins with its first visible character is the beginning of one JSON document that goes over many lines, or of an
 * array. A first line that was cut off is no document: a whole record follows it.
 */
export function looksLikeDocument(text: string): boolean {
  const [first = '', second] = text.split('\n', 2);
  if (first.startsWith('[')) return second === undefined || second.trim() === '' || !isJson(first);
  if (!first.startsWith('{') || second === undefined || isJson(first)) return false;
  if (first.trim() === '{') return true;
  return /[{[,:]\s*$/.test(first) && !isJson(second);
}

export function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    // Why it is none does not matter here.
    return false;
  }
}
