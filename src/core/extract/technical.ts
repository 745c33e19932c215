import type { ScanSink } from './scan.ts';

const FILE_EXTENSION =
  /\.(?:ts|tsx|js|mjs|cjs|jsx|py|go|rs|java|kt|c|h|cc|cpp|hpp|cs|rb|php|swift|scala|ex|exs|lua|sh|bash|zsh|fish|ps1|sql|md|rst|json|jsonl|ya?ml|toml|lock|ini|cfg|conf|txt|csv|tsv|html?|css|scss|vue|svelte|xml|proto|log|env|mod|sum|tf|ipynb|pdf|png|jpe?g|svg|zip|gz|db|sqlite)$/i;
const HASH = /^(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,64}$/;
const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;
const ERROR_NAME = /^(?:E[A-Z]{3,}|[A-Z][a-zA-Z]+(?:Error|Exception|Warning)|(?:TS|HTTP|SQLITE_|ERR_)[A-Z0-9_]+|SIG[A-Z]{2,})$/;
const CAMEL = /^(?:[a-z][a-z0-9]*(?:[A-Z][a-z0-9]*)+|[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]*)+|[A-Z]{2,}[a-z][a-zA-Z0-9]*)$/;
const SNAKE = /^[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)+$/;
const FLAG = /^--[a-z][a-z0-9-]+$/;
const NUMBER = /^v?\d+(?:[.,:]\d+)+$|^\d{2,}(?:%|ms|s|kb|mb|gb|px|k|m)?$/i;
const EDGES = /^[./@~+-]*[@+-]|[.@~+-]+$|^\.\/(?=.)/g;
const URL = /https?:\/\/[^\s"'`<>)\]}\\]+/y;
const WIDE_WORD = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
const MAX_TOKEN_CHARS = 120;

const segmenter = new Intl.Segmenter('und', { granularity: 'word' });

type Run = { readonly start: number; readonly end: number; readonly limit: number };

/** Emits the words and tokens of a run that is more than a plain word; returns where the scan goes on. */
export function emitTechnical(text: string, run: Run, { sink, wide }: { sink: ScanSink; wide: boolean }): number {
  const { start, end, limit } = run;
  const raw = text.slice(start, end);
  if (wide && WIDE_WORD.test(raw)) {
    for (const { segment, isWordLike } of segmenter.segment(raw)) if (isWordLike === true) sink.word(segment, false);
    return end;
  }
  if (text.startsWith('://', end) && raw.startsWith('http')) {
    const after = urlEnd(text, start, limit);
    if (after > end) {
      const url = text.slice(start, after).replace(/[.,:;]+$/, '');
      if (url.length <= MAX_TOKEN_CHARS) sink.token(url);
      for (const word of url.split(/[^\p{L}\p{N}]+/u)) if (word.length > 2) sink.word(word, false);
      return after;
    }
  }
  emitParts(raw, sink);
  return end;
}

function urlEnd(text: string, start: number, limit: number): number {
  URL.lastIndex = start;
  const match = URL.exec(text);
  return match === null ? start : Math.min(limit, start + match[0].length);
}

function emitParts(raw: string, sink: ScanSink): void {
  if (FLAG.test(raw)) sink.token(raw);
  const name = raw.replace(EDGES, '');
  if (name.length >= 2 && name.length <= MAX_TOKEN_CHARS) emitName(name, sink);
  for (const word of raw.split(/[_./@~+:,-]+/)) {
    if (word !== '') sink.word(word, word.charCodeAt(0) >= 65 && word.charCodeAt(0) <= 90);
  }
}

function emitName(name: string, sink: ScanSink): void {
  if (UUID.test(name) || NUMBER.test(name)) {
    sink.token(name);
    return;
  }
  if (name.includes('/')) {
    const parts = name.split('/').filter((part) => part !== '');
    const last = parts.at(-1) ?? '';
    if (parts.length >= 2) sink.token(last.includes('.') ? last : parts.slice(-2).join('/'));
    else if (last.length >= 2 && last.includes('.')) sink.token(last);
    for (const part of parts) if (part !== last) emitIdentifier(part, sink);
    return;
  }
  if (FILE_EXTENSION.test(name)) {
    sink.token(name);
    return;
  }
  for (const part of name.split(/[.@~+-]+/)) emitIdentifier(part, sink);
}

function emitIdentifier(part: string, sink: ScanSink): void {
  if (part.length < 2) return;
  if (SNAKE.test(part) || CAMEL.test(part) || ERROR_NAME.test(part) || HASH.test(part) || NUMBER.test(part)) sink.token(part);
}
