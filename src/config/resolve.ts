import { dirname, join, resolve } from 'node:path';
import { DEFAULT_COMPACTION_CONFIG } from '../core/policy.ts';
import { defaultArchivePath, type Surroundings } from './find.ts';
import type { LoadedConfig } from './load.ts';
import { DEFAULT_SETTINGS, type Settings, type SummarizationSettings } from './settings.ts';

/** Settings that the command line gives; undefined: it does not. */
export type SettingFlags = {
  readonly summarization?: Partial<SummarizationSettings>;
  readonly transcript?: Partial<Settings['transcript']>;
  readonly archive?: Partial<Settings['archive']>;
};

/** What applies: nothing is left to a default that the caller would have to know. */
export type ResolvedSettings = Settings & {
  readonly summarization: { readonly role_weight_tool: number };
  /** Absolute. */
  readonly archive: { readonly path: string };
};

/** Flags win over the file, the file over the defaults. */
export function resolveSettings(input: {
  readonly config: LoadedConfig;
  readonly flags: SettingFlags;
  readonly surroundings: Surroundings;
}): ResolvedSettings {
  const { config, flags, surroundings } = input;
  const file = config.values;
  const summarization: SummarizationSettings = {
    ...DEFAULT_SETTINGS.summarization,
    ...file.summarization,
    ...defined(flags.summarization ?? {}),
  };
  const { provider } = summarization;
  return {
    summarization: {
      ...summarization,
      chunk_size: summarization.chunk_size ?? (provider === 'extractive' ? null : DEFAULT_COMPACTION_CONFIG.chunkSize),
      role_weight_tool: summarization.role_weight_tool ?? summarization.role_weight_user,
      // What is given for one run comes on top of what always holds.
      rules: [...(file.summarization?.rules ?? []), ...(flags.summarization?.rules ?? [])],
      drop_rules: [...(file.summarization?.drop_rules ?? []), ...(flags.summarization?.drop_rules ?? [])],
    },
    transcript: { ...DEFAULT_SETTINGS.transcript, ...file.transcript, ...defined(flags.transcript ?? {}) },
    archive: { path: archivePath(input) ?? defaultArchivePath(surroundings) },
    embedding: { ...DEFAULT_SETTINGS.embedding, ...file.embedding },
    privacy: {
      ...DEFAULT_SETTINGS.privacy,
      ...file.privacy,
      redact_rules: fromFile(input, file.privacy?.redact_rules),
    },
    prices: { ...DEFAULT_SETTINGS.prices, ...file.prices },
  };
}

function archivePath(input: {
  readonly config: LoadedConfig;
  readonly flags: SettingFlags;
  readonly surroundings: Surroundings;
}): string | null {
  const { config, flags, surroundings } = input;
  const given = flags.archive?.path ?? null;
  return given === null ? fromFile(input, config.values.archive?.path) : resolve(surroundings.workingFolder, given);
}

/** A path of the file is relative to the file, so that a project's config means the same in each of its folders. */
function fromFile(
  { config: { file }, surroundings }: { readonly config: LoadedConfig; readonly surroundings: Surroundings },
  path: string | undefined,
): string | null {
  if (path === undefined || file === null) return null;
  if (path === '~' || path.startsWith('~/')) return join(surroundings.homeFolder, path.slice(1));
  return resolve(dirname(file.path), path);
}

/** Spreading an undefined value would erase what it overrides. */
function defined<T extends object>(flags: T): Partial<T> {
  const given: Partial<T> = { ...flags };
  for (const key in given) if (given[key] === undefined) delete given[key];
  return given;
}
