import { looksGenerated, looksSpoken } from './judge.ts';
import type { SecretRule } from './rule.ts';

/** A cookie header, curl's `-b`, or a cookie in JSON, up to the end of the line or quotation. */
const COOKIES =
  /(?:\b(?:set-)?cookie(?:\\{0,3}["'])?\s{0,4}[:=]\s{0,4}|\bcurl\b[^\n\r|;&]{0,200}?\s(?:-b|--cookie)[ =])\[?(?:\\{0,3}["'])?(?<pairs>[^\n\r"'\\]{3,8192})/gi;
const PAIR = /(?:^|;\s{0,4})(?<name>[\w.-]{1,64})=(?<value>[^;\s,]{6,4096})/g;
const SESSION_NAME = /sess|sid|auth|token|jwt|csrf|xsrf|remember|login|identity|user/i;
const MIN_SESSION_CHARS = 12;

/** Cookie values that identify a session. */
export const COOKIE_RULE: SecretRule = {
  keywords: ['cookie', 'curl'],
  *find(text) {
    for (const match of text.matchAll(COOKIES)) {
      const pairs = match.groups?.['pairs'] ?? '';
      const offset = match.index + match[0].length - pairs.length;
      for (const pair of pairs.matchAll(PAIR)) {
        const { name = '', value = '' } = pair.groups ?? {};
        if (!looksGenerated(value, SESSION_NAME.test(name) ? MIN_SESSION_CHARS : undefined)) continue;
        const end = offset + pair.index + pair[0].length;
        yield { start: end - value.length, end, kind: 'cookie' };
      }
    }
  },
};

const MAX_MANIFEST_CHARS = 8192;
const KIND = /\bkind(?:\\{0,3}["'])?\s{0,4}:\s{0,4}(?:\\{0,3}["'])?Secret\b/g;
const DATA = /\b(?:stringData|data)(?:\\{0,3}["'])?\s{0,4}:/g;
const ENTRY = /["']?[\w.-]{1,253}(?:\\{0,3}["'])?\s{0,4}:\s{0,4}(?:\\{0,3}["'])?(?<value>[A-Za-z0-9+/]{8,8192}={0,2})/g;
const NAMES_OF_MANIFEST = /^["']?(?:kind|apiVersion|type|name|namespace)\b/;

/** The values in the `data` of Kubernetes secrets. */
export const KUBERNETES_RULE: SecretRule = {
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

function isBase64(value: string): boolean {
  return value.length % 4 === 0 && (/[=\d+/]/.test(value) || /[a-z][A-Z]|[A-Z]{2}[a-z]/.test(value));
}

const HEADER =
  /^(?=[^\n]{0,400}(?:pass(?:word|wd|phrase)?|pwd|secret|token|api[_ -]?key)\b)[^\n]{1,400}[,;|\t][^\n]{0,400}$/gim;
const SECRET_COLUMN =
  /^[\s"'*]*(?:[\w -]{0,24}[ _-])?(?:pass(?:word|wd|phrase)?|pwd|secret|token|api[_ -]?key)[\s"'*]*$/i;
const MAX_ROWS = 500;

/** The column of a table (CSV, TSV, Markdown) whose head names a secret. */
export const TABLE_RULE: SecretRule = {
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
