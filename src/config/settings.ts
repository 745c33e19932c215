import { DEFAULT_COMPACTION_CONFIG, DEFAULT_SCORING_CONFIG, DEFAULT_SUMMARY_TOKENS } from '../core/policy.ts';
import type { ConfigFile } from './schema.ts';

/** Tables and keys are those of the config file. Null: not set, and there is no default. */
export type Settings = {
  readonly summarization: SummarizationSettings;
  readonly transcript: { readonly keep_invalid: boolean };
  /** Null: the user's own archive (see `defaultArchivePath`). */
  readonly archive: { readonly path: string | null };
  readonly embedding: EmbeddingSettings;
  readonly privacy: { readonly redact: boolean; readonly redact_rules: string | null };
  readonly prices: { readonly [model: string]: { readonly input: number; readonly output: number } };
};

/** Search by meaning; without a provider there is none. */
type EmbeddingSettings = {
  readonly provider: 'openai-compat' | 'ollama' | null;
  readonly model: string | null;
  readonly base_url: string | null;
  readonly dimensions: number | null;
  readonly api_key: string | null;
  readonly api_key_env: string | null;
  readonly requests_per_minute: number | null;
  readonly input_tokens_per_minute: number | null;
};

export type SummarizationSettings = {
  readonly provider: string;
  readonly name: string | null;
  readonly base_url: string | null;
  readonly api_key: string | null;
  readonly api_key_env: string | null;
  /** Null: depends on the provider. The offline one then makes a single summary. */
  readonly chunk_size: number | null;
  readonly keep_recent: number;
  readonly keep_recent_tokens: number;
  readonly keep_system: boolean;
  /** Of one chunk. */
  readonly max_summary_tokens: number;
  /** Of the single summary that the offline provider makes. */
  readonly summary_tokens: number;
  readonly clip_first: number;
  readonly clip_last: number;
  readonly prompt: string | null;
  /** A share of `model_max_tokens`. */
  readonly context_budget: number;
  readonly model_max_tokens: number;
  readonly chunk_order: 'importance' | 'chronological';
  readonly max_chunk_tokens: number | null;
  /** Milliseconds. */
  readonly compaction_timeout: number | null;
  readonly compaction_max_retries: number | null;
  readonly max_consecutive_failures: number | null;
  readonly requests_per_minute: number | null;
  readonly input_tokens_per_minute: number | null;
  readonly output_tokens_per_minute: number | null;
  readonly max_tokens_field: 'max_tokens' | 'max_completion_tokens' | null;
  readonly fallback: 'none' | 'extractive';
  readonly appendix_share: number;
  readonly keep_rules: boolean;
  readonly rules: readonly string[];
  readonly drop_rules: readonly string[];
  readonly role_weight_system: number;
  readonly role_weight_user: number;
  readonly role_weight_assistant: number;
  /** Null: the user's weight. */
  readonly role_weight_tool: number | null;
  readonly recency_decay: number;
  readonly question_bonus: number;
  readonly tool_call_bonus: number;
  readonly keyword_bonus: number;
  readonly important_keywords: readonly string[];
  readonly content_length_weight: number;
};

export const PROVIDERS = ['extractive', 'anthropic', 'openai-compat', 'ollama'] as const;

export const DEFAULT_SETTINGS: Settings = {
  summarization: {
    provider: 'extractive',
    name: null,
    base_url: null,
    api_key: null,
    api_key_env: null,
    chunk_size: null,
    keep_recent: DEFAULT_COMPACTION_CONFIG.keepRecent,
    keep_recent_tokens: DEFAULT_COMPACTION_CONFIG.keepRecentTokens,
    keep_system: true,
    max_summary_tokens: DEFAULT_COMPACTION_CONFIG.maxSummaryTokens,
    summary_tokens: DEFAULT_SUMMARY_TOKENS,
    clip_first: DEFAULT_COMPACTION_CONFIG.clipFirst,
    clip_last: DEFAULT_COMPACTION_CONFIG.clipLast,
    prompt: DEFAULT_COMPACTION_CONFIG.prompt,
    context_budget: 0.8,
    model_max_tokens: DEFAULT_COMPACTION_CONFIG.modelMaxTokens,
    chunk_order: 'importance',
    max_chunk_tokens: null,
    compaction_timeout: DEFAULT_COMPACTION_CONFIG.timeout,
    compaction_max_retries: DEFAULT_COMPACTION_CONFIG.maxRetries,
    max_consecutive_failures: DEFAULT_COMPACTION_CONFIG.maxConsecutiveFailures,
    requests_per_minute: null,
    input_tokens_per_minute: null,
    output_tokens_per_minute: null,
    max_tokens_field: null,
    fallback: 'none',
    appendix_share: 0.25,
    keep_rules: true,
    rules: [],
    drop_rules: [],
    role_weight_system: DEFAULT_SCORING_CONFIG.roleWeightSystem,
    role_weight_user: DEFAULT_SCORING_CONFIG.roleWeightUser,
    role_weight_assistant: DEFAULT_SCORING_CONFIG.roleWeightAssistant,
    role_weight_tool: null,
    recency_decay: DEFAULT_SCORING_CONFIG.recencyDecay,
    question_bonus: DEFAULT_SCORING_CONFIG.questionBonus,
    tool_call_bonus: DEFAULT_SCORING_CONFIG.toolCallBonus,
    keyword_bonus: DEFAULT_SCORING_CONFIG.keywordBonus,
    important_keywords: DEFAULT_SCORING_CONFIG.importantKeywords,
    content_length_weight: DEFAULT_SCORING_CONFIG.contentLengthWeight,
  },
  transcript: { keep_invalid: false },
  archive: { path: null },
  embedding: {
    provider: null,
    model: null,
    base_url: null,
    dimensions: null,
    api_key: null,
    api_key_env: null,
    requests_per_minute: null,
    input_tokens_per_minute: null,
  },
  privacy: { redact: true, redact_rules: null },
  prices: {},
};

/** A URL as it may be shown: without a name and a password before the host. Any text will do. */
export function hideCredentials(url: string): string {
  const start = /^(?:https?:[/\\]*|[a-z][a-z\d+.-]*:\/\/)/i.exec(url)?.[0].length ?? 0;
  const authority = /^[^/\\?#]*/.exec(url.slice(start))?.[0] ?? '';
  const at = authority.lastIndexOf('@');
  return at === -1 ? url : `${url.slice(0, start)}…${url.slice(start + at)}`;
}

/** The settings of a file that apply, and those that would need trust. */
export type SplitConfig = { readonly values: ConfigFile; readonly refused: ConfigFile };

/**
 * Without trust a project's file may set the numbers of [summarization] and nothing else: none of them decides what is sent, or where to. Retries could
 * cost any amount of money when the user names a model, so their number may only be lowered.
 */
export function splitUntrusted({ summarization = {}, ...others }: ConfigFile): SplitConfig {
  const allowed = Object.fromEntries(Object.entries(summarization).filter(isHarmless));
  const refused = Object.fromEntries(Object.entries(summarization).filter((entry) => !isHarmless(entry)));
  return {
    values: { summarization: allowed },
    refused: { ...(Object.keys(refused).length === 0 ? {} : { summarization: refused }), ...others },
  };
}

function isHarmless([key, value]: readonly [string, unknown]): boolean {
  if (typeof value !== 'number') return false;
  const usual = DEFAULT_SETTINGS.summarization.compaction_max_retries;
  return key !== 'compaction_max_retries' || usual === null || value <= usual;
}

/** Undoes `splitUntrusted`. */
export function joinConfig({ values, refused }: SplitConfig): ConfigFile {
  return { ...values, ...refused, summarization: { ...values.summarization, ...refused.summarization } };
}
