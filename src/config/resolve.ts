import { dirname, join, resolve } from 'node:path';
import { DEFAULT_COMPACTION_CONFIG, DEFAULT_REQUEST_TOKENS, type TranscriptPolicy } from '../core/policy.ts';
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

/** What only the command line can ask for. */
export type PolicyRequest = {
  readonly targetTokens: number | null;
  /** 'budget': the share of the model's window that the settings name. */
  readonly ifOver: number | 'budget' | null;
  readonly conversation: string | null;
  /** Share of the salient facts that summaries must keep. */
  readonly minRetention?: number;
};

type ChosenModel = { readonly provider: string; readonly modelName: string };

/** The one place where the file's names become the program's. */
export function toPolicy(settings: ResolvedSettings, request: PolicyRequest): TranscriptPolicy {
  const { summarization } = settings;
  const budgetTokens = Math.floor(summarization.context_budget * summarization.model_max_tokens);
  return {
    compaction: {
      chunkSize: summarization.chunk_size ?? DEFAULT_COMPACTION_CONFIG.chunkSize,
      keepRecent: summarization.keep_recent,
      keepRecentTokens: summarization.keep_recent_tokens,
      maxSummaryTokens: summarization.max_summary_tokens,
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
      ...(summarization.rules.length === 0 ? {} : { rules: summarization.rules }),
      ...(summarization.drop_rules.length === 0 ? {} : { dropRules: summarization.drop_rules }),
      // The offline summarizer's own words are the transcript's already.
      ...(summarization.provider === 'extractive'
        ? {}
        : { appendixShare: summarization.appendix_share, requestTokens: DEFAULT_REQUEST_TOKENS }),
      ...(request.minRetention === undefined ? {} : { minRetention: request.minRetention }),
      ...(summarization.compaction_timeout === null ? {} : { timeout: summarization.compaction_timeout }),
      ...(summarization.compaction_max_retries === null ? {} : { maxRetries: summarization.compaction_max_retries }),
      ...(summarization.max_chunk_tokens === null ? {} : { maxChunkTokens: summarization.max_chunk_tokens }),
      ...(summarization.max_consecutive_failures === null
        ? {}
        : { maxConsecutiveFailures: summarization.max_consecutive_failures }),
    },
    chunkOrder: summarization.chunk_order,
    keepSystem: summarization.keep_system,
    targetTokens: request.targetTokens,
    ifOverTokens: request.ifOver === 'budget' ? budgetTokens : request.ifOver,
    keepInvalid: settings.transcript.keep_invalid,
    conversation: request.conversation,
  };
}

/** Offline everything that goes is one batch, unless someone asked for chunks. */
function isOneBatch({
  provider,
  chunk_size: chunkSize,
  max_chunk_tokens: chunkTokens,
}: SummarizationSettings): boolean {
  return provider === 'extractive' && chunkSize === null && chunkTokens === null;
}

export function toModel(settings: ResolvedSettings): ChosenModel {
  const { provider, name } = settings.summarization;
  // The offline summarizer is one algorithm: a model's name in the file belongs to the providers that have models.
  return { provider, modelName: provider === 'extractive' ? provider : (name ?? provider) };
}
