import { isDeepStrictEqual } from 'node:util';
import { parse, TomlError } from 'smol-toml';
import { err, ok, type Result } from '../core/result.ts';
import { type ConfigProblem, nearestKey, parseConfig, parseToml, scanToml, type TomlEntry } from './parse.ts';
import { findSetting, valueAt } from './settings.ts';

/** A setting by its path in the file; the error is a sentence. */
export function parseKey(name: string): Result<readonly string[], string> {
  const path = readKey(name);
  if (path === null) return err(`'${name}' is not a key: write it like summarization.keep_recent`);
  const isPrice = path[0] === 'prices' && path.length === 2;
  if (isPrice || (path.length === 2 && findSetting(path) !== null)) return ok(path);
  return err(`there is no key '${name}': did you mean ${nearestKey(path)}?`);
}

/** `prices."a.b"` → `prices` and `a.b`. Null: not a key of TOML. */
function readKey(name: string): readonly string[] | null {
  if (/[\n=#]/.test(name)) return null;
  try {
    const path: string[] = [];
    let value: unknown = parse(`${name} = 0`);
    while (typeof value === 'object' && value !== null) {
      const [key = '', inner] = Object.entries(value)[0] ?? [];
      path.push(key);
      value = inner;
    }
    return path;
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    return null;
  }
}

/** The value of a command line as TOML, of the type that the setting has. The check of the whole file finds wrong ones. */
function toLiteral(path: readonly string[], value: string): string {
  const text = JSON.stringify(value);
  switch (findSetting(path)?.form.kind) {
    case 'boolean':
      return /^(?:true|false)$/.test(value) ? value : text;
    case 'whole-number':
    case 'number':
      return /^-?\d+(?:\.\d+)?$/.test(value) ? value.replace(/^(-?)0+(?=\d)/, '$1') : text;
    case 'strings':
      return value.trimStart().startsWith('[') ? value.trim() : `[${text}]`;
    case undefined:
      return value.trim(); // a price: `{ input = 1, output = 5 }`
    default:
      return text;
  }
}

export type SetProblem =
  | ConfigProblem
  /** The value could not be put into this text without touching more than the key. */
  | { readonly kind: 'config-layout'; readonly path: string; readonly line: number | null };

type Change = { readonly path: string; readonly key: readonly string[]; readonly value: string };

/**
 * Sets a key in the text of a configuration file, which `path` names in problems. Everything else stays as it is, comments too. The result
 * is a valid configuration in which only this key changed.
 */
export function setValue(text: string, { path, key, value }: Change): Result<string, readonly SetProblem[]> {
  const before = parseToml(text, path);
  if (!before.ok) return err([before.error]);
  const literal = toLiteral(key, value);
  const wanted = parseToml(`value = ${literal}\n`, path);
  const changed = placeValue(text, key, literal);
  const after = parseToml(changed, path);
  const line = lineOf(scanToml(text), key);
  if (!wanted.ok || !after.ok || Object.keys(Object(wanted.value)).length !== 1) {
    return err([{ kind: 'config-layout', path, line }]);
  }
  const expected = withValue(before.value, key, Object(wanted.value).value);
  // A clone has plain objects only, whatever the parser made.
  if (!isDeepStrictEqual(structuredClone(after.value), structuredClone(expected))) {
    return err([{ kind: 'config-layout', path, line }]);
  }
  const parsed = parseConfig(changed, path);
  return parsed.ok ? ok(changed) : parsed;
}

function placeValue(text: string, key: readonly string[], literal: string): string {
  const entries = scanToml(text);
  const known = entries.find((entry) => entry.kind === 'key' && isSame(entry.path, key));
  if (known?.kind === 'key') return text.slice(0, known.valueStart) + literal + text.slice(known.valueEnd);
  const [table = '', name = ''] = key;
  const lineEnd = text.includes('\r\n') ? '\r\n' : '\n';
  const assignment = `${plain(name)} = ${literal}`;
  const header = entries.findIndex((entry) => entry.kind === 'table' && isSame(entry.path, [table]));
  if (header !== -1) {
    const start = endOf(entries[header]);
    const next = entries.findIndex((entry, index) => index > header && entry.kind === 'table');
    const own = entries.slice(header, next === -1 ? undefined : next);
    // Below the comment that shows the key's default, if there is one.
    const section = text.slice(start, next === -1 ? undefined : startOfLine(text, entries[next]?.line ?? 1));
    const comment = findSetting(key) === null ? null : new RegExp(`^#:? ?${name} = .*$`, 'm').exec(section);
    const after = comment === null ? endOf(own.at(-1)) : start + comment.index + comment[0].trimEnd().length;
    return insertLine(text, after, assignment, lineEnd);
  }
  const dotted = entries.findLast((entry) => entry.kind === 'key' && entry.path[0] === table);
  if (dotted !== undefined) return insertLine(text, endOf(dotted), `${table}.${assignment}`, lineEnd);
  const gap = text === '' ? '' : text.endsWith('\n') ? lineEnd : lineEnd + lineEnd;
  return `${text}${gap}[${table}]${lineEnd}${assignment}${lineEnd}`;
}

function insertLine(text: string, after: number, line: string, lineEnd: string): string {
  const at = text.indexOf('\n', after);
  if (at === -1) return `${text}${lineEnd}${line}${lineEnd}`;
  return `${text.slice(0, at + 1)}${line}${lineEnd}${text.slice(at + 1)}`;
}

function endOf(entry: TomlEntry | undefined): number {
  return entry === undefined ? 0 : entry.kind === 'table' ? entry.end : entry.valueEnd;
}

function startOfLine(text: string, line: number): number {
  let at = 0;
  for (let count = 1; count < line; count += 1) at = text.indexOf('\n', at) + 1;
  return at;
}

function plain(key: string): string {
  return /^[\w-]+$/.test(key) ? key : JSON.stringify(key);
}

function isSame(path: readonly string[], other: readonly string[]): boolean {
  return isDeepStrictEqual(path, other);
}

function lineOf(entries: readonly TomlEntry[], [table]: readonly string[]): number | null {
  return entries.find(({ path }) => path[0] === table)?.line ?? null;
}

function withValue(root: unknown, [table = '', key = '']: readonly string[], value: unknown): unknown {
  return { ...Object(root), [table]: { ...Object(valueAt(root, [table])), [key]: value } };
}
