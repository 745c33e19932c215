import { parse } from 'smol-toml';

/** The lines (from 1) of the keys of a TOML text, by path. A key inside an inline table has the line of the table. */
export type KeyLines = { readonly lineOf: (path: readonly string[]) => number | null };

/** A header or an assignment of a TOML text, with its line (from 1). Offsets are in UTF-16 units, ends are exclusive. */
export type TomlEntry =
  | { readonly kind: 'table'; readonly path: readonly string[]; readonly line: number; readonly end: number }
  | {
      readonly kind: 'key';
      /** Complete, with the table's path. */
      readonly path: readonly string[];
      readonly line: number;
      readonly valueStart: number;
      readonly valueEnd: number;
    };

const BLANK = /(?:[ \t\r\n]|#[^\n]*)*/y;
const KEY_PART = /[ \t]*("(?:[^"\\\n]|\\.)*"|'[^'\n]*'|[^\s."'=[\]#{},]+)[ \t]*(\.?)/y;
const EQUALS = /[ \t]*=[ \t]*/y;
const VALUE_TOKEN =
  /"""(?:[^\\]|\\[^])*?"{3,5}|'''[^]*?'{3,5}|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|#[^\n]*|[[\]{}]|\n|[^"'#[\]{}\n]+/y;

/** `text` must be valid TOML. Needed because smol-toml reports no positions of valid keys. */
export function scanToml(text: string): readonly TomlEntry[] {
  const entries: TomlEntry[] = [];
  let position = 0;
  let counted = 0;
  let line = 1;
  let table: readonly string[] = [];

  const take = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = position;
    const match = pattern.exec(text);
    if (match !== null) position = pattern.lastIndex;
    return match;
  };
  const takeKey = (): readonly string[] => {
    const parts: string[] = [];
    for (;;) {
      const match = take(KEY_PART);
      if (match?.[1] === undefined) return parts;
      parts.push(plainKey(match[1]));
      if (match[2] !== '.') return parts;
    }
  };
  /** Returns where the value ends: before the spaces and the comment that follow it. */
  const takeValue = (): number => {
    let depth = 0;
    let end = position;
    while (position < text.length) {
      const token = take(VALUE_TOKEN)?.[0];
      if (token === undefined || (token === '\n' && depth <= 0)) return end;
      if (token === '[' || token === '{') depth += 1;
      if (token === ']' || token === '}') depth -= 1;
      if (!token.startsWith('#') && token.trim() !== '') end = position - (token.length - token.trimEnd().length);
    }
    return end;
  };

  while (position < text.length) {
    take(BLANK);
    if (position >= text.length) break;
    for (; counted < position; counted += 1) if (text[counted] === '\n') line += 1;
    const start = position;
    if (text[position] === '[') {
      position += text[position + 1] === '[' ? 2 : 1;
      table = takeKey();
      entries.push({ kind: 'table', path: table, line, end: takeValue() });
    } else {
      const path = [...table, ...takeKey()];
      take(EQUALS);
      const valueStart = position;
      entries.push({ kind: 'key', path, line, valueStart, valueEnd: takeValue() });
    }
    if (position === start) break;
  }
  return entries;
}

/** `text` must be valid TOML. */
export function locateKeys(text: string): KeyLines {
  const lines = new Map<string, number>();
  for (const entry of scanToml(text)) remember(lines, entry);
  return { lineOf: (path) => findLine(lines, path) };
}

/** A dotted key or header also gives its line to the tables that it opens. */
function remember(lines: Map<string, number>, key: { readonly path: readonly string[]; readonly line: number }): void {
  for (let length = 1; length <= key.path.length; length += 1) {
    const name = joinPath(key.path.slice(0, length));
    if (!lines.has(name)) lines.set(name, key.line);
  }
}

function findLine(lines: ReadonlyMap<string, number>, path: readonly string[]): number | null {
  for (let length = path.length; length > 0; length -= 1) {
    const line = lines.get(joinPath(path.slice(0, length)));
    if (line !== undefined) return line;
  }
  return null;
}

function joinPath(path: readonly string[]): string {
  return path.join('\0');
}

function plainKey(source: string): string {
  if (!source.startsWith('"') && !source.startsWith("'")) return source;
  if (!source.includes('\\') || source.startsWith("'")) return source.slice(1, -1);
  const key = parse(`key = ${source}`)['key'];
  return typeof key === 'string' ? key : source;
}
