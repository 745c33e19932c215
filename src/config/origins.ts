import type { HostEnvironment } from './find.ts';
import type { LoadedConfig } from './load.ts';
import { type ResolvedSettings, resolveSettings, type SettingFlags } from './resolve.ts';
import { hideCredentials, type SettingsUse } from './setting.ts';
import { type ConfigFile, findSetting, joinConfig, valueAt } from './settings.ts';

export type Origin =
  | { readonly kind: 'default' }
  | { readonly kind: 'flag'; readonly flag: string }
  | { readonly kind: 'environment'; readonly variable: string }
  | { readonly kind: 'file'; readonly path: string; readonly line: number | null };

/** One setting as it applies. `value` null: not set. A secret's value has been replaced. */
export type SettingRow = {
  readonly table: string;
  readonly key: string;
  readonly value: unknown;
  readonly isSecret: boolean;
  readonly origin: Origin;
};

/** Every setting, in the file's order, with where its value came from. */
export function listSettings(input: {
  readonly settings: ResolvedSettings;
  readonly config: LoadedConfig;
  readonly flags: SettingFlags;
  readonly host: HostEnvironment;
}): readonly SettingRow[] {
  const { archive } = input.settings;
  // The URL of a database replaces the path.
  const path = archive.url === null ? archive.path : (input.config.values.archive?.path ?? null);
  return toRows({ ...input.settings, archive: { ...archive, path } }, (keys) => originOf(keys, input));
}

/** The settings in a file, in its order; `values` is all or part of it. */
export function listFileSettings(
  { path, lines }: Pick<NonNullable<LoadedConfig['file']>, 'path' | 'lines'>,
  values: ConfigFile,
): readonly SettingRow[] {
  return toRows(values, (keys) => ({ kind: 'file', path, line: lines.lineOf(keys) }));
}

type KeyPath = readonly [table: string, key: string];

function toRows(tables: object, originOf: (path: KeyPath) => Origin): readonly SettingRow[] {
  return Object.entries(tables).flatMap(([table, keys]: [string, unknown]) =>
    Object.entries(keys ?? {}).map(([key, value]: [string, unknown]): SettingRow => {
      const kind = findSetting([table, key])?.form.kind;
      const isSecret = kind === 'secret' && value !== null;
      return {
        table,
        key,
        value: isSecret
          ? '(set, not shown)'
          : typeof value === 'string' && kind === 'url'
            ? hideCredentials(value)
            : value,
        isSecret,
        origin: originOf([table, key]),
      };
    }),
  );
}

function originOf(path: KeyPath, { settings, config, flags, host }: Parameters<typeof listSettings>[0]): Origin {
  if (isGiven(flags, path)) return { kind: 'flag', flag: flagName(path) };
  if (config.file !== null && isGiven(config.values, path)) {
    return { kind: 'file', path: config.file.path, line: config.file.lines.lineOf(path) };
  }
  const dataHome = host.environment['XDG_DATA_HOME'];
  const isDefaultArchive = path.join('.') === 'archive.path' && settings.archive.url === null;
  if (isDefaultArchive && dataHome !== undefined && dataHome.startsWith('/')) {
    return { kind: 'environment', variable: 'XDG_DATA_HOME' };
  }
  return { kind: 'default' };
}

function isGiven(tables: object, path: KeyPath): boolean {
  return valueAt(tables, path) !== undefined;
}

function flagName(path: KeyPath): string {
  return findSetting(path)?.flag ?? `--${path[1].replaceAll('_', '-')}`;
}

export type ConfigUse = {
  readonly config: LoadedConfig;
  readonly flags: SettingFlags;
  readonly host: HostEnvironment;
  readonly uses: readonly SettingsUse[];
};

/**
 * The refused settings (as `summarization.provider`, in the file's order) that would change what a command does. A
 * setting is left out if a flag overrides it, if its value applies anyway, or if it concerns a model and none is used.
 */
export function findMissed({ config, flags, host, uses }: ConfigUse): readonly string[] {
  const asked = resolveSettings({ config: { ...config, values: joinConfig(config) }, flags, host });
  const applied = resolveSettings({ config, flags, host });
  return Object.entries(config.refused).flatMap(([table, keys]) =>
    Object.keys(keys ?? {}).flatMap((key) => {
      const isUsed = usesOf(table, key).some((use) => uses.includes(use) && isAtWork(use, asked));
      return isUsed && differs(table, key, [asked, applied]) ? [`${table}.${key}`] : [];
    }),
  );
}

function usesOf(table: string, key: string): readonly SettingsUse[] {
  return table === 'prices' ? ['model'] : (findSetting([table, key])?.uses ?? ['selection']);
}

function isAtWork(use: SettingsUse, { summarization, embedding }: ResolvedSettings): boolean {
  if (use === 'model') return summarization.provider !== 'extractive';
  return use !== 'embedding' || embedding.provider !== null;
}

function differs(table: string, key: string, [asked, applied]: readonly [ResolvedSettings, ResolvedSettings]): boolean {
  // Unset is a third value: secrets are then masked for other machines only.
  if (table === 'privacy' && key === 'redact') return true;
  const valueIn = (settings: ResolvedSettings): string | undefined => JSON.stringify(valueAt(settings, [table, key]));
  return valueIn(asked) !== valueIn(applied);
}
