import type { MaskedSecrets, Redactor } from '../../ports/model.ts';
import { findInBase64, findInEscapes } from './encoded.ts';
import { entropyOf, looksGenerated } from './judge.ts';
import { isAtEdge, type SecretSpan } from './rule.ts';
import type { RuleIndex } from './rule-index.ts';

/** Creates a redactor for one run. Masks are numbered in the order in which their secrets are found. */
export function createRedactor(rules: RuleIndex, windows: Windows = WINDOWS): Redactor {
  const masks = createMasks();
  return {
    redact: (text, before) => {
      masks.reserve(text);
      const find = (plain: string) => findInWindows(plain, windows, (part) => findSecrets(part, rules));
      const plain = findInWindows(text, windows, (part) => findSecrets(part, rules, before));
      const encoded = [...findInBase64(text, find), ...findInEscapes(text, find)];
      const spans = joined([...plain, ...encoded].map((span) => withNextPieces(text, span)));
      for (const { start, end, kind } of spans) masks.maskFor(text.slice(start, end), kind);
      const all = joined([...spans, ...findKnown(text, masks)]);
      return all.length === 0 ? text : replaced(text, all, masks);
    },
    masked: () => masks.counts(),
  };
}

/** `marginChars`: the part of a window at its start and at its end that only shows what stands around the middle. */
export type Windows = { readonly windowChars: number; readonly marginChars: number };

// Regular expressions exhaust the stack on a token of some megabytes. No secret is longer than the margin but a single
// token, and no rule looks farther around.
const WINDOWS: Windows = { windowChars: 524_288, marginChars: 65_536 };

/** Finds in a long text what would be found in it as a whole: each window counts for the secrets that start in its middle. */
function findInWindows(
  text: string,
  { windowChars, marginChars }: Windows,
  find: (part: string) => readonly SecretSpan[],
): readonly SecretSpan[] {
  if (text.length <= windowChars) return find(text);
  const found: SecretSpan[] = [];
  const step = windowChars - 2 * marginChars;
  for (let middle = 0; middle < text.length; middle += step) {
    const from = Math.max(0, middle - marginChars);
    const to = Math.min(text.length, middle + step + marginChars);
    for (const span of find(text.slice(from, to))) {
      const start = from + span.start;
      const end = from + span.end;
      if (start < middle || start >= middle + step) continue;
      found.push({ start, end: end === to ? endOfToken(text, end) : end, kind: span.kind });
    }
  }
  return found;
}

const TOKEN_END = /[\s"'`<>]/;

function endOfToken(text: string, from: number): number {
  let at = from;
  while (at < text.length && !TOKEN_END.test(text.charAt(at))) at += 1;
  return at;
}

function findSecrets(text: string, rules: RuleIndex, before?: string): readonly SecretSpan[] {
  const folded = foldCase(text);
  return rules.rulesFor(folded).flatMap(({ find }) => Array.from(find(text, folded, before)));
}

const MIN_BROKEN_CHARS = 20;
const MAX_BROKEN_CHARS = 4096;
const KEY = /^[A-Za-z0-9_+/=.~-]+$/;
const LINE_BREAK = String.raw`[ \t]{0,4}\\?\r?\n[ \t]{0,40}`;
/** What may stand between the pieces of a key: a line end, or quotes with a sign that joins two strings. */
const BETWEEN_PIECES = String.raw`(?:["'][ \t]{0,4}[+.&\\]?(?:${LINE_BREAK})?[+.&]?[ \t]{0,4}["']|${LINE_BREAK})`;
const NEXT_PIECE = new RegExp(
  String.raw`${BETWEEN_PIECES}(?<piece>[A-Za-z0-9_+/=.~-]{8,512})(?=["',;]|[ \t]{0,4}(?:\r?\n|$))`,
  'y',
);

/** A key that a terminal wrapped, or that source code joins from several strings, goes on in the next line. */
function withNextPieces(text: string, { start, end, kind }: SecretSpan): SecretSpan {
  if (end - start < MIN_BROKEN_CHARS || end - start > MAX_BROKEN_CHARS || !KEY.test(text.slice(start, end))) {
    return { start, end, kind };
  }
  NEXT_PIECE.lastIndex = end;
  const piece = NEXT_PIECE.exec(text)?.groups?.['piece'];
  if (piece === undefined || !looksGenerated(piece, 8)) return { start, end, kind };
  return withNextPieces(text, { start, end: NEXT_PIECE.lastIndex, kind });
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
