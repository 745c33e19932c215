import { estimateTokens } from './tokens.ts';

/** Splits messages into groups of `chunkSize`, in order. The last may be smaller. */
export function chunkMessages<T>(messages: readonly T[], chunkSize: number): readonly (readonly T[])[] {
  const size = chunkSize >= 1 ? Math.floor(chunkSize) : 1;
  const chunks: (readonly T[])[] = [];
  for (let start = 0; start < messages.length; start += size) chunks.push(messages.slice(start, start + size));
  return chunks;
}

/** Splits messages into groups of at most `maxTokens`, in order. A larger message stands alone. */
export function chunkMessagesByTokenBudget<T extends { readonly content: string }>(
  messages: readonly T[],
  maxTokens: number,
): readonly (readonly T[])[];
export function chunkMessagesByTokenBudget<T>(
  messages: readonly T[],
  maxTokens: number,
  tokensOf: (message: T) => number,
): readonly (readonly T[])[];
export function chunkMessagesByTokenBudget<T extends { readonly content: string }>(
  messages: readonly T[],
  maxTokens: number,
  tokensOf: (message: T) => number = (message) => estimateTokens(message.content),
): readonly (readonly T[])[] {
  const chunks: (readonly T[])[] = [];
  let start = 0;
  let tokens = 0;
  for (const [index, message] of messages.entries()) {
    const more = tokensOf(message);
    if (index > start && tokens + more > maxTokens) {
      chunks.push(messages.slice(start, index));
      start = index;
      tokens = 0;
    }
    tokens += more;
  }
  if (start < messages.length) chunks.push(messages.slice(start));
  return chunks;
}

/** Sorts a chunk chronologically. `positionOf` returns a message's place in the history. */
export function inTimeOrder<T>(chunk: readonly T[], positionOf: (message: T) => number): readonly T[] {
  return chunk
    .map((message) => ({ message, position: positionOf(message) }))
    .toSorted((a, b) => a.position - b.position)
    .map(({ message }) => message);
}

/**
 * Cuts the middle out of a text longer than `maxChars` and says how many characters (UTF-16 units) were left out. The result may exceed
 * `maxChars` only if the note alone does. Never splits a surrogate pair.
 */
export function cutMiddle(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const room = Math.max(0, Math.floor(maxChars) - leftOutMark(text.length).length);
  const headEnd = splitsPair(text, Math.ceil(room / 2)) ? Math.ceil(room / 2) - 1 : Math.ceil(room / 2);
  const tail = text.length - Math.floor(room / 2);
  const tailStart = splitsPair(text, tail) ? tail + 1 : tail;
  return text.slice(0, headEnd) + leftOutMark(tailStart - headEnd) + text.slice(tailStart);
}

function leftOutMark(chars: number): string {
  return `\n[... ${chars} characters left out ...]\n`;
}

function splitsPair(text: string, at: number): boolean {
  return /^[\ud800-\udbff][\udc00-\udfff]$/.test(text.slice(Math.max(0, at - 1), at + 1));
}
