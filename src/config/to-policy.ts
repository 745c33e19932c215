import { DEFAULT_COMPACTION_CONFIG, DEFAULT_REQUEST_TOKENS, type TranscriptPolicy } from '../core/policy.ts';
import type { ResolvedSettings } from './resolve.ts';
import type { SummarizationSettings } from './settings.ts';

/** What only the command line can ask for. */
export type PolicyRequest = {
  readonly targetTokens: number | null;
  /** 'budget': the share of the model's window that the settings name. */
  readonly ifOver: number | 'budget' | null;
  readonly conversation: string | null;
  /** Share of the salient facts that summaries must keep. */
  readonly minRetention?: number;
};

export type ChosenModel = { readonly provider: string; readonly modelName: string };

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
