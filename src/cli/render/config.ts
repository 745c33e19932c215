import type { Origin, SettingRow } from '../../config/origins.ts';
import { assertNever } from '../../core/result.ts';
import { safeJson, safeText } from './safe-text.ts';
import type { Theme } from './theme.ts';

/** Every setting as TOML, so that it can be copied into a file, and behind each where its value comes from; comments say what was refused. */
export function renderSettings(
  rows: readonly SettingRow[],
  theme: Theme,
  refused: readonly SettingRow[] = [],
): readonly string[] {
  const tables = [...new Set([...rows, ...refused].map(({ table }) => table))];
  return tables.flatMap((table, index) => [
    ...(index === 0 ? [] : ['']),
    theme.strong(`[${table}]`),
    ...renderTable(
      rows.filter((row) => row.table === table),
      theme,
    ),
    ...refused.filter((row) => row.table === table).map((row) => theme.warning(renderRefused(row))),
  ]);
}

function renderRefused(row: SettingRow): string {
  const what = row.isSecret ? row.key : assignment(row);
  return `# refused: ${what}  # ${describeOrigin(row.origin)}`;
}

function renderTable(rows: readonly SettingRow[], theme: Theme): readonly string[] {
  const texts = rows.map((row) => ({ text: assignment(row), origin: describeOrigin(row.origin), row }));
  const columns = Math.min(48, Math.max(0, ...texts.map(({ text }) => text.length)));
  return texts.map(({ text, origin, row }) => {
    if (row.value === null) return theme.faint(`# ${row.key}: not set`);
    return `${text.padEnd(columns)}  ${theme.faint(`# ${origin}`)}`;
  });
}

function describeOrigin(origin: Origin): string {
  switch (origin.kind) {
    case 'default':
      return 'default';
    case 'flag':
      return origin.flag;
    case 'environment':
      return `$${origin.variable}`;
    case 'file':
      return `${safeText(origin.path)}${origin.line === null ? '' : `:${origin.line}`}`;
    default:
      return assertNever(origin);
  }
}

function assignment(row: SettingRow): string {
  const key = /^[A-Za-z0-9_-]+$/.test(row.key) ? row.key : tomlString(row.key);
  return row.isSecret ? `# ${key}: set, not shown` : `${key} = ${tomlValue(row.value)}`;
}

function tomlValue(value: unknown): string {
  if (typeof value === 'string') return tomlString(value);
  if (Array.isArray(value)) return `[${value.map(tomlValue).join(', ')}]`;
  if (typeof value === 'object' && value !== null) {
    return `{ ${Object.entries(value)
      .map(([key, item]) => `${key} = ${tomlValue(item)}`)
      .join(', ')} }`;
  }
  return String(value);
}

/** JSON's escapes are TOML's too. */
function tomlString(text: string): string {
  return safeJson(JSON.stringify(text));
}
