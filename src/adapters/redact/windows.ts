import type { Span } from './go-pattern.ts';

/** Before a keyword stands at most a name that ends with it; behind it stand signs, blanks and the secret. */
const CHARS_BEFORE = 128;
const CHARS_AFTER = 1024;
/** A window ends at white space, so that no key is cut; no key is longer. */
const MAX_KEY_CHARS = 4096;
/**
 * To find all matches of an expression can take the square of the text's length, even with a linear engine: each search may run to the
 * end and give up. So no search sees more than this.
 */
const MAX_WINDOW_CHARS = 16_384;
const OVERLAP_CHARS = 2048;

/**
 * The stretches of a text in which a rule can find something: around its keywords, or everywhere if it has none. Long stretches are
 * cut into overlapping ones. `folded` is the text in lower case, as are the keywords.
 */
export function windowsOf(folded: string, keywords: readonly string[]): readonly Span[] {
  const stretches = keywords.length === 0 ? [{ start: 0, end: folded.length }] : aroundKeywords(folded, keywords);
  return stretches.flatMap(cutLong);
}

function aroundKeywords(folded: string, keywords: readonly string[]): readonly Span[] {
  const places = keywords.flatMap((keyword) => placesOf(folded, keyword)).sort((a, b) => a - b);
  const stretches: { start: number; end: number }[] = [];
  for (const place of places) {
    const start = Math.max(0, place - CHARS_BEFORE);
    const last = stretches.at(-1);
    if (last !== undefined && place + CHARS_AFTER <= last.end) continue;
    const end = endOfWord(folded, place + CHARS_AFTER);
    if (last !== undefined && start <= last.end) last.end = end;
    else stretches.push({ start, end });
  }
  return stretches;
}

function placesOf(folded: string, keyword: string): readonly number[] {
  const places: number[] = [];
  // Places closer than this lie in the window of the one before.
  for (let at = folded.indexOf(keyword); at >= 0; at = folded.indexOf(keyword, at + Math.max(keyword.length, 64))) {
    places.push(at);
  }
  return places;
}

function endOfWord(text: string, from: number): number {
  if (from >= text.length) return text.length;
  const limit = Math.min(text.length, from + MAX_KEY_CHARS);
  for (let at = from; at < limit; at += 1) if (/\s/.test(text.charAt(at))) return at + 1;
  return limit;
}

function cutLong({ start, end }: Span): readonly Span[] {
  if (end - start <= MAX_WINDOW_CHARS) return [{ start, end }];
  const step = MAX_WINDOW_CHARS - OVERLAP_CHARS;
  const count = Math.ceil((end - start - OVERLAP_CHARS) / step);
  return Array.from({ length: count }, (_, index) => {
    const from = start + index * step;
    return { start: from, end: Math.min(end, from + MAX_WINDOW_CHARS) };
  });
}
