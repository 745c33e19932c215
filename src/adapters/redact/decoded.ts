import type { SecretSpan } from './rule.ts';

/** Finds secrets in a text as it stands. */
type Find = (text: string) => readonly SecretSpan[];

const BASE64_RUN = /[A-Za-z0-9+/_-]{24,65536}={0,2}/g;
// Enough to see that a run is no text; most are images, hashes and ids.
const PROBE_CHARS = 64;
const READABLE = /^[\t\n\r\x20-\x7e]+$/;

const ENCODED = /\\{1,4}u00[2-7][0-9A-Fa-f]|%(?:25)?[2-7][0-9A-Fa-f]|[\uff01-\uff5e]/g;
const HAS_ENCODED = new RegExp(ENCODED.source);

/**
 * Secrets that show only after one decoding: base64; `%3D`, `\u0022` and full-width letters. The places are those in the
 * text itself; of base64, the whole run.
 */
export function findEncoded(text: string, find: Find): readonly SecretSpan[] {
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
  // Where in the decoded text each escape ends, and how much longer the source is up to there.
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

/** One character: an escape's, or the ordinary form of a full-width one. */
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
