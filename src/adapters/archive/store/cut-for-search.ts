/**
 * Only the first 200,000 characters of a message are searchable; nobody writes more by hand. The archived line is
 * complete.
 */
export const MAX_SEARCH_CHARS = 200_000;

export function cutForSearch(text: string): string {
  if (text.length <= MAX_SEARCH_CHARS) return text;
  const cut = `${text.slice(0, MAX_SEARCH_CHARS)}\n`;
  // Until a character of it is read, V8 only notes where the piece is, and keeps the long text for it.
  return Number.isNaN(cut.charCodeAt(0)) ? '' : cut;
}
