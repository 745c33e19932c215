import places from './forms.json' with { type: 'json' };
import keys from './vendor-keys.json' with { type: 'json' };
import { ASSIGNMENT_RULE, isSecretValue } from './assignment-rule.ts';
import { isPlaceholder, isReal, looksChosen, looksGenerated, looksRandom, looksSpoken } from './judge.ts';
import { LABEL_RULE } from './label-rule.ts';
import { PRINTED_RULE } from './printed-rule.ts';
import { entriesIn, formRule, type SecretRule } from './rule.ts';

/** Parts of patterns: in `forms.json` their names stand in angle brackets. */
const Q = String.raw`\\{0,3}["'\x60]`;
const PARTS: Readonly<Record<string, string>> = {
  Q,
  // In plain text, and in quotation marks.
  VALUE: String.raw`(?<secret>[^\s"'\x60<>|;&\\]{6,512})`,
  QUOTED: String.raw`${Q}(?<secret>[^\s"'\x60\\]{4,512})${Q}`,
  // An argument of a command, and the options before it. Bounded, and within one line and one command.
  ARGUMENT: String.raw`(?:${Q})?(?<secret>[^\s"'\x60|;&<>$\\]{3,256})`,
  OPTIONS: String.raw`(?:[^\n\r|;&]{0,200}?\s)`,
  GAP: String.raw`[ \t]{1,4}`,
};

const URL_REFERENCE = /^(?:\$|\{|%\w+%$|\*+$|x+$|\.+$|\[redacted:|redacted$|pass(?:word|wd)?$|pwd$)/i;
/** `Basic authentication`, `Bearer token`: ordinary words. */
const ORDINARY_WORD = /^[A-Za-z][a-z]*[.,:]?$/;
const MIN_ISSUED_LETTERS = 8;

/** What a pattern found is a secret only if its judge says so; a row names it. */
const JUDGES: Readonly<Record<string, (text: string) => boolean>> = {
  any: () => true,
  'any-with-digit': (text) => /\d/.test(text),
  real: isReal,
  digit: (text) => isReal(text) && /\d/.test(text),
  random: looksRandom,
  chosen: looksChosen,
  spoken: looksSpoken,
  login: (text) => looksSpoken(text) && !text.includes('='),
  generated: (text) => looksGenerated(text),
  'short-key': (text) => looksGenerated(text, 12),
  long: (text) => looksGenerated(text, 20),
  // Hashes and ids have one case only.
  mixed: (text) => looksGenerated(text, 20) && /[a-z]/.test(text) && /[A-Z]/.test(text),
  issued: isIssued,
  // Both cases and digits all over it: ids rarely have that many.
  prefixed: (text) =>
    isIssued(text) &&
    /[a-z]/.test(text) &&
    /[A-Z]/.test(text) &&
    (text.match(/\d/g)?.length ?? 0) >= 3 &&
    looksGenerated(text, 32),
  password: (text) => isReal(text) && !/[()[\]{}]|^-|^\d{1,3}$/.test(text),
  'url-password': (text) => !URL_REFERENCE.test(text),
  credential: (text) => !ORDINARY_WORD.test(text) && isReal(text),
  'credential-with-digit': (text) => /\d/.test(text) && isReal(text),
  docker: (text) => isUserAndPassword(text) || looksGenerated(text, 20),
  community: (text) => isReal(text) && !/^(?:public|private)$/i.test(text),
  code: (text) => /^\d{4,12}$/.test(text) && !/^(\d)\1*$|^(?:19|20)\d\d$/.test(text),
};

/** The random part of a key whose prefix holds a word such as `sk`, `live` or `token`. */
function isIssued(key: string): boolean {
  const body = /[A-Za-z0-9]{20,}/.exec(key)?.[0] ?? '';
  const digits = body.replace(/\D/g, '').length;
  return !isPlaceholder(key) && digits >= 2 && /[A-Za-z]/.test(body) && new Set(body).size >= MIN_ISSUED_LETTERS;
}

/** Base64 of `user:password`, as registries store it. */
function isUserAndPassword(text: string): boolean {
  const decoded = Buffer.from(text, 'base64').toString('latin1');
  return /^[\x20-\x7e]+$/.test(decoded) && /^[^:]+:.{3,}$/.test(decoded);
}

/**
 * Rules that are one regular expression each, from two tables of rows [kind, judge, keywords, pattern, flags]: keys with a prefix of the service
 * that issues them, as it documents them, and secrets that their place in a request, command, file or sentence gives away.
 */
const FORM_RULES: readonly SecretRule[] = [...keys, ...places].map(
  ([kind = '', judge = '', keywords = '', source = '', flags = 'gim']) =>
    formRule({
      kind,
      keywords,
      pattern: new RegExp(
        source.replaceAll(/<([A-Z]+)>/g, (mark, name: string) => PARTS[name] ?? mark),
        flags,
      ),
      accepts: JUDGES[judge] ?? isReal,
    }),
);

/** A cookie header, curl's `-b`, or a cookie in JSON, up to the end of the line or quotation. */
const COOKIES =
  /(?:\b(?:set-)?cookie(?:\\{0,3}["'])?\s{0,4}[:=]\s{0,4}|\bcurl\b[^\n\r|;&]{0,200}?\s(?:-b|--cookie)[ =])\[?(?:\\{0,3}["'])?(?<pairs>[^\n\r"'\\]{3,8192})/gi;
const PAIR = /(?:^|;\s{0,4})(?<name>[\w.-]{1,64})=(?<value>[^;\s,]{6,4096})/g;
const SESSION_NAME = /sess|sid|auth|token|jwt|csrf|xsrf|remember|login|identity|user/i;
const MIN_SESSION_CHARS = 12;

/** Cookie values that identify a session. */
const COOKIE_RULE: SecretRule = {
  keywords: ['cookie', 'curl'],
  *find(text) {
    for (const match of text.matchAll(COOKIES)) {
      const pairs = match.groups?.['pairs'] ?? '';
      yield* entriesIn(pairs, match.index + match[0].length - pairs.length, {
        kind: 'cookie',
        pattern: PAIR,
        accepts: (value, name) => looksGenerated(value, SESSION_NAME.test(name) ? MIN_SESSION_CHARS : undefined),
      });
    }
  },
};

const MAX_MANIFEST_CHARS = 8192;
const KIND = /\bkind(?:\\{0,3}["'])?\s{0,4}:\s{0,4}(?:\\{0,3}["'])?Secret\b/g;
const DATA = /\b(?:stringData|data)(?:\\{0,3}["'])?\s{0,4}:/g;
const ENTRY =
  /["']?(?<name>[\w.-]{1,253})(?:\\{0,3}["'])?\s{0,4}:\s{0,4}(?:\\{0,3}["'])?(?<value>[A-Za-z0-9+/]{8,8192}={0,2})/g;
const LIKE_BASE64 = /[=\d+/]|[a-z][A-Z]|[A-Z]{2}[a-z]/;
const NAMES_OF_MANIFEST = /^(?:kind|apiVersion|type|name|namespace)\b/;

/** The values in the `data` of Kubernetes secrets. */
const KUBERNETES_RULE: SecretRule = {
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
        yield* entriesIn(block, offset, {
          kind: 'kubernetes-secret',
          pattern: ENTRY,
          accepts: (value, name) => !NAMES_OF_MANIFEST.test(name) && value.length % 4 === 0 && LIKE_BASE64.test(value),
        });
      }
      floor = to;
    }
  },
};

const HEADER =
  /^(?=[^\n]{0,400}(?:pass(?:word|wd|phrase)?|pwd|secret|token|api[_ -]?key)\b)[^\n]{1,400}[,;|\t][^\n]{0,400}$/gim;
const SECRET_COLUMN =
  /^[\s"'*]*(?:[\w -]{0,24}[ _-])?(?:pass(?:word|wd|phrase)?|pwd|secret|token|api[_ -]?key)[\s"'*]*$/i;
const MAX_ROWS = 500;

/** The column of a table (CSV, TSV, Markdown) whose head names a secret. */
const TABLE_RULE: SecretRule = {
  keywords: ['pass', 'pwd', 'secret', 'token', 'api'],
  *find(text) {
    for (const header of text.matchAll(HEADER)) {
      const separator = ['|', '\t', ';', ','].find((sign) => header[0].includes(sign)) ?? ',';
      const heads = header[0].split(separator);
      const column = heads.findIndex((head) => SECRET_COLUMN.test(head));
      if (column < 0) continue;
      let at = header.index + header[0].length + 1;
      for (let row = 0; row < MAX_ROWS && at < text.length; row += 1) {
        const end = text.indexOf('\n', at);
        const line = text.slice(at, end < 0 ? text.length : end);
        const cells = line.split(separator);
        if (cells.length !== heads.length) break;
        const cell = cells[column] ?? '';
        const value = cell.trim().replaceAll(/^["'`]|["'`]$/g, '');
        if (looksSpoken(value)) {
          const start = at + cells.slice(0, column).join(separator).length + (column > 0 ? 1 : 0) + cell.indexOf(value);
          yield { start, end: start + value.length, kind: 'table-cell' };
        }
        at += line.length + 1;
      }
    }
  },
};

const SECRET_NAME =
  /(?<name>[\w.-]{0,64}(?:pass(?:word|wd|phrase)?|pwd|secret|token|session(?:[_.-]?id)?|\bsid|jwt|auth|api[_.-]?key|(?:access|auth|private|signing|encryption|master|secret)[_.-]?key|credential)s?)/;

/** One pair holds the name, and the next one the value. */
const FORMS: readonly RegExp[] = [
  // name: DB_PASSWORD ⏎ value: …   {"name":"API_TOKEN","value":"…"}   <add key="ApiToken" value="…"/>
  new RegExp(
    String.raw`\b(?:name|key|variable|id)(?:\\{0,3}["'])?\s{0,4}[:=]\s{0,4}(?:\\{0,3}["'])?${SECRET_NAME.source}(?:\\{0,3}["'])?[\s,]{1,40}(?:\\{0,3}["'])?(?:value|default)(?:\\{0,3}["'])?\s{0,4}[:=]\s{0,4}(?<quote>(?:\\{0,3}["'])?)(?<value>[^\s"'\\<>]{3,1024})`,
    'gi',
  ),
  // <property name="secret.key">…</property>
  new RegExp(String.raw`\b(?:name|key|id)=["']${SECRET_NAME.source}["'][^<>]{0,80}>(?<value>[^\s<>]{3,1024})<`, 'gi'),
  // variable "db_password" { default = "…" }
  new RegExp(
    String.raw`\b(?:variable|output)\s{1,4}"${SECRET_NAME.source}"\s{0,4}\{[^{}]{0,400}?\b(?:default|value)\s{0,20}=\s{0,4}"(?<value>[^\s"]{3,1024})"`,
    'gi',
  ),
  // setPassword("…")
  new RegExp(String.raw`\bset_?${SECRET_NAME.source}\(\s{0,4}(?<quote>["'])(?<value>[^\s"']{6,1024})["']`, 'gi'),
];

/** Secrets whose name and value are in two pairs, elements or arguments. */
const PAIR_RULE: SecretRule = {
  keywords: ['value', 'default', 'property', '<', 'setpass', 'settoken', 'setsecret', 'setapi'],
  *find(text) {
    for (const pattern of FORMS) {
      for (const match of text.matchAll(pattern)) {
        const { name = '', value = '' } = match.groups ?? {};
        const isPassword = /pass|pwd/i.test(name);
        const isSecret = /sess|sid|cookie|jwt|auth$/i.test(name)
          ? looksGenerated(value)
          : isSecretValue(value, isPassword ? 'password' : name, 'quoted');
        if (!isSecret) continue;
        const start = match.index + match[0].lastIndexOf(value);
        yield { start, end: start + value.length, kind: isPassword ? 'password' : 'secret' };
      }
    }
  },
};

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

/** PEM blocks of private keys, with any line ends. If the start or the end is cut off, what is left of the block. */
const PRIVATE_KEY_RULE: SecretRule = {
  keywords: ['private key'],
  *find(text) {
    const markers = Array.from(text.matchAll(MARKER), ({ index: start, 0: marker, groups }) => ({
      isBegin: groups?.['side'] === 'BEGIN',
      start,
      end: start + marker.length,
    }));
    let floor = 0;
    for (const [index, marker] of markers.entries()) {
      if (marker.start < floor) continue;
      const next = markers[index + 1];
      const isWhole = next !== undefined && !next.isBegin && next.start - marker.end <= MAX_BLOCK_CHARS;
      const start = marker.isBegin ? marker.start : base64StartBefore(text, marker.start, floor);
      const end = !marker.isBegin ? marker.end : isWhole ? next.end : base64EndAfter(text, marker.end);
      floor = end;
      const hasBody = marker.isBegin ? end > marker.end : start < marker.start;
      if (hasBody) yield { start, end, kind: 'private-key' };
    }
  },
};

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

/** Our own rules, used in addition to those of gitleaks. If two find the same text, the first decides its kind. */
export const BUILTIN_RULES: readonly SecretRule[] = [
  PRIVATE_KEY_RULE,
  ...FORM_RULES,
  COOKIE_RULE,
  KUBERNETES_RULE,
  PAIR_RULE,
  ASSIGNMENT_RULE,
  TABLE_RULE,
  LABEL_RULE,
  PRINTED_RULE,
];
