import { CHARACTER, classAt, classOf } from './character.ts';
import type { Span } from './sentence.ts';
import { readRun, readUrl, type Run } from './technical.ts';

/** What a scan finds, in order. */
export type ScanSink = {
  /** A plain word as written. */
  readonly word: (word: string, isCapitalized: boolean) => void;
  /** A run that is more than a plain word. */
  readonly run: (run: Run) => void;
};

const { lower, upper, digit, joiner, apostrophe } = CHARACTER;
const IN_RUN = lower | upper | digit | joiner;
const BACKSLASH = 92;
const BACKQUOTE = 96;
const COLON = 58;
const COMMA = 44;
const FIRST_WIDE = 0x0e00;
const URL = /https?:\/\/[^\s"'`<>)\]}\\]+/y;

export type Scanner = (
  text: string,
  span: Span,
  options: { readonly sink: ScanSink; readonly escapes: boolean },
) => void;

/**
 * Makes a scanner, which finds the words and technical names of a stretch of text in one pass and remembers the names that it has read.
 * `escapes`: the text is JSON, where `\n` parts words.
 */
export function createScanner(): Scanner {
  const runs = new Map<string, Run>();
  const runOf = (raw: string): Run => {
    const known = runs.get(raw);
    if (known !== undefined) return known;
    const run = readRun(raw);
    runs.set(raw, run);
    return run;
  };
  return (text, { start, end }, { sink, escapes }) => {
    let i = start;
    while (i < end) {
      const code = text.charCodeAt(i);
      const first = code < 128 ? classOf(code) : classAt(text, i);
      if ((first & IN_RUN) === 0) {
        if (code === BACKQUOTE) emitQuoted(text, { start: i, end }, sink);
        i += escapes && code === BACKSLASH ? 2 : 1;
        continue;
      }
      let bits = first;
      let isPlain = code < FIRST_WIDE;
      let at = i + 1;
      for (; at < end; at += 1) {
        const unit = text.charCodeAt(at);
        const kind = unit < 128 ? classOf(unit) : classAt(text, at);
        if ((kind & IN_RUN) === 0 && !joinsDigits(text, at, end)) break;
        if (kind === upper || unit > FIRST_WIDE) isPlain = false;
        bits |= kind;
      }
      const raw = text.slice(i, at);
      if (text.charCodeAt(at) === COLON && raw.startsWith('http') && text.startsWith('://', at)) {
        at = Math.max(at, urlEnd(text, i, end));
        sink.run(readUrl(text.slice(i, at)));
      } else if (isPlain && (bits & (joiner | digit)) === 0) {
        sink.word(raw, first === upper);
      } else {
        sink.run(runOf(raw));
      }
      i = (bits & (lower | upper)) !== 0 ? afterTail(text, at, end) : at;
    }
  };
}

function urlEnd(text: string, start: number, limit: number): number {
  URL.lastIndex = start;
  const match = URL.exec(text);
  return match === null ? start : Math.min(limit, start + match[0].length);
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

const MAX_TAIL_CHARS = 2;

/** Behind the tail of "Carol's" and "don't": the word is what stands before. */
function afterTail(text: string, at: number, end: number): number {
  if (at >= end || classOf(text.charCodeAt(at)) !== apostrophe) return at;
  let i = at + 1;
  while (i < end && i <= at + MAX_TAIL_CHARS && classAt(text, i) === lower) i += 1;
  const isTail = i > at + 1 && (i === end || (classAt(text, i) & IN_RUN) === 0);
  return isTail ? i : at;
}

const MIN_QUOTED_CHARS = 3;
const MAX_QUOTED_CHARS = 60;

function emitQuoted(text: string, { start, end }: Span, sink: ScanSink): void {
  const close = text.indexOf('`', start + 1);
  const length = close - start - 1;
  if (close < 0 || close >= end || length < MIN_QUOTED_CHARS || length > MAX_QUOTED_CHARS) return;
  const quoted = text.slice(start + 1, close);
  if (quoted.trim() === quoted && /[^\p{L}]/u.test(quoted)) sink.run({ words: [], tokens: [quoted] });
}
