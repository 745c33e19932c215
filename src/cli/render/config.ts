import type { FileTrust, LoadedConfig } from '../../config/load.ts';
import type { Origin, SettingRow } from '../../config/origins.ts';
import { byKind } from '../../core/result.ts';
import { safeJson, safeText, shellWord } from '../../messages/text.ts';
import type { Theme } from './theme.ts';

/** Every setting as TOML that can be copied into a file, followed by its source; refused values are comments. */
export function renderSettings(rows: readonly SettingRow[], theme: Theme, refused: readonly SettingRow[] = []) {
  const tables = [...new Set([...rows, ...refused].map(({ table }) => table))];
  return tables.flatMap((table, index) => {
    const texts = rows.filter((row) => row.table === table).map((row) => ({ ...row, text: assignment(row) }));
    const columns = Math.min(48, Math.max(0, ...texts.map(({ text }) => text.length)));
    const lines = texts.map(({ text, origin, key, value }) => {
      if (value === null) return theme.faint(`# ${key}: not set`);
      return `${text.padEnd(columns)}  ${theme.faint(`# ${describeOrigin(origin)}`)}`;
    });
    const comments = refused
      .filter((row) => row.table === table)
      .map((row) => {
        const what = row.isSecret ? row.key : assignment(row);
        return theme.warning(`# refused: ${what}  # ${describeOrigin(row.origin)}`);
      });
    return [...(index === 0 ? [] : ['']), theme.strong(`[${table}]`), ...lines, ...comments];
  });
}

function describeOrigin(origin: Origin): string {
  return byKind(origin, {
    default: () => 'default',
    flag: ({ flag }) => flag,
    environment: ({ variable }) => `$${variable}`,
    file: ({ path, line }) => `${safeText(path)}${line === null ? '' : `:${line}`}`,
  });
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

/** JSON's escapes are also valid in TOML. */
function tomlString(text: string): string {
  return safeJson(JSON.stringify(text));
}

/**
 * One line about the settings (dotted keys) that an untrusted file may not set, with the command that trusts it; no line if there are none.
 * `isNeeded` false: the run continues without them.
 */
export function renderMissed(
  { file }: Pick<LoadedConfig, 'file'>,
  program: () => string,
  { keys, isNeeded }: { readonly keys: readonly string[]; readonly isNeeded: boolean },
) {
  if (file === null || keys.length === 0) return [];
  const line = keys.map((key) => file.lines.lineOf(key.split('.'))).find((one) => one !== null);
  const place = `${safeText(file.path)}${line === undefined ? '' : `:${line}`}`;
  const what = `${describeTrust(file.trust)}, so it may not set ${listKeys(keys)}`;
  const consequence = isNeeded ? ', which this run depends on' : '; this run continues without them';
  return [`${place}: ${what}${consequence}. Read it, then run \`${program()} config trust\`, or give --trust-config.`];
}

/** Why settings of the file were refused, for `config show`. */
export function renderRefusal({ file }: Pick<LoadedConfig, 'file'>, program: string): readonly string[] {
  if (file === null) return [];
  const what = `${describeTrust(file.trust)}, so some of it is refused`;
  return [`${safeText(file.path)}: ${what}. Read it, then run \`${program} config trust\`.`];
}

/** Completes "FILE: …". */
function describeTrust(trust: FileTrust): string {
  return byKind(trust, {
    given: () => 'trusted',
    recorded: () => 'trusted in its current state',
    changed: () => 'it has changed since you trusted it',
    foreign: ({ reason }) => safeText(reason),
    unknown: ({ reason }) => (reason === null ? 'not trusted' : `not trusted (${safeText(reason)})`),
  });
}

/** One line about a repository's file that was ignored. */
export function renderIgnored({ ignored }: Pick<LoadedConfig, 'ignored'>): readonly string[] {
  if (ignored === null) return [];
  const { path, reason } = ignored;
  return [`${safeText(path)}: not read, because ${reason}. Give --config ${shellWord(path)} to use it.`];
}

const MOST_LISTED = 4;

function listKeys(keys: readonly string[]): string {
  const shown = keys.slice(0, keys.length > MOST_LISTED ? MOST_LISTED - 1 : MOST_LISTED).map(safeText);
  const more = keys.length - shown.length;
  const names = more > 0 ? [...shown, `${more} more`] : shown;
  const last = names.pop() ?? '';
  return names.length === 0 ? last : `${names.join(', ')} and ${last}`;
}
