import type { Surroundings } from './find.ts';
import type { LoadedConfig } from './load.ts';
import { type ResolvedSettings, resolveSettings, type SettingFlags } from './resolve.ts';
import { joinConfig } from './settings.ts';

/**
 * What a command uses settings for. selection: which messages stay, and the order of summaries; model: requests to a service, and their cost;
 * archive: which one is opened; embedding: vectors.
 */
export type SettingsUse = 'selection' | 'model' | 'archive' | 'embedding';

export type ConfigUse = {
  readonly config: LoadedConfig;
  readonly flags: SettingFlags;
  readonly surroundings: Surroundings;
  readonly uses: readonly SettingsUse[];
};

/**
 * The refused settings (as `summarization.provider`, in the file's order) that would change what a command does. A setting does not count if a flag
 * overrides it, if its value applies anyway, or if it is about a model and none is used.
 */
export function findMissed({ config, flags, surroundings, uses }: ConfigUse): readonly string[] {
  const asked = resolveSettings({ config: { ...config, values: joinConfig(config) }, flags, surroundings });
  const applied = resolveSettings({ config, flags, surroundings });
  return Object.entries(config.refused).flatMap(([table, keys]) =>
    Object.keys(keys ?? {}).flatMap((key) => {
      const isUsed = usesOf(table, key).some((use) => uses.includes(use) && isAtWork(use, asked));
      return isUsed && differs(table, key, [asked, applied]) ? [`${table}.${key}`] : [];
    }),
  );
}

const MODEL_KEYS: readonly string[] = [
  'provider',
  'name',
  'base_url',
  'api_key',
  'api_key_env',
  'prompt',
  'compaction_timeout',
  'compaction_max_retries',
  'max_consecutive_failures',
  'requests_per_minute',
  'input_tokens_per_minute',
  'output_tokens_per_minute',
  'max_tokens_field',
  'fallback',
  'appendix_share',
];

function usesOf(table: string, key: string): readonly SettingsUse[] {
  switch (table) {
    case 'archive':
      return ['archive'];
    case 'embedding':
      return ['embedding'];
    case 'privacy':
      return ['model', 'embedding'];
    case 'prices':
      return ['model'];
    case 'summarization':
      return MODEL_KEYS.includes(key) ? ['model'] : ['selection'];
    default:
      return ['selection'];
  }
}

function isAtWork(use: SettingsUse, { summarization, embedding }: ResolvedSettings): boolean {
  if (use === 'model') return summarization.provider !== 'extractive';
  return use !== 'embedding' || embedding.provider !== null;
}

function differs(table: string, key: string, [asked, applied]: readonly [ResolvedSettings, ResolvedSettings]): boolean {
  // Not setting it is a third value: secrets are then masked for other machines only.
  if (table === 'privacy' && key === 'redact') return true;
  const valueIn = (settings: ResolvedSettings): string | undefined => {
    const keys = Object.entries(settings).find(([name]) => name === table)?.[1];
    return JSON.stringify(Object.entries(keys ?? {}).find(([name]) => name === key)?.[1]);
  };
  return valueIn(asked) !== valueIn(applied);
}
