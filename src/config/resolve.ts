import { dirname, join, resolve } from 'node:path';
import { hidePassword, isArchiveUrl } from '../core/paths.ts';
import { DEFAULT_COMPACTION_CONFIG, DEFAULT_REQUEST_TOKENS, type TranscriptPolicy } from '../core/policy.ts';
import { defaultArchivePath, type HostEnvironment } from './find.ts';
import type { LoadedConfig } from './load.ts';
import { mapSettings, type Settings, type SummarizationSettings, valueAt } from './settings.ts';

/** The settings given on the command line; undefined: not given. */
export type SettingFlags = {
  readonly summarization?: Partial<SummarizationSettings>;
  readonly transcript?: Partial<Settings['transcript']>;
  readonly archive?: Partial<Settings['archive']>;
};

/** The settings that apply, with no default left for the caller to know. */
export type ResolvedSettings = Settings & {
  readonly summarization: { readonly role_weight_tool: number };
  /** path: absolute, or the URL of a database. */
  readonly archive: { readonly path: string };
};

type SettingsInput = {
  readonly config: LoadedConfig;
  readonly flags: SettingFlags;
  readonly host: HostEnvironment;
};

/** Flags win over the file, the file over the defaults. */
export function resolveSettings(input: SettingsInput): ResolvedSettings {
  const settings = layerSettings(input);
  const { summarization, archive } = settings;
  const url = input.flags.archive?.path === undefined ? archive.url : null;
  const { chunk_size: chunkSize, role_weight_tool: toolWeight, provider } = summarization;
  const [file, flags] = [input.config.values.summarization, input.flags.summarization];
  return {
    ...settings,
    summarization: {
      ...summarization,
      chunk_size: chunkSize ?? (provider === 'extractive' ? null : DEFAULT_COMPACTION_CONFIG.chunkSize),
      role_weight_tool: toolWeight ?? summarization.role_weight_user,
      // Rules given for one run are added to those of the file.
      rules: [...(file?.rules ?? []), ...(flags?.rules ?? [])],
      drop_rules: [...(file?.drop_rules ?? []), ...(flags?.drop_rules ?? [])],
    },
    archive: {
      ...archive,
      path: inSchema(url ?? archive.path ?? defaultArchivePath(input.host), archive.schema),
      url,
    },
  };
}

/** Adds the schema to the URL of a database that names none. */
function inSchema(path: string, schema: string | null): string {
  if (schema === null || !isArchiveUrl(path) || /[?&]schema=/.test(path)) return path;
  return `${path}${path.includes('?') ? '&' : '?'}schema=${encodeURIComponent(schema)}`;
}

function layerSettings(input: SettingsInput): Settings {
  const { config, flags, host } = input;
  const tables = mapSettings(({ form, default: byDefault }, table, key): unknown => {
    const isPath = form.kind === 'path';
    const flag = valueAt(flags, [table, key]);
    if (flag !== undefined) return isPath && typeof flag === 'string' ? resolvePath(host.workingFolder, flag) : flag;
    const value = valueAt(config.values, [table, key]);
    if (value === undefined) return byDefault;
    return isPath && typeof value === 'string' ? fromFile(input, value) : value;
  });
  return { ...tables, prices: config.values.prices ?? {} } as unknown as Settings; // same tables and keys as `Settings`
}

/** The URL of an archive stays as it is, without a password: that must not be shown anywhere. */
function resolvePath(folder: string, path: string): string {
  return isArchiveUrl(path) ? hidePassword(path) : resolve(folder, path);
}

/**
 * A path in the file is relative to the file, so that a project's configuration means the same in all of its folders.
 */
function fromFile({ config: { file }, host }: Pick<SettingsInput, 'config' | 'host'>, path: string): string | null {
  if (file === null) return null;
  if (path === '~' || path.startsWith('~/')) return join(host.homeFolder, path.slice(1));
  return resolvePath(dirname(file.path), path);
}

/** What only the command line can request. */
export type PolicyRequest = {
  readonly targetTokens: number | null;
  /** 'budget': the share of the model's window in the settings. */
  readonly ifOver: number | 'budget' | null;
  readonly conversation: string | null;
  /** The share of the salient facts that summaries must keep. */
  readonly minRetention?: number;
  /** A share of the tokens if it is below 1, else bytes on disk. */
  readonly minSaving?: number;
  readonly isFresh?: boolean;
  /** Messages to pin, and no longer to pin. */
  readonly keep?: readonly string[] | undefined;
  readonly unkeep?: readonly string[] | undefined;
};

type ChosenModel = { readonly provider: string; readonly modelName: string };

/** The one place where the names in the file become those of the program. */
export function toPolicy(settings: ResolvedSettings, request: PolicyRequest): TranscriptPolicy {
  const { summarization } = settings;
  const budgetTokens = Math.floor(summarization.context_budget * summarization.model_max_tokens);
  return {
    compaction: {
      chunkSize: summarization.chunk_size ?? DEFAULT_COMPACTION_CONFIG.chunkSize,
      keepRecent: summarization.keep_recent,
      keepRecentTokens: summarization.keep_recent_tokens,
      maxSummaryTokens: summarization.max_summary_tokens,
      ...(summarization.fold_in ? {} : { foldIn: false }),
      ...(isOneBatch(summarization) ? { summaryTokens: summarization.summary_tokens } : {}),
      clipFirst: summarization.clip_first,
      clipLast: summarization.clip_last,
      prompt: summarization.prompt,
      modelMaxTokens: summarization.model_max_tokens,
      scoring: {
        roleWeightSystem: summarization.role_weight_system,
        roleWeightUser: summarization.role_weight_user,
        roleWeightAssistant: summarization.role_weight_assistant,
        roleWeightTool: summarization.role_weight_tool,
        recencyDecay: summarization.recency_decay,
        questionBonus: summarization.question_bonus,
        toolCallBonus: summarization.tool_call_bonus,
        keywordBonus: summarization.keyword_bonus,
        importantKeywords: summarization.important_keywords,
        contentLengthWeight: summarization.content_length_weight,
      },
      ...(summarization.keep_rules ? {} : { keepRules: false }),
      ...(settings.rules.chats ? { rulesFromChats: true } : {}),
      ...(summarization.rules.length === 0 ? {} : { rules: summarization.rules }),
      ...(summarization.drop_rules.length === 0 ? {} : { dropRules: summarization.drop_rules }),
      // The offline summarizer quotes the transcript anyway.
      ...(summarization.provider === 'extractive'
        ? {}
        : { appendixShare: summarization.appendix_share, requestTokens: DEFAULT_REQUEST_TOKENS }),
      ...(request.minRetention === undefined ? {} : { minRetention: request.minRetention }),
      timeout: summarization.compaction_timeout,
      maxRetries: summarization.compaction_max_retries,
      ...(summarization.max_chunk_tokens === null ? {} : { maxChunkTokens: summarization.max_chunk_tokens }),
      maxConsecutiveFailures: summarization.max_consecutive_failures,
    },
    chunkOrder: summarization.chunk_order,
    keepSystem: summarization.keep_system,
    targetTokens: request.targetTokens,
    ifOverTokens: request.ifOver === 'budget' ? budgetTokens : request.ifOver,
    keepInvalid: settings.transcript.keep_invalid,
    conversation: request.conversation,
    ...(request.minSaving === undefined ? {} : { minSaving: request.minSaving }),
    ...(request.isFresh === true && { isFresh: true }),
    ...(request.keep === undefined ? {} : { keep: request.keep }),
    ...(request.unkeep === undefined ? {} : { unkeep: request.unkeep }),
  };
}

/** Offline, everything that leaves becomes one batch, unless someone asked for chunks. */
function isOneBatch({ provider, chunk_size: chunkSize, max_chunk_tokens: chunkTokens }: SummarizationSettings) {
  return provider === 'extractive' && chunkSize === null && chunkTokens === null;
}

export function toModel(settings: ResolvedSettings): ChosenModel {
  const { provider, name } = settings.summarization;
  // The offline summarizer is one algorithm; a model's name in the file is for other providers.
  return { provider, modelName: provider === 'extractive' ? provider : (name ?? provider) };
}
