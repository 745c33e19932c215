import type { SecretSpan } from './rule.ts';

/** Finds secrets in plain text. */
export type Find = (text: string) => readonly SecretSpan[];

const BASE64_RUN = /[A-Za-z0-9+/_-]{24,65536}={0,2}/g;
// Enough to see that a run is not text; most are images, hashes and ids.
const PROBE_CHARS = 64;
const UNREADABLE = /[^\t\n\r\x20-\x7e]/;
/** A shorter run is masked as a whole, because what is left of it would say what was masked. */
const MAX_WHOLE_CHARS = 4096;

/** Finds secrets that only show after decoding base64, at their places in the text. */
export function findInBase64(text: string, find: Find): readonly SecretSpan[] {
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
export function findInEscapes(text: string, find: Find): readonly SecretSpan[] {
  if (!HAS_ENCODED.test(text)) return [];
  const pieces: string[] = [];
  // For each escape: its end in the decoded text, and how much longer the source is up to there.
  const places: { readonly at: number; readonly shift: number }[] = [];
  let from = 0;
  let shift = 0;
  for (const { 0: encoded, index } of text.matchAll(ENCODED)) {
    const isFullWidth = encoded.charCodeAt(0) > FULL_WIDTH_SHIFT;
    pieces.push(
      text.slice(from, index),
      isFullWidth ? narrow(encoded) : String.fromCharCode(Number.parseInt(encoded.slice(-2), 16)),
    );
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

/** The ordinary forms of full-width letters. */
function narrow(fullWidth: string): string {
  return String.fromCharCode(...Array.from(fullWidth, (letter) => letter.charCodeAt(0) - FULL_WIDTH_SHIFT));
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
