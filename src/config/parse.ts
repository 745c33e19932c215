import { parse, TomlError } from 'smol-toml';
import { err, ok, type Result } from '../core/result.ts';
import { type KeyLines, locateKeys } from './locate.ts';
import { nearestName } from './nearest.ts';
import type { ConfigProblem } from './problem.ts';
import { type ConfigFile, configFileSchema } from './schema.ts';
import { DEFAULT_SETTINGS } from './settings.ts';
import { hideCredentials } from './shown-url.ts';

export type ParsedConfig = { readonly values: ConfigFile; readonly lines: KeyLines };

type Source = { readonly path: string; readonly lines: KeyLines };
type Issue = NonNullable<ReturnType<typeof configFileSchema.safeParse>['error']>['issues'][number];

/** Every problem of the file at once, in the order in which they stand; `path` only names it in them. */
export function parseConfig(text: string, path: string): Result<ParsedConfig, readonly ConfigProblem[]> {
  const toml = parseToml(text, path);
  if (!toml.ok) return err([toml.error]);
  const source: Source = { path, lines: locateKeys(text) };
  const parsed = configFileSchema.safeParse(toml.value);
  if (parsed.success) return ok({ values: parsed.data, lines: source.lines });
  const problems = parsed.error.issues.flatMap((issue) => describeIssue(issue, { source, root: toml.value }));
  return err(problems.sort((a, b) => lineOf(a) - lineOf(b)));
}

function parseToml(text: string, path: string): Result<unknown, ConfigProblem> {
  try {
    return ok(parse(text, { unsafeKeyBehaviour: 'throw' }));
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    // The rest of its message is an excerpt of the file, which may hold a key.
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

/** A key that stands in the wrong table is that key; otherwise the most alike of its own table. */
function nearestKey(path: readonly string[]): string {
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

function valueAt(root: unknown, path: readonly string[]): unknown {
  let value: unknown = root;
  for (const key of path) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = Object.entries(value).find(([name]) => name === key)?.[1];
  }
  return value;
}

const LONGEST_SHOWN = 60;

/** A credential is not repeated, whatever is wrong with it. */
function describeValue(path: readonly string[], value: unknown): string {
  if (path.at(-1) === 'api_key') return 'a value that is not shown';
  if (value === undefined) return 'nothing';
  const shown = typeof value === 'string' && path.at(-1) === 'base_url' ? hideCredentials(value) : value;
  const text = shown instanceof Date ? String(shown) : JSON.stringify(shown);
  return text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN)}…` : text;
}

function lineOf(problem: ConfigProblem): number {
  return 'line' in problem ? (problem.line ?? 0) : 0;
}
