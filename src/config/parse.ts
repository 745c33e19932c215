import { parse, TomlError } from 'smol-toml';
import { z } from 'zod';
import { hidePassword, isArchiveUrl } from '../core/paths.ts';
import { assertNever, err, ok, type Result } from '../core/result.ts';
import { nearestName } from './nearest.ts';
import { parseBytes, parseCount, parseCountOrZero, parseSince } from './quantity.ts';
import { describeForm, type Form, hideCredentials, namesOfChoice } from './setting.ts';
import { type ConfigFile, DEFAULT_SETTINGS, findSetting, mapSettings, valueAt } from './settings.ts';

export type ParsedConfig = { readonly values: ConfigFile; readonly lines: KeyLines };

type Source = { readonly path: string; readonly lines: KeyLines };

/**
 * Parses a configuration file. Reports every problem at once, in the order of the lines; `path` only names the file.
 */
export function parseConfig(text: string, path: string): Result<ParsedConfig, readonly ConfigProblem[]> {
  const toml = parseToml(text, path);
  if (!toml.ok) return err([toml.error]);
  const source: Source = { path, lines: locateKeys(text) };
  const parsed = configFileSchema.safeParse(toml.value);
  if (parsed.success) return ok({ values: parsed.data, lines: source.lines });
  const problems = parsed.error.issues.flatMap((issue) => describeIssue(issue, { source, root: toml.value }));
  return err(problems.sort((a, b) => lineOf(a) - lineOf(b)));
}

export function parseToml(text: string, path: string): Result<unknown, ConfigProblem> {
  try {
    return ok(parse(text, { unsafeKeyBehaviour: 'throw' }));
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    // The rest of the message is an excerpt of the file, which may contain a key.
    const problem = (error.message.split('\n')[0] ?? '').replace(/^Invalid TOML document: /, '');
    return err({ kind: 'config-syntax', path, line: error.line, column: error.column, problem });
  }
}

function describeIssue(
  issue: z.core.$ZodIssue,
  context: { readonly source: Source; readonly root: unknown },
): readonly ConfigProblem[] {
  const { path, lines } = context.source;
  const keys = issue.path.map(String);
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({
      kind: 'config-unknown-key',
      path,
      line: lines.lineOf([...keys, key]),
      key: [...keys, key].join('.'),
      nearest: nearestKey([...keys, key]),
    }));
  }
  const value = valueAt(context.root, keys);
  return [
    {
      kind: 'config-value',
      path,
      line: lines.lineOf(keys),
      key: keys.join('.'),
      problem: issue.message,
      found: describeValue(keys, value),
      nearest: issue.code === 'invalid_value' ? nearestName(String(value), issue.values.map(String)) : null,
    },
  ];
}

/** If the key exists in another table, that one; otherwise the closest key of its own table. */
export function nearestKey(path: readonly string[]): string {
  const name = path.at(-1) ?? '';
  const tables = Object.entries(DEFAULT_SETTINGS).map(([table, keys]) => ({ table, keys: Object.keys(keys) }));
  const home = tables.find(({ keys }) => keys.includes(name));
  if (home !== undefined) return `${home.table}.${name}`;
  if (path[0] === 'prices') return `${path.slice(0, -1).join('.')}.${nearestName(name, ['input', 'output'])}`;
  const own = tables.find(({ table }) => table === path[0] && path.length > 1);
  const known = own === undefined ? tables.map(({ table }) => table) : own.keys;
  const nearest = nearestName(name, known);
  return own === undefined ? nearest : `${own.table}.${nearest}`;
}

const LONGEST_SHOWN = 60;

/** A credential is never repeated, whatever is wrong with it. */
function describeValue(path: readonly string[], value: unknown): string {
  const kind = findSetting(path)?.form.kind;
  if (kind === 'secret') return 'a value that is not shown';
  if (value === undefined) return 'nothing';
  const hide = kind === 'url' ? hideCredentials : kind === 'database' ? hidePassword : String;
  const shown = typeof value === 'string' ? hide(value) : value;
  const text = shown instanceof Date ? String(shown) : JSON.stringify(shown);
  return text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN)}…` : text;
}

function lineOf(problem: ConfigProblem): number {
  return 'line' in problem ? (problem.line ?? 0) : 0;
}

/** What is wrong with the configuration, for the user to fix before anything runs. */
export type ConfigProblem =
  | { readonly kind: 'config-missing'; readonly path: string; readonly namedBy: '--config' | '$COMPACT_CONFIG' }
  | { readonly kind: 'config-unreadable'; readonly path: string; readonly reason: string }
  /** Line and column count from 1. */
  | {
      readonly kind: 'config-syntax';
      readonly path: string;
      readonly line: number;
      readonly column: number;
      readonly problem: string;
    }
  | {
      readonly kind: 'config-unknown-key';
      readonly path: string;
      readonly line: number | null;
      /** Dotted, as in the file. */
      readonly key: string;
      /** Dotted. */
      readonly nearest: string;
    }
  /** `problem` completes "KEY …"; `found` is the value as text. */
  | {
      readonly kind: 'config-value';
      readonly path: string;
      readonly line: number | null;
      readonly key: string;
      readonly problem: string;
      readonly found: string;
      readonly nearest: string | null;
    };

// Each message completes "KEY …", so that an error can be built from the key, the message and the value found.
const string = z.string('must be a string').min(1, 'must not be empty');
const NOT_NEGATIVE: Form = { kind: 'number', min: 0 };

/** The configuration file: every key is optional, and there are no keys beyond those of `SETTINGS`. */
const configFileSchema = table({
  ...Object.fromEntries(
    Object.entries(mapSettings(({ form }) => toZod(form).optional())).map(([name, keys]) => [
      name,
      table(keys).optional(),
    ]),
  ),
  prices: z
    .record(string, table({ input: toZod(NOT_NEGATIVE), output: toZod(NOT_NEGATIVE) }), 'must be a table')
    .optional(),
}) as unknown as z.ZodType<ConfigFile>; // built from the same table as the type

function table(shape: z.core.$ZodShape) {
  return z.strictObject(shape, 'must be a table');
}

function toZod(form: Form): z.ZodType {
  const message = `must be ${describeForm(form)}`;
  switch (form.kind) {
    case 'string':
    case 'secret':
    case 'path':
      return string;
    case 'strings':
      return z.array(string, message);
    case 'boolean':
      return z.boolean(message);
    case 'url':
      return z.url({ protocol: /^https?$/, error: message });
    case 'database':
      return z.string(message).refine((value) => isArchiveUrl(value) && hidePassword(value) === value, message);
    case 'age':
      return z.string(message).refine((value) => parseSince(value, 0).ok, message);
    case 'size':
      return z.string(message).refine((value) => parseBytes(value).ok, message);
    case 'choice':
      return z.enum(namesOfChoice(form), message).transform((name) => form.aliases[name] ?? name);
    case 'number': {
      const number = z.number(message).max(form.max ?? Number.POSITIVE_INFINITY, message);
      return form.above === undefined ? number.min(form.min ?? 0, message) : number.gt(form.above, message);
    }
    case 'whole-number': {
      const number = z
        .int(message)
        .min(form.min, message)
        .max(form.max ?? Number.MAX_SAFE_INTEGER, message);
      return z.preprocess((value) => readCount(value, form.min), number);
    }
    default:
      return assertNever(form);
  }
}

/** Accepts a string that is a number as on the command line: "30k". */
function readCount(value: unknown, min: 0 | 1): unknown {
  if (typeof value !== 'string') return value;
  const parsed = (min === 0 ? parseCountOrZero : parseCount)(value);
  return parsed.ok ? parsed.value : value;
}

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
  for (const { path, line } of scanToml(text)) {
    // A dotted key or header also gives its line to the tables that it opens.
    for (const start of startsOf(path)) if (!lines.has(start)) lines.set(start, line);
  }
  return {
    lineOf: (path) =>
      startsOf(path)
        .flatMap((start) => lines.get(start) ?? [])
        .at(-1) ?? null,
  };
}

/** A path and those of the tables around it, shortest first. */
function startsOf(path: readonly string[]): readonly string[] {
  return path.map((_, at) => path.slice(0, at + 1).join('\0'));
}

function plainKey(source: string): string {
  if (!source.startsWith('"') && !source.startsWith("'")) return source;
  if (!source.includes('\\') || source.startsWith("'")) return source.slice(1, -1);
  const key = parse(`key = ${source}`)['key'];
  return typeof key === 'string' ? key : source;
}
