import type { MaskedSecrets, Redactor, RuleFileProblem } from '../../ports/model.ts';
import { entropyOf, looksGenerated } from './judge.ts';
import { indexRules, isAtEdge, type RuleIndex, type SecretSpan } from './rule.ts';
import { err, ok, type Result } from '../../core/result.ts';
import type { FileFailure } from '../../ports/files.ts';
import { decodeText, readOutsideFile } from '../../system/outside-file.ts';
import { BUILTIN_RULES } from './builtin-rules.ts';

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
type Windows = { readonly windowChars: number; readonly marginChars: number };

// Regular expressions exhaust the stack on a token of some megabytes. No secret is longer than the margin but a single
// token, and no rule looks farther around.
const WINDOWS: Windows = { windowChars: 524_288, marginChars: 65_536 };

/** Finds in a long text what would be found in it as a whole: each window counts for the secrets that start in its middle. */
function findInWindows(text: string, { windowChars, marginChars }: Windows, find: Find): readonly SecretSpan[] {
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

type Masks = ReturnType<typeof createMasks>;

const MASK = /\[redacted:([\w.-]{1,64}):(\d{1,6})\]/g;
const MIN_REMEMBERED_CHARS = 8;
// Bits per character (Shannon). Names with a digit, such as `level1_2`, are below.
const MIN_REMEMBERED_ENTROPY = 2.75;
// Each is searched for in every text, so more would cost noticeable time.
const MAX_REMEMBERED = 200;

/**
 * Assigns masks to secrets. A mask is a number and not derived from the secret, because a hash would help to guess it.
 */
function createMasks() {
  const bySecret = new Map<string, string>();
  const remembered: { readonly secret: string; readonly kind: string }[] = [];
  const lastNumber = new Map<string, number>();
  const counts = new Map<string, number>();
  return {
    maskFor: (secret: string, kind: string): string => {
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
    /** Keeps numbers of masks that are already in the text, from an earlier run, from being assigned again. */
    reserve: (text: string): void => {
      if (!text.includes('[redacted:')) return;
      for (const [, kind = '', digits = ''] of text.matchAll(MASK)) {
        lastNumber.set(kind, Math.max(lastNumber.get(kind) ?? 0, Number(digits)));
      }
    },
    /** Secrets too unusual to be a common word, which are masked wherever they appear. */
    remembered: () => remembered,
    counts: (): readonly MaskedSecrets[] =>
      Array.from(counts, ([kind, count]) => ({ kind, count })).sort((a, b) => (a.kind < b.kind ? -1 : 1)),
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

type Find = (text: string) => readonly SecretSpan[];

const BASE64_RUN = /[A-Za-z0-9+/_-]{24,65536}={0,2}/g;
// Enough to see that a run is not text; most are images, hashes and ids.
const PROBE_CHARS = 64;
const UNREADABLE = /[^\t\n\r\x20-\x7e]/;
/** A shorter run is masked as a whole, because what is left of it would say what was masked. */
const MAX_WHOLE_CHARS = 4096;

/** Finds secrets that only show after decoding base64, at their places in the text. */
function findInBase64(text: string, find: Find): readonly SecretSpan[] {
  const found: SecretSpan[] = [];
  for (const { start, end } of base64Runs(text)) {
    if (UNREADABLE.test(decodeBase64(text.slice(start, Math.min(end, start + PROBE_CHARS))))) continue;
    const decoded = decodeBase64(text.slice(start, end));
    if (UNREADABLE.test(decoded)) continue;
    const inside = find(decoded);
    const [first] = inside;
    if (first === undefined) continue;
    if (end - start <= MAX_WHOLE_CHARS) found.push({ start, end, kind: first.kind });
    else
      for (const span of inside)
        found.push({
          start: start + Math.floor(span.start / 3) * 4,
          end: Math.min(end, start + Math.ceil(span.end / 3) * 4),
          kind: span.kind,
        });
  }
  return found;
}

/** A regular expression over all of a long run would exhaust the stack, so it is read in pieces. */
function base64Runs(text: string): readonly { readonly start: number; readonly end: number }[] {
  const runs: { start: number; end: number }[] = [];
  for (const { 0: piece, index } of text.matchAll(BASE64_RUN)) {
    const last = runs.at(-1);
    if (last !== undefined && last.end === index) last.end = index + piece.length;
    else runs.push({ start: index, end: index + piece.length });
  }
  return runs;
}

function decodeBase64(run: string): string {
  return Buffer.from(run, 'base64').toString('latin1');
}

const ENCODED = /\\{1,4}u00[2-7][0-9A-Fa-f]|%(?:25)?[2-7][0-9A-Fa-f]|[\uff01-\uff5e]{1,4096}/g;
const HAS_ENCODED = new RegExp(ENCODED.source);
const FULL_WIDTH_SHIFT = 0xfee0;

/** Finds secrets that only show after decoding `%3D`, `\u0022` or full-width letters, at their places in the text. */
function findInEscapes(text: string, find: Find): readonly SecretSpan[] {
  if (!HAS_ENCODED.test(text)) return [];
  const pieces: string[] = [];
  // For each escape: its end in the decoded text, and how much longer the source is up to there.
  const places: { readonly at: number; readonly shift: number }[] = [];
  let from = 0;
  let shift = 0;
  for (const { 0: encoded, index } of text.matchAll(ENCODED)) {
    const isFullWidth = encoded.charCodeAt(0) > FULL_WIDTH_SHIFT;
    const codes = isFullWidth
      ? Array.from(encoded, (letter) => letter.charCodeAt(0) - FULL_WIDTH_SHIFT)
      : [Number.parseInt(encoded.slice(-2), 16)];
    pieces.push(text.slice(from, index), String.fromCharCode(...codes));
    from = index + encoded.length;
    if (isFullWidth) continue;
    shift += encoded.length - 1;
    places.push({ at: from - shift, shift });
  }
  pieces.push(text.slice(from));
  return find(pieces.join('')).map(({ start, end, kind }) => ({
    start: start + shiftAt(places, start),
    end: end + shiftAt(places, end),
    kind,
  }));
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

export type LoadedRedactors = {
  /** Creates a redactor for one transcript; masks count from 1 in each. */
  readonly create: () => Redactor;
  /** A sentence for each thing in the rule file that has no effect. */
  readonly warnings: readonly string[];
};

const MAX_RULE_BYTES = 4 * 1024 * 1024; // gitleaks' own file has 100 KB; a file forty times as large is no rule file

/** Loads the built-in rules, gitleaks' default rules, and those of the user's file (null: no file). */
export async function loadRedactors(
  rulesPath: string | null,
): Promise<Result<LoadedRedactors, readonly RuleFileProblem[]>> {
  const { createDefaultRules } = await import('./gitleaks/rule.ts');
  const rules = [...BUILTIN_RULES, ...createDefaultRules()];
  const warnings: string[] = [];
  if (rulesPath !== null) {
    const text = readText(rulesPath);
    if (!text.ok) return err([text.error]);
    const { readGitleaksRules } = await import('./gitleaks/read-rules.ts');
    const read = readGitleaksRules(text.value, rulesPath);
    if (!read.ok) return read;
    rules.push(...read.value.rules);
    warnings.push(...read.value.warnings);
  }
  const index = indexRules(rules);
  return ok({ create: () => createRedactor(index), warnings });
}

function readText(path: string): Result<string, RuleFileProblem> {
  const file = readOutsideFile(path, { followsLinks: true, maxBytes: MAX_RULE_BYTES });
  const unreadable = (problem: string) => err({ path, place: '', problem });
  if (!file.ok) return unreadable(describe(file.error));
  const text = decodeText(file.value.bytes);
  return text === null ? unreadable('is not UTF-8 text') : ok(text);
}

function describe(failure: FileFailure): string {
  switch (failure.kind) {
    case 'not-found':
      return 'does not exist';
    case 'not-a-file':
      return `is ${failure.is}`;
    case 'denied':
      return 'cannot be read: permission denied';
    case 'too-large':
      return 'is larger than 4 MiB, the limit for a file of rules';
    default:
      return `cannot be read (${'code' in failure ? failure.code : failure.kind})`;
  }
}
