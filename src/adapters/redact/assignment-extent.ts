import type { ValueForm } from './assignment-value.ts';

const BARE = /[^\s"'`\\,;<>|&]{1,256}/y;
/** The value of an environment variable ends at a blank only. */
const ENVIRONMENT = /[^\s"'`\\&<>]{1,256}/y;
const REST = /[^\s"'`\\,;<>|&]*/y;
/** Enough to judge a value by; a longer one is read on only when it is a secret, or many that overlap would cost their square. */
const MAX_JUDGED_CHARS = 256;
const UNBALANCED_END = /[)\]}.,;]+$/;
/** Longer ones are certificates, pages, images. */
const MAX_QUOTED_CHARS = 8192;

/** Where an unquoted value ends; what closes a bracket around it, or a sentence, is no part of it. */
export function bareEnd(text: string, start: number, form: ValueForm): number {
  const pattern = form === 'environment' ? ENVIRONMENT : BARE;
  pattern.lastIndex = start;
  const value = pattern.exec(text)?.[0] ?? '';
  return start + (/[([{]/.test(value) ? value : value.replace(UNBALANCED_END, '')).length;
}

/** Where an unquoted value ends that goes on behind what `bareEnd` read of it. */
export function restEnd(text: string, { start, end }: { readonly start: number; readonly end: number }): number {
  if (end - start < MAX_JUDGED_CHARS) return end;
  REST.lastIndex = end;
  return end + (REST.exec(text)?.[0].length ?? 0);
}

/**
 * Where a value ends whose opening quote, with the backslashes before it, is `quote`; null where it is no single word (and should be), and
 * where it does not end.
 */
export function quotedEnd(
  text: string,
  start: number,
  { quote, isPhrase }: { readonly quote: string; readonly isPhrase: boolean },
): number | null {
  const mark = quote.replace(/^\\+/, '');
  const depth = quote.length - mark.length;
  const limit = Math.min(text.length, start + MAX_QUOTED_CHARS);
  for (let at = start; at < limit; at += 1) {
    const runStart = at;
    while (text.charAt(at) === '\\') at += 1;
    const slashes = at - runStart;
    if (text.startsWith(mark, at) && slashes <= depth) return runStart;
    const isLineEnd = slashes > 0 ? 'nr'.includes(text.charAt(at)) && at < text.length : /[\n\r]/.test(text.charAt(at));
    if (isLineEnd && mark.length === 1) return isPhrase ? null : cutAt(text, start, runStart);
    if (!isPhrase && /\s/.test(text.charAt(at))) return null;
  }
  return limit === text.length ? cutAt(text, start, limit) : null;
}

/** A value whose closing quote was cut off. */
function cutAt(text: string, start: number, end: number): number | null {
  return /\s/.test(text.slice(start, end)) ? null : end;
}
