import { FUNCTION_WORDS } from '../extract/word-lists.ts';

/** What a summary should keep, because it cannot be guessed from context. */
type FactKind = 'path' | 'url' | 'id' | 'version' | 'number' | 'error' | 'rule';

export type Fact = {
  readonly kind: FactKind;
  /** As written in the message. */
  readonly text: string;
  readonly messageId: string;
};

/** A fact with its identity: two that differ only in form have the same key. */
export type KeyedFact = Fact & { readonly key: string };

/** A technical name in a line. Equal things have equal keys, however they are written. */
type Name = { readonly kind: Exclude<FactKind, 'error' | 'rule'>; readonly text: string; readonly key: string };

/** Names are searched in stretches of this length, so that one very long line costs no more than many short ones. */
export const MAX_STRETCH_CHARS = 2_000;

const URL = /\bhttps?:\/\/[^\s"'`<>)\]}\\]{1,2000}/g;
const UUID = /\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b/gi;
/** Anything with a slash or an extension. `pathKey` rejects `1/2` and `and/or`. */
const PATH = /(?<![\w/.@+-])(?:[A-Za-z]:\\|~\/|\.{0,2}\/)?(?:[\w@.+-]{1,255}[/\\]){0,40}[\w@.+-]{1,255}(?![\w/])/g;
const EXTENSION = /\.[A-Za-z][A-Za-z0-9]{0,9}$/;
const FILE_EXTENSIONS: ReadonlySet<string> = new Set(
  'ts tsx js mjs cjs jsx py go rs java kt c h cc cpp hpp cs rb php swift scala ex exs lua sh bash zsh ps1 sql md rst json jsonl yaml yml toml lock ini cfg conf txt csv tsv html htm css scss vue svelte xml proto log env mod sum tf ipynb pdf png jpg jpeg svg zip gz db sqlite docx xlsx pptx'.split(
    ' ',
  ),
);
const VERSION =
  /(?<![\w.])v?\d{1,5}\.\d{1,5}\.\d{1,7}(?:[-+][\w.]{1,40})?(?![\w.]*\.\d)|(?<![\w.])v\d{1,4}(?:\.\d{1,5})?\b/g;
const ADDRESS = /(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?::\d{1,5})?(?![\w.])/g;
const TICKET = /\b[A-Z][A-Z0-9]{1,9}-\d{1,7}\b|(?<![\w&#])#\d{1,7}\b/g;
/** Names of standards and models, which look like ticket numbers. */
const NO_TICKET = /^(?:UTF|SHA|ISO|MD|AES|RSA|TLS|GPT|COVID|HTTP|RFC|UTC|GMT|ES|IPV|BASE|CVE)-/;
const HASH = /\b[0-9a-f]{7,64}\b/g;
const PREFIXED = /\b[a-z]{2,12}_[A-Za-z0-9]{10,64}\b/g;
const QUANTITY = new RegExp(
  String.raw`(?<![\w.,-])(?:[$€£¥]\s?\d(?:[\d.,_]{0,20}\d)(?:\s?(?:k|m|bn|million|billion)\b)?|\d(?:[\d.,_]{0,20}\d)?(?:\s?(?:` +
    [
      '%|percent|prozent|‰|°[CF]',
      'ms|µs|ns|secs?|seconds?|mins?|minutes?|hours?|hrs?|days?|weeks?|months?|years?|sekunden?|minuten?|stunden?|tagen?|wochen?|monaten?|jahren?',
      'segundos?|minutos?|horas?|días?|semanas?|meses|años?|secondes?|heures?|jours?|semaines?|mois|ans',
      '[kmgt]i?b(?:/s|ps)?|[kmgt]bits?(?:/s)?|bytes?|bits?|px|[kmg]?hz|fps|rpm|rps|qps|mm|cm|km|kg|mg|eur|usd|gbp|chf|dollars?|euros?|tokens?',
      '秒|分钟|小时|天|周|个月|年|元|分|時間|日間|週間|円|人|个|個',
    ].join('|') +
    String.raw`)|[smhdx])(?![\p{Script=Latin}\d]))`,
  'giu',
);

/** All technical names in a stretch of a line, with repetitions. */
export function namesIn(line: string): readonly Name[] {
  const names: Name[] = [];
  const add = (kind: Name['kind'], text: string, key: string): void => {
    names.push({ kind, text, key });
  };
  const rest = without(line, URL, (url) => {
    const text = url.replace(/[.,:;!?]+$/, '');
    add('url', text, text.replace(/^https?:\/\//, '').replace(/\/$/, ''));
    return true;
  });
  const plain = without(rest, UUID, (id) => {
    add('id', id, id.toLowerCase());
    return true;
  });
  const withoutPaths = without(plain, PATH, (written) => {
    const text = written.replace(/[.+@-]+$/, '');
    const key = pathKey(text);
    if (key !== null) add('path', text, key);
    return key !== null;
  });
  const withoutIds = without(withoutPaths, ADDRESS, (id) => {
    add('id', id, id);
    return true;
  });
  const last = without(withoutIds, VERSION, (version) => {
    const text = version.replace(/\.+$/, '');
    add('version', text, text.replace(/^v/, ''));
    return true;
  });
  for (const [ticket] of last.matchAll(TICKET)) if (!NO_TICKET.test(ticket)) add('id', ticket, ticket);
  for (const [hash] of last.matchAll(HASH)) {
    // Commit hashes appear in long and short form.
    if (/\d/.test(hash) && /[a-f]/.test(hash)) add('id', hash, hash.slice(0, SHORT_HASH_CHARS));
  }
  for (const [id] of last.matchAll(PREFIXED)) if (/\d/.test(id)) add('id', id, id);
  for (const [quantity] of last.matchAll(QUANTITY)) add('number', quantity, quantityKey(quantity));
  return names;
}

const SHORT_HASH_CHARS = 7;

/** Replaces the matches that `take` accepts with spaces. */
function without(line: string, pattern: RegExp, take: (text: string) => boolean): string {
  return line.replace(pattern, (text) => (take(text) ? ' '.repeat(text.length) : text));
}

/** The last two names of a path, which match whatever the path is relative to; null if it is not a path. */
function pathKey(text: string): string | null {
  const parts = text.split(/[/\\]/).filter((part) => part !== '' && part !== '.' && part !== '..' && part !== '~');
  const last = parts.at(-1);
  if (last === undefined) return null;
  const extension = EXTENSION.exec(last)?.[0].slice(1).toLowerCase();
  const isFile = extension !== undefined && FILE_EXTENSIONS.has(extension) && last.length > extension.length + 1;
  const isRooted = /^(?:[A-Za-z]:\\|~\/|\.{0,2}\/)/.test(text) && parts.length > 1 && /[A-Za-z]/.test(text);
  const isDeep = parts.length > 2 && /[a-z]/.test(text) && /[\d._@-]|[A-Z]/.test(text);
  if (!isFile && !isRooted && !isDeep) return null;
  return parts.slice(-2).join('/');
}

const UNIT_NAMES: readonly (readonly [RegExp, string])[] = [
  [/^(?:percent|prozent)$/, '%'],
  [/^(?:s|secs?|seconds?)$/, 's'],
  [/^(?:mins?|minutes?)$/, 'min'],
  [/^(?:h|hrs?|hours?)$/, 'h'],
  [/^(?:d|days?)$/, 'd'],
  [/^([kmgt])ib$/, '$1b'],
];

function quantityKey(text: string): string {
  const [, number = '', unit = ''] = /^([^\d]*\d[\d.,_]*?)[.,]?\s*([^\d.,_]*)$/.exec(text.toLowerCase()) ?? ['', text];
  const known = UNIT_NAMES.find(([pattern]) => pattern.test(unit));
  const name = known === undefined ? unit.replace(/(?<=\p{L}{3})s$/u, '') : unit.replace(known[0], known[1]);
  return `${plainNumber(number.replace(/\s/g, ''))} ${name}`;
}

/** Removes thousands separators. */
function plainNumber(text: string): string {
  return text.replace(/(?<=\d)[,_ ](?=\d{3}(?:\D|$))/g, '');
}

const WORD = /[\p{L}\p{N}_]+/gu;
// Function words that can reverse a sentence's meaning.
const NEGATION_AND_ORDER: ReadonlySet<string> = new Set(['not', 'no', 'must', 'only', 'before', 'after', 'without']);

/** The words that identify a sentence, whatever its quotes, case and punctuation. "don't" becomes "not". */
export function keyWords(text: string): readonly string[] {
  const plain = plainNumber(text.normalize('NFKC').toLowerCase())
    .replace(/can['’]t\b/g, 'not')
    .replace(/n['’]t\b/g, ' not')
    .replace(/\bcannot\b/g, 'not');
  return (plain.match(WORD) ?? []).filter((word) => NEGATION_AND_ORDER.has(word) || !FUNCTION_WORDS.has(word));
}

export function sentenceKey(text: string): string {
  return keyWords(text).join(' ');
}
