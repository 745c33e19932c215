import type { MaskedSecrets, Redactor } from '../../ports/model.ts';
import { entropyOf, isAtEdge, type SecretRule, type SecretSpan } from './rule.ts';

/** Creates a redactor for one run. Masks are numbered in the order in which their secrets are found. */
export function createRedactor(rules: readonly SecretRule[]): Redactor {
  const masks = createMasks();
  return {
    redact: (text) => {
      masks.reserve(text);
      const find = (plain: string) => findSecrets(plain, rules);
      const spans = joined([...find(text), ...findEncoded(text, find)]);
      for (const { start, end, kind } of spans) masks.maskFor(text.slice(start, end), kind);
      const all = joined([...spans, ...findKnown(text, masks)]);
      return all.length === 0 ? text : replaced(text, all, masks);
    },
    masked: () => masks.counts(),
  };
}

function findSecrets(text: string, rules: readonly SecretRule[]): readonly SecretSpan[] {
  const folded = foldCase(text);
  return rules.flatMap(({ keywords, find }) => {
    const isWorthALook = keywords.length === 0 || keywords.some((keyword) => folded.includes(keyword));
    return isWorthALook ? Array.from(find(text, folded)) : [];
  });
}

/** Finds secrets again that were found before, in this text or in another. */
function findKnown(text: string, masks: Masks): readonly SecretSpan[] {
  const found: SecretSpan[] = [];
  for (const { secret, kind } of masks.remembered()) {
    for (let start = text.indexOf(secret); start >= 0; start = text.indexOf(secret, start + secret.length)) {
      const end = start + secret.length;
      if (isAtEdge(text, start) && !/[A-Za-z0-9_]/.test(text.charAt(end))) found.push({ start, end, kind });
    }
  }
  return found;
}

/** In order, without overlaps: overlapping spans are merged and take the kind of the first. */
function joined(spans: readonly SecretSpan[]): readonly SecretSpan[] {
  const ranked = spans.map((span, rank) => ({ span, rank }));
  ranked.sort((a, b) => a.span.start - b.span.start || a.rank - b.rank);
  const result: { start: number; end: number; kind: string; rank: number }[] = [];
  for (const { span, rank } of ranked) {
    const last = result.at(-1);
    if (last === undefined || span.start >= last.end) {
      result.push({ ...span, rank });
      continue;
    }
    last.end = Math.max(last.end, span.end);
    if (rank < last.rank) {
      last.rank = rank;
      last.kind = span.kind;
    }
  }
  return result;
}

function replaced(text: string, spans: readonly SecretSpan[], masks: Masks): string {
  const pieces: string[] = [];
  let from = 0;
  for (const { start, end, kind } of spans) {
    pieces.push(text.slice(from, start), masks.maskFor(text.slice(start, end), kind));
    from = end;
  }
  pieces.push(text.slice(from));
  return pieces.join('');
}

/**
 * The text in lower case, with the same offsets: for a few letters, such as İ, lower case is longer, and then only
 * ASCII is changed.
 */
function foldCase(text: string): string {
  const folded = text.toLowerCase();
  return folded.length === text.length ? folded : text.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

type Known = { readonly secret: string; readonly kind: string };

/**
 * Assigns masks to secrets. A mask is a number and not derived from the secret, because a hash would help to guess it.
 */
type Masks = {
  readonly maskFor: (secret: string, kind: string) => string;
  /** Keeps numbers of masks that are already in the text, from an earlier run, from being assigned again. */
  readonly reserve: (text: string) => void;
  /** Secrets too unusual to be a common word, which are masked wherever they appear. */
  readonly remembered: () => readonly Known[];
  readonly counts: () => readonly MaskedSecrets[];
};

const MASK = /\[redacted:([\w.-]{1,64}):(\d{1,6})\]/g;
const MIN_REMEMBERED_CHARS = 8;
// Bits per character (Shannon). Names with a digit, such as `level1_2`, are below.
const MIN_REMEMBERED_ENTROPY = 2.75;
// Each is searched for in every text, so more would cost noticeable time.
const MAX_REMEMBERED = 200;

function createMasks(): Masks {
  const bySecret = new Map<string, string>();
  const remembered: Known[] = [];
  const lastNumber = new Map<string, number>();
  const counts = new Map<string, number>();
  return {
    maskFor: (secret, kind) => {
      const known = bySecret.get(secret);
      if (known !== undefined) return known;
      const number = (lastNumber.get(kind) ?? 0) + 1;
      lastNumber.set(kind, number);
      counts.set(kind, (counts.get(kind) ?? 0) + 1);
      const mask = `[redacted:${kind}:${number}]`;
      bySecret.set(secret, mask);
      if (isUncommon(secret) && remembered.length < MAX_REMEMBERED) remembered.push({ secret, kind });
      return mask;
    },
    reserve: (text) => {
      if (!text.includes('[redacted:')) return;
      for (const [, kind = '', digits = ''] of text.matchAll(MASK)) {
        lastNumber.set(kind, Math.max(lastNumber.get(kind) ?? 0, Number(digits)));
      }
    },
    remembered: () => remembered,
    counts: () => Array.from(counts, ([kind, count]) => ({ kind, count })).sort((a, b) => (a.kind < b.kind ? -1 : 1)),
  };
}

/**
 * Whether the same text elsewhere must be the same secret, because it is too long and irregular for a word, number or
 * name.
 */
function isUncommon(secret: string): boolean {
  if (secret.length < MIN_REMEMBERED_CHARS || !/\d/.test(secret) || !/[^\d]/.test(secret)) return false;
  return entropyOf(secret) >= MIN_REMEMBERED_ENTROPY;
}

/** Finds secrets in plain text. */
type Find = (text: string) => readonly SecretSpan[];

const BASE64_RUN = /[A-Za-z0-9+/_-]{24,65536}={0,2}/g;
// Enough to see that a run is not text; most are images, hashes and ids.
const PROBE_CHARS = 64;
const READABLE = /^[\t\n\r\x20-\x7e]+$/;

const ENCODED = /\\{1,4}u00[2-7][0-9A-Fa-f]|%(?:25)?[2-7][0-9A-Fa-f]|[\uff01-\uff5e]/g;
const HAS_ENCODED = new RegExp(ENCODED.source);

/**
 * Finds secrets that only show after decoding base64, `%3D`, `\u0022` or full-width letters. The spans are those of the
 * original text; for base64, the whole run.
 */
function findEncoded(text: string, find: Find): readonly SecretSpan[] {
  return [...findInBase64(text, find), ...findInEscapes(text, find)];
}

function findInBase64(text: string, find: Find): readonly SecretSpan[] {
  const found: SecretSpan[] = [];
  for (const match of text.matchAll(BASE64_RUN)) {
    const [run] = match;
    if (!READABLE.test(decodeBase64(run.slice(0, PROBE_CHARS)))) continue;
    const decoded = decodeBase64(run);
    const kind = READABLE.test(decoded) ? find(decoded)[0]?.kind : undefined;
    if (kind !== undefined) found.push({ start: match.index, end: match.index + run.length, kind });
  }
  return found;
}

function decodeBase64(run: string): string {
  return Buffer.from(run, 'base64').toString('latin1');
}

function findInEscapes(text: string, find: Find): readonly SecretSpan[] {
  if (!HAS_ENCODED.test(text)) return [];
  const pieces: string[] = [];
  // For each escape: its end in the decoded text, and how much longer the source is up to there.
  const places: { readonly at: number; readonly shift: number }[] = [];
  let from = 0;
  let at = 0;
  for (const match of text.matchAll(ENCODED)) {
    pieces.push(text.slice(from, match.index), decodeOne(match[0]));
    at += match.index - from + 1;
    from = match.index + match[0].length;
    places.push({ at, shift: from - at });
  }
  pieces.push(text.slice(from));
  return find(pieces.join('')).map(({ start, end, kind }) => ({
    start: start + shiftAt(places, start),
    end: end + shiftAt(places, end),
    kind,
  }));
}

/** One character: that of an escape, or the ordinary form of a full-width one. */
function decodeOne(encoded: string): string {
  return encoded.length === 1 ? encoded.normalize('NFKC') : String.fromCharCode(Number.parseInt(encoded.slice(-2), 16));
}

function shiftAt(places: readonly { readonly at: number; readonly shift: number }[], index: number): number {
  let low = 0;
  let high = places.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((places[middle]?.at ?? 0) <= index) low = middle + 1;
    else high = middle;
  }
  return places[low - 1]?.shift ?? 0;
}
