/** How much each property of a message adds to its importance score. */
export type ImportanceScoringConfig = {
  readonly roleWeightSystem: number;
  readonly roleWeightUser: number;
  readonly roleWeightAssistant: number;
  /** Defaults to the user's weight. */
  readonly roleWeightTool?: number;
  /** In (0, 1]. The role's weight is multiplied by this once for every later message. */
  readonly recencyDecay: number;
  readonly questionBonus: number;
  readonly toolCallBonus: number;
  readonly keywordBonus: number;
  readonly importantKeywords: readonly string[];
  /** Points per 100 characters, at most three. */
  readonly contentLengthWeight: number;
};

export const DEFAULT_SCORING_CONFIG: ImportanceScoringConfig = {
  roleWeightSystem: 10,
  roleWeightUser: 5,
  roleWeightAssistant: 3,
  recencyDecay: 0.95,
  questionBonus: 2,
  toolCallBonus: 4,
  keywordBonus: 1.5,
  importantKeywords: ['error', 'fail', 'bug', 'fix', 'decision', 'agreed', 'constraint', 'requirement'],
  contentLengthWeight: 1,
};

export type CompactionConfig = {
  /** Messages per chunk, if `summaryTokens` is not set. */
  readonly chunkSize: number;
  /** How many messages at the end stay unchanged. */
  readonly keepRecent: number;
  /**
   * For transcript files: the recent part may grow to this many tokens, to the farthest beginning of a request or else by whole groups; at
   * 8,000 to a quarter of the conversation at most. By default it does not grow.
   */
  readonly keepRecentTokens?: number;
  /** Whether a chunk is summarized with the summary so far as context. True by default; batches need false. */
  readonly foldIn?: boolean;
  /** The maximum tokens of the summary of one chunk. */
  readonly maxSummaryTokens: number;
  /** Makes one batch of everything, with a summary of at most this many tokens, instead of chunks. For providers that quote. */
  readonly summaryTokens?: number;
  /** How many of the first batches the clip-archive shows. */
  readonly clipFirst: number;
  /** How many of the last batches it shows. */
  readonly clipLast: number;
  /** The system prompt, sent exactly as written; null: the default prompt. */
  readonly prompt: string | null;
  readonly scoring?: ImportanceScoringConfig;
  /** The limit for one model call, in milliseconds. */
  readonly timeout?: number;
  readonly maxRetries?: number;
  /** Limits chunks by tokens instead of by `chunkSize`. */
  readonly maxChunkTokens?: number;
  readonly maxConsecutiveFailures?: number;
  /** The model's context window, in tokens. A longer message is cut in the middle for the request (C2). */
  readonly modelMaxTokens?: number;
  /** The share of a model's summary that is reserved for exact details. None by default. */
  readonly appendixShare?: number;
  /** Tokens for the user's requests and their endings, which are put before a model's summaries. None by default. */
  readonly requestTokens?: number;
  /** The minimum share of salient facts that a summary must keep. No minimum by default. */
  readonly minRetention?: number;
  /** Whether the user's standing rules are put before the summaries. True by default. */
  readonly keepRules?: boolean;
  /** Whether rules are also found in transcripts whose format does not say what a person typed. False by default. */
  readonly rulesFromChats?: boolean;
  /** Rules to add to those that the user stated. */
  readonly rules?: readonly string[];
  /** Rules that contain one of these texts are left out. */
  readonly dropRules?: readonly string[];
};

/** The order in which chunks are formed: least important first, or chronological. */
export type ChunkOrder = 'importance' | 'chronological';

/** Settings for compacting a transcript file, beyond `CompactionConfig`. */
export type TranscriptPolicy = {
  readonly compaction: CompactionConfig;
  readonly chunkOrder: ChunkOrder;
  /** Whether a conversation's system messages stay as instructions. */
  readonly keepSystem: boolean;
  /** The tokens that the result should fit into. The most important older messages stay; null: none of them do. */
  readonly targetTokens: number | null;
  /** Transcripts with at most this many tokens are left unchanged; null: no limit. */
  readonly ifOverTokens: number | null;
  /** Keeps lines that are not JSON instead of failing. */
  readonly keepInvalid: boolean;
  /** The conversation's id if the file has none. */
  readonly conversation: string | null;
  /** Transcripts that save less are left unchanged: a share of the tokens if it is below 1, else bytes on disk, net of the archive. */
  readonly minSaving?: number;
  /** The summary is a user's message, in formats with the roles user and system: some APIs take no system messages in a list. */
  readonly summaryIsUsers?: boolean;
  /** Messages to pin, and no longer to pin: ids, the beginnings of ids, or `line:N`. The archive remembers it. */
  readonly keep?: readonly string[];
  readonly unkeep?: readonly string[];
  /** Goes on although the archive does not know the transcript's earlier compactions. */
  readonly isFresh?: boolean;
};

/** The tokens of the offline provider's single summary. Chunks of 100 messages score 8 to 13 points lower at the same size. */
export const DEFAULT_SUMMARY_TOKENS = 4096;

/** The tokens for requests before a model's summaries: half of a summary, as in an offline hand-over. */
export const DEFAULT_REQUEST_TOKENS = 2048;

export const DEFAULT_COMPACTION_CONFIG = {
  chunkSize: 20, // models lose the thread in long requests
  keepRecent: 5,
  keepRecentTokens: 8000,
  maxSummaryTokens: 1024,
  clipFirst: 2,
  clipLast: 2,
  prompt: null,
  timeout: 120_000,
  maxRetries: 2,
  maxConsecutiveFailures: 3,
  modelMaxTokens: 200_000,
} as const satisfies CompactionConfig;

/** How messages are split into chunks. A single batch is a chunk without a limit. */
export function chunkLimitsOf({ summaryTokens, chunkSize, maxChunkTokens }: CompactionConfig): {
  readonly chunkSize: number;
  /** Null: chunks have `chunkSize` messages. */
  readonly maxChunkTokens: number | null;
} {
  if (summaryTokens !== undefined) return { chunkSize: Number.MAX_SAFE_INTEGER, maxChunkTokens: null };
  return { chunkSize, maxChunkTokens: maxChunkTokens ?? null };
}

/** The share of a target that the summaries, and the requests before a model's summaries, may take. The rest is for messages. */
const MAX_SUMMARY_SHARE = 0.25;

/** Limits the summaries of a policy's compaction so that they leave room in the target. */
export function compactionWithin({ compaction, targetTokens }: TranscriptPolicy): CompactionConfig {
  if (targetTokens === null) return compaction;
  const { summaryTokens, requestTokens } = compaction;
  const most = Math.ceil(targetTokens * MAX_SUMMARY_SHARE);
  return {
    ...compaction,
    ...(summaryTokens === undefined ? {} : { summaryTokens: Math.min(summaryTokens, most) }),
    ...(requestTokens === undefined ? {} : { requestTokens: Math.min(requestTokens, most) }),
  };
}

/** The maximum tokens of one batch's summary. */
export function batchTokensOf({ summaryTokens, maxSummaryTokens }: CompactionConfig): number {
  return summaryTokens ?? maxSummaryTokens;
}
