import type { HostEnvironment } from './find.ts';
import type { LoadedConfig } from './load.ts';
import { type ResolvedSettings, resolveSettings, type SettingFlags } from './resolve.ts';
import type { SettingsUse } from './setting.ts';
import { findSetting, joinConfig, valueAt } from './settings.ts';

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
