/** What a run of letters, digits and joiners holds: its words, and the keys of the technical tokens in it. */
export type Run = { readonly words: readonly string[]; readonly tokens: readonly string[] };

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
const WIDE_SCRIPT =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
const MAX_TOKEN_CHARS = 120;

/** Made when the first text of such a script is met: that alone takes some ten milliseconds. */
const segmenters: Intl.Segmenter[] = [];

function wordSegmenter(): Intl.Segmenter {
  const made = segmenters[0] ?? new Intl.Segmenter('und', { granularity: 'word' });
  segmenters[0] = made;
  return made;
}

/** Reads a run that is more than a plain word; one of a script that writes no spaces is parted by its dictionary. */
export function readRun(raw: string): Run {
  if (WIDE_SCRIPT.test(raw)) {
    const segments = Array.from(wordSegmenter().segment(raw));
    return { words: segments.flatMap(({ segment, isWordLike }) => (isWordLike === true ? [segment] : [])), tokens: [] };
  }
  const tokens = FLAG.test(raw) ? [raw] : [];
  const name = withoutEdges(raw);
  if (name.length >= 2 && name.length <= MAX_TOKEN_CHARS) tokens.push(...tokensOf(name));
  return { words: raw.split(/[_./@~+:,-]+/).filter((word) => word !== ''), tokens };
}

/** A URL is one token; its parts are words. */
export function readUrl(written: string): Run {
  const url = written.replace(/[.,:;]+$/, '');
  const words = url.split(/[^\p{L}\p{N}]+/u).filter((word) => word.length > 2);
  return { words, tokens: url.length <= MAX_TOKEN_CHARS ? [url] : [] };
}

/** `./a/b.` is `a/b`; the dot of `.env` and the slash of `/usr/bin` stay. */
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

/** A path's file name (of a folder the last two names) finds it whatever it is relative to; the path as written is worth keeping too. */
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
