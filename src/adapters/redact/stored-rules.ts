import { looksChosen, looksGenerated, patternRule, type SecretRule, type SecretSpan } from './rule.ts';

/** Credentials in the files where programs store them. */
export const STORED_RULES: readonly SecretRule[] = [
  patternRule({
    kind: 'netrc-password',
    keywords: ['machine', 'default login'],
    pattern:
      /\b(?:machine\s{1,4}\S{1,256}|default)\s{1,8}login\s{1,4}\S{1,256}\s{1,8}password\s{1,4}(?<secret>\S{3,256})/g,
    group: 'secret',
    accepts: looksChosen,
  }),
  patternRule({
    kind: 'docker-auth',
    keywords: ['auth'],
    pattern: /_?auth(?:\\{0,3}["'])?\s{0,4}[:=]\s{0,4}(?:\\{0,3}["'])?(?<secret>[A-Za-z0-9+/-]{12,4096}={0,2})/gi,
    group: 'secret',
    accepts: (secret) => isUserAndPassword(secret) || looksGenerated(secret, 20),
  }),
  patternRule({
    kind: 'password-hash',
    keywords: ['$2', '$5$', '$6$', '$y$', '$apr1$', '$argon2', '$1$'],
    pattern:
      /(?<secret>\$(?:2[abxy]\$\d\d\$[./A-Za-z0-9]{53}|(?:apr1|1)\$[./A-Za-z0-9]{1,8}\$[./A-Za-z0-9]{22}|[56y]\$(?:rounds=\d{1,9}\$)?[./A-Za-z0-9]{1,32}\$[./A-Za-z0-9]{43,86}|argon2(?:id|i|d)\$v=\d+\$m=\d+,t=\d+,p=\d+\$[+/A-Za-z0-9]{11,64}\$[+/A-Za-z0-9]{16,128}))/g,
    group: 'secret',
  }),
  patternRule({
    kind: 'pgpass-password',
    keywords: [':'],
    pattern: /^[\w.*-]{1,128}:(?:\d{2,5}|\*):[\w*-]{1,64}:[\w*-]{1,64}:(?<secret>[^\s:]{6,128})$/gm,
    group: 'secret',
    accepts: looksChosen,
  }),
  patternRule({
    kind: 'private-key',
    keywords: ['private-lines'],
    pattern:
      /Private-Lines: \d{1,4}\s{1,4}(?<secret>(?:[A-Za-z0-9+/=]{1,128}\s{1,4}){0,200}[A-Za-z0-9+/]{16,128}={0,2})/g,
    group: 'secret',
  }),
  patternRule({
    kind: 'seed-phrase',
    keywords: ['mnemonic', 'phrase'],
    pattern:
      /(?:mnemonic|(?:seed|recovery|secret)[ _-]phrase)["']?\s{0,4}(?:[:=]|is)\s{0,4}["']?(?<secret>[a-z]{3,8}(?: [a-z]{3,8}){11,23})\b/gi,
    group: 'secret',
  }),
  kubernetesRule(),
];

/** Base64 of `user:password`, as registries store it. */
function isUserAndPassword(text: string): boolean {
  const decoded = Buffer.from(text, 'base64').toString('latin1');
  return /^[\x20-\x7e]+$/.test(decoded) && /^[^:]+:.{3,}$/.test(decoded);
}

const MAX_MANIFEST_CHARS = 8192;
const KIND = /\bkind(?:\\{0,3}["'])?\s{0,4}:\s{0,4}(?:\\{0,3}["'])?Secret\b/g;
const DATA = /\b(?:stringData|data)(?:\\{0,3}["'])?\s{0,4}:/g;
const ENTRY = /["']?[\w.-]{1,253}(?:\\{0,3}["'])?\s{0,4}:\s{0,4}(?:\\{0,3}["'])?(?<value>[A-Za-z0-9+/]{8,8192}={0,2})/g;
const NAMES_OF_MANIFEST = /^["']?(?:kind|apiVersion|type|name|namespace)\b/;

/** The values in the `data` of Kubernetes secrets. */
function kubernetesRule(): SecretRule {
  return {
    keywords: ['secret'],
    *find(text) {
      let floor = 0;
      for (const kind of text.matchAll(KIND)) {
        const from = Math.max(floor, kind.index - MAX_MANIFEST_CHARS);
        const to = Math.min(text.length, kind.index + MAX_MANIFEST_CHARS);
        if (to <= floor) continue;
        const manifest = text.slice(from, to);
        for (const data of manifest.matchAll(DATA)) {
          const block = manifest.slice(data.index + data[0].length).split(/\n(?=\S)|\n---/, 1)[0] ?? '';
          const offset = from + data.index + data[0].length;
          for (const entry of block.matchAll(ENTRY)) {
            const value = entry.groups?.['value'] ?? '';
            if (NAMES_OF_MANIFEST.test(entry[0]) || !isBase64(value)) continue;
            const end = offset + entry.index + entry[0].length;
            yield { start: end - value.length, end, kind: 'kubernetes-secret' };
          }
        }
        floor = to;
      }
    },
  };
}

function isBase64(value: string): boolean {
  return value.length % 4 === 0 && (/[=\d+/]/.test(value) || /[a-z][A-Z]|[A-Z]{2}[a-z]/.test(value));
}

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
