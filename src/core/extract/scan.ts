import { CHARACTER, classAt, classOf } from './character.ts';
import type { Span } from './sentence.ts';
import { lazily } from '../lazy.ts';

/** Receives what a scan finds, in order. */
export type ScanSink = {
  /** A plain word as written. */
  readonly word: (word: string, isCapitalized: boolean) => void;
  /** A run of characters that is more than a plain word. */
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

type Scanner = (text: string, span: Span, options: { readonly sink: ScanSink; readonly escapes: boolean }) => void;

/**
 * Creates a scanner that finds the words and technical names in a span of text in one pass. It remembers the names that it has parsed.
 * `escapes`: the text is JSON, where `\n` separates words.
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

/** Whether this is the colon of 12:30 or the comma of 1,000. */
function joinsDigits(text: string, at: number, end: number): boolean {
  const code = text.charCodeAt(at);
  if (code !== COLON && code !== COMMA) return false;
  return at + 1 < end && isDigitCode(text.charCodeAt(at - 1)) && isDigitCode(text.charCodeAt(at + 1));
}

function isDigitCode(code: number): boolean {
  return code >= 48 && code <= 57;
}

const MAX_TAIL_CHARS = 2;

/** Skips the ending of "Carol's" and "don't", so that the word is what stands before the apostrophe. */
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

/** The words in a run of letters, digits and joiners, and the keys of its technical tokens. */
type Run = { readonly words: readonly string[]; readonly tokens: readonly string[] };

const FILE_EXTENSION =
  /\.(?:ts|tsx|js|mjs|cjs|jsx|py|go|rs|java|kt|c|h|cc|cpp|hpp|cs|rb|php|swift|scala|ex|exs|lua|sh|bash|zsh|fish|ps1|sql|md|rst|json|jsonl|ya?ml|toml|lock|ini|cfg|conf|txt|csv|tsv|html?|css|scss|vue|svelte|xml|proto|log|env|mod|sum|tf|ipynb|pdf|png|jpe?g|svg|zip|gz|db|sqlite)$/i;
const HASH = /^(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,64}$/;
const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;
const ERROR_NAME =
  /^(?:E[A-Z]{3,}|[A-Z][a-zA-Z]+(?:Error|Exception|Warning)|(?:TS|HTTP|SQLITE_|ERR_)[A-Z0-9_]+|SIG[A-Z]{2,})$/;
const CAMEL = /^(?:[a-z][a-z0-9]*[A-Z][A-Za-z0-9]*|[A-Z][a-z0-9]+[A-Z][A-Za-z0-9]*|[A-Z]{2,}[a-z][A-Za-z0-9]*)$/;
const SNAKE = /^_{0,2}[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)+$/;
const FLAG = /^--[a-z][a-z0-9-]+$/;
const NUMBER = /^v?\d+(?:[.,:]\d+)+$|^\d{2,}(?:%|ms|s|kb|mb|gb|px|k|m)?$/i;
/** No character of a script without spaces has a lower code. */
const WIDE_CODE = /[\u0e00-\uffff]/;
const WIDE_SCRIPT = lazily(
  () =>
    /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u,
);
const MAX_TOKEN_CHARS = 120;

/** Created on first use, because that alone takes some ten milliseconds. */
const segmenters: Intl.Segmenter[] = [];

function wordSegmenter(): Intl.Segmenter {
  const made = segmenters[0] ?? new Intl.Segmenter('und', { granularity: 'word' });
  segmenters[0] = made;
  return made;
}

/** Parses a run that is more than a plain word. Scripts without spaces are split by the segmenter's dictionary. */
function readRun(raw: string): Run {
  if (WIDE_CODE.test(raw) && WIDE_SCRIPT().test(raw)) {
    const segments = Array.from(wordSegmenter().segment(raw));
    return { words: segments.flatMap(({ segment, isWordLike }) => (isWordLike === true ? [segment] : [])), tokens: [] };
  }
  const tokens = FLAG.test(raw) ? [raw] : [];
  const name = withoutEdges(raw);
  if (name.length >= 2 && name.length <= MAX_TOKEN_CHARS) tokens.push(...tokensOf(name));
  return { words: raw.split(/[_./@~+:,-]+/).filter((word) => word !== ''), tokens };
}

/** A URL counts as one token, and its parts as words. */
function readUrl(written: string): Run {
  const url = written.replace(/[.,:;]+$/, '');
  const words = url.split(/[^\p{L}\p{N}]+/u).filter((word) => word.length > 2);
  return { words, tokens: url.length <= MAX_TOKEN_CHARS ? [url] : [] };
}

/** Reduces `./a/b.` to `a/b`, but keeps the dot of `.env` and the slash of `/usr/bin`. */
function withoutEdges(raw: string): string {
  let start = 0;
  let end = raw.length;
  while (start < end && '@+-'.includes(raw.charAt(start))) start += 1;
  if (raw.startsWith('./', start)) start += 2;
  while (end > start && '.@~+-'.includes(raw.charAt(end - 1))) end -= 1;
  return raw.slice(start, end);
}

function tokensOf(name: string): readonly string[] {
  if (UUID.test(name) || NUMBER.test(name)) return [name];
  if (name.includes('/')) return tokensOfPath(name);
  if (FILE_EXTENSION.test(name)) return [name];
  return name.split(/[.@~+-]+/).filter(isIdentifier);
}

/** The file name (for a folder its last two names), which matches whatever the path is relative to, and the path as written. */
function tokensOfPath(name: string): readonly string[] {
  const parts = name.split('/').filter((part) => part !== '');
  const last = parts.at(-1) ?? '';
  const tokens = parts.filter((part, index) => index < parts.length - 1 && isIdentifier(part));
  if (parts.length < 2) return last.length >= 2 && last.includes('.') ? [last] : tokens;
  tokens.push(last.includes('.') ? last : parts.slice(-2).join('/'));
  if (parts.length > 2) tokens.push(name);
  return tokens;
}

function isIdentifier(part: string): boolean {
  if (part.length < 2) return false;
  return SNAKE.test(part) || CAMEL.test(part) || ERROR_NAME.test(part) || HASH.test(part) || NUMBER.test(part);
}
