import { parse, TomlError } from 'smol-toml';
import { err, ok, type Result } from '../core/result.ts';
import { hidePassword } from '../core/paths.ts';
import { nearestName } from './nearest.ts';
import { type KeyLines, locateKeys } from './scan-toml.ts';
import { configFileSchema } from './schema.ts';
import { hideCredentials } from './setting.ts';
import { type ConfigFile, DEFAULT_SETTINGS, findSetting, valueAt } from './settings.ts';

export type ParsedConfig = { readonly values: ConfigFile; readonly lines: KeyLines };

type Source = { readonly path: string; readonly lines: KeyLines };
type Issue = NonNullable<ReturnType<typeof configFileSchema.safeParse>['error']>['issues'][number];

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
  issue: Issue,
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
