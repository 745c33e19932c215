import { parse } from 'smol-toml';

/** Where the keys of a TOML text stand: line (from 1) by path. Keys inside an inline table have none of their own. */
export type KeyLines = { readonly lineOf: (path: readonly string[]) => number | null };

const BLANK = /(?:[ \t\r\n]|#[^\n]*)*/y;
const KEY_PART = /[ \t]*("(?:[^"\\\n]|\\.)*"|'[^'\n]*'|[^\s."'=[\]#{},]+)[ \t]*(\.?)/y;
const VALUE_TOKEN =
  /"""(?:[^\\]|\\[^])*?"{3,5}|'''[^]*?'{3,5}|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|#[^\n]*|[[\]{}]|\n|[^"'#[\]{}\n]+/y;

/** `text` must be valid TOML: smol-toml's result carries no positions, and an error without a line is half an error. */
export function locateKeys(text: string): KeyLines {
  const lines = new Map<string, number>();
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
  const skipValue = (): void => {
    let depth = 0;
    while (position < text.length) {
      const token = take(VALUE_TOKEN)?.[0];
      if (token === undefined || (token === '\n' && depth <= 0)) return;
      if (token === '[' || token === '{') depth += 1;
      if (token === ']' || token === '}') depth -= 1;
    }
  };

  while (position < text.length) {
    take(BLANK);
    if (position >= text.length) break;
    for (; counted < position; counted += 1) if (text[counted] === '\n') line += 1;
    const start = position;
    if (text[position] === '[') {
      position += text[position + 1] === '[' ? 2 : 1;
      table = takeKey();
      remember(lines, { path: table, line });
      skipValue();
    } else {
      remember(lines, { path: [...table, ...takeKey()], line });
      skipValue();
    }
    if (position === start) break;
  }
  return { lineOf: (path) => findLine(lines, path) };
}

/** A dotted key or header speaks for the tables that it opens as well. */
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
