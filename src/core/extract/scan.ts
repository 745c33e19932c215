import { CHARACTER, classAt, classOf } from './character.ts';
import { emitTechnical } from './technical.ts';
import type { Span } from './sentence.ts';

/** What a scan finds, in order. Words come as written; tokens are technical names under a key that their variants share. */
export type ScanSink = {
  readonly word: (word: string, isCapitalized: boolean) => void;
  readonly token: (key: string) => void;
};

const { lower, upper, digit, joiner, apostrophe } = CHARACTER;
const RUN = lower | upper | digit | joiner;
const BACKSLASH = 92;
const BACKQUOTE = 96;
const COLON = 58;
const COMMA = 44;

/** Finds the words and technical tokens of a stretch of text in one pass. `escapes`: it is JSON, where `\n` parts words. */
export function scanText(text: string, { start, end }: Span, { sink, escapes }: { sink: ScanSink; escapes: boolean }): void {
  let i = start;
  while (i < end) {
    const code = text.charCodeAt(i);
    const first = code < 128 ? classOf(code) : classAt(text, i);
    if ((first & RUN) === 0) {
      if (escapes && code === BACKSLASH) i += 2;
      else {
        if (code === BACKQUOTE) emitQuoted(text, i, end, sink);
        i += 1;
      }
      continue;
    }
    let bits = 0;
    let innerUpper = false;
    let wide = false;
    let at = i;
    while (at < end) {
      const unit = text.charCodeAt(at);
      const kind = unit < 128 ? classOf(unit) : classAt(text, at);
      if ((kind & RUN) === 0 && !joinsDigits(text, at, end)) break;
      if (kind === upper && at > i) innerUpper = true;
      if (unit > 0x0e00) wide = true;
      bits |= kind;
      at += 1;
    }
    if ((bits & joiner) === 0 && (bits & digit) === 0 && !innerUpper && !wide) {
      sink.word(text.slice(i, at), first === upper);
    } else {
      at = emitTechnical(text, { start: i, end: at, limit: end }, { sink, wide });
    }
    i = at;
    // "Caroline's", "don't": the word is what stands before.
    if (i + 1 < end && classOf(text.charCodeAt(i)) === apostrophe && (bits & (lower | upper)) !== 0) i = afterTail(text, i, end);
  }
}

/** The colon of 12:30, the comma of 1,000. */
function joinsDigits(text: string, at: number, end: number): boolean {
  const code = text.charCodeAt(at);
  if (code !== COLON && code !== COMMA) return false;
  return at + 1 < end && isDigitCode(text.charCodeAt(at - 1)) && isDigitCode(text.charCodeAt(at + 1));
}

function isDigitCode(code: number): boolean {
  return code >= 48 && code <= 57;
}

function afterTail(text: string, at: number, end: number): number {
  let i = at + 1;
  while (i < end && i <= at + 3 && classAt(text, i) === lower) i += 1;
  const isTail = i > at + 1 && i <= at + 3 && (i === end || (classAt(text, i) & RUN) === 0);
  return isTail ? i : at + 1;
}

const MIN_QUOTED_CHARS = 3;
const MAX_QUOTED_CHARS = 60;

function emitQuoted(text: string, at: number, end: number, sink: ScanSink): void {
  const close = text.indexOf('`', at + 1);
  if (close < 0 || close >= end) return;
  const length = close - at - 1;
  if (length < MIN_QUOTED_CHARS || length > MAX_QUOTED_CHARS) return;
  const quoted = text.slice(at + 1, close);
  if (quoted.trim() === quoted && /[^\p{L}]/u.test(quoted)) sink.token(quoted);
}
