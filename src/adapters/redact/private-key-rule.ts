import type { SecretRule, SecretSpan } from './rule.ts';

const MARKER = /-----(?<side>BEGIN|END) (?:[A-Z0-9]{1,12} ){0,4}PRIVATE KEY(?: BLOCK)?-----/g;
/**
 * Long runs of base64 and what may separate them: line ends, plain or escaped, and the quotes and signs of source code.
 */
const BASE64_LINES = /(?:(?:[\s"'`+,>|]|\\{1,3}[nrt"]){0,16}[A-Za-z0-9+/]{16,}={0,2})*/y;
const BASE64 = /[A-Za-z0-9+/=]/;
const BETWEEN = /[\s"'`+,>|\\]/;
const MIN_STRETCH_CHARS = 16;
const MAX_BETWEEN_CHARS = 16;
/** The longest RSA key in use has about 13,000 characters. */
const MAX_BLOCK_CHARS = 32_768;

type Marker = { readonly isBegin: boolean; readonly start: number; readonly end: number };

/** PEM blocks of private keys, with any line ends. If the start or the end is cut off, what is left of the block. */
export const PRIVATE_KEY_RULE: SecretRule = {
  keywords: ['private key'],
  *find(text) {
    const markers = Array.from(text.matchAll(MARKER), markerOf);
    let floor = 0;
    for (const [index, marker] of markers.entries()) {
      if (marker.start < floor) continue;
      const next = markers[index + 1];
      const isWhole = next !== undefined && !next.isBegin && next.start - marker.end <= MAX_BLOCK_CHARS;
      const start = marker.isBegin ? marker.start : base64StartBefore(text, marker.start, floor);
      const end = !marker.isBegin ? marker.end : isWhole ? next.end : base64EndAfter(text, marker.end);
      floor = end;
      const hasBody = marker.isBegin ? end > marker.end : start < marker.start;
      if (hasBody) yield privateKey(start, end);
    }
  },
};

function markerOf(match: RegExpMatchArray): Marker {
  const start = match.index ?? 0;
  return { isBegin: match.groups?.['side'] === 'BEGIN', start, end: start + match[0].length };
}

function base64EndAfter(text: string, start: number): number {
  BASE64_LINES.lastIndex = start;
  return start + (BASE64_LINES.exec(text)?.[0].length ?? 0);
}

/** Where the base64 before `end` starts; its last line may be short. */
function base64StartBefore(text: string, end: number, floor: number): number {
  let start = end;
  let isLast = true;
  for (let at = end; at > floor && end - at <= MAX_BLOCK_CHARS; isLast = false) {
    const between = at;
    while (at > floor && between - at <= MAX_BETWEEN_CHARS && BETWEEN.test(text.charAt(at - 1))) at -= 1;
    const stretchEnd = at;
    while (at > floor && end - at <= MAX_BLOCK_CHARS && BASE64.test(text.charAt(at - 1))) at -= 1;
    const chars = stretchEnd - at;
    if (chars < MIN_STRETCH_CHARS && !(isLast && chars > 0)) break;
    if (chars >= MIN_STRETCH_CHARS) start = at;
  }
  return start;
}

function privateKey(start: number, end: number): SecretSpan {
  return { start, end, kind: 'private-key' };
}
