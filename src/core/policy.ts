/** How much each property of a message weighs in its importance score. */
export type ImportanceScoringConfig = {
  readonly roleWeightSystem: number;
  readonly roleWeightUser: number;
  readonly roleWeightAssistant: number;
  /** By default the user's weight. */
  readonly roleWeightTool?: number;
  /** In (0, 1]: the role's weight is multiplied by this once for each message that came later. */
  readonly recencyDecay: number;
  readonly questionBonus: number;
  readonly toolCallBonus: number;
  readonly keywordBonus: number;
  readonly importantKeywords: readonly string[];
  /** Points per 100 characters, three at most. */
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

/** What a compactor needs to know of the user's wishes. */
export type CompactionConfig = {
  /** Messages a chunk, where `summaryTokens` is not set. */
  readonly chunkSize: number;
  /** Messages at the end that stay as they are. */
  readonly keepRecent: number;
  /**
   * Of a transcript file: tokens up to which more of the end stays, to the nearest beginning of a request or else by whole groups; by
   * default none.
   */
  readonly keepRecentTokens?: number;
  /** Of the summary of one chunk. */
  readonly maxSummaryTokens: number;
  /** Everything that goes becomes one batch with a summary of at most this many tokens, and there are no chunks. For a provider that quotes. */
  readonly summaryTokens?: number;
  /** Batches shown at the head of the clip-archive. */
  readonly clipFirst: number;
  /** Batches shown at its end. */
  readonly clipLast: number;
  /** The system prompt, used exactly as written; null: the default one. */
  readonly prompt: string | null;
  readonly scoring?: ImportanceScoringConfig;
  /** Milliseconds for one model call. */
  readonly timeout?: number;
  readonly maxRetries?: number;
  /** Chunks by this many tokens instead of by `chunkSize`. */
  readonly maxChunkTokens?: number;
  readonly maxConsecutiveFailures?: number;
  /** The model's window, in tokens: a message that is larger is cut in its middle for the request (C2). */
  readonly modelMaxTokens?: number;
  /** Share of a model's summary that is kept for details word for word; by default none. */
  readonly appendixShare?: number;
  /** Tokens that code puts before a model's summaries: the user's requests and how each ended. By default none. */
  readonly requestTokens?: number;
  /** Share of the salient facts that summaries must keep; by default any. */
  readonly minRetention?: number;
  /** The user's standing rules stand above the summaries; by default they do. */
  readonly keepRules?: boolean;
  /** Rules to add to those that the user stated. */
  readonly rules?: readonly string[];
  /** Rules that hold one of these texts are left out. */
  readonly dropRules?: readonly string[];
};

/** The order in which chunks are formed: least important first, or as said. */
export type ChunkOrder = 'importance' | 'chronological';

/** What compacting a transcript file needs beyond `CompactionConfig`. */
export type TranscriptPolicy = {
  readonly compaction: CompactionConfig;
  readonly chunkOrder: ChunkOrder;
  /** System messages of a conversation are instructions and stay. */
  readonly keepSystem: boolean;
  /** Tokens that the result should fit into: the more important older messages survive; null: none of them do. */
  readonly targetTokens: number | null;
  /** Transcripts at or under this many tokens are left alone; null: none is. */
  readonly ifOverTokens: number | null;
  /** Lines that are no JSON are carried along instead of being an error. */
  readonly keepInvalid: boolean;
  /** The conversation's id where the file carries none. */
  readonly conversation: string | null;
};

/** Tokens of the single summary that the offline provider makes. Chunks of 100 messages lose 8 to 13 points at the same size. */
export const DEFAULT_SUMMARY_TOKENS = 4096;

/** Tokens for requests before a model's summaries: half of a hand-over, as in the offline one. */
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

/** How what goes is parted. One batch is a chunk without an end. */
export function chunkLimitsOf({ summaryTokens, chunkSize, maxChunkTokens }: CompactionConfig): {
  readonly chunkSize: number;
  /** Null: chunks have `chunkSize` messages. */
  readonly maxChunkTokens: number | null;
} {
  if (summaryTokens !== undefined) return { chunkSize: Number.MAX_SAFE_INTEGER, maxChunkTokens: null };
  return { chunkSize, maxChunkTokens: maxChunkTokens ?? null };
}

/** The share of a target that a summary of everything may take, and the requests above a model's summaries: the rest is for what was said. */
const MAX_SUMMARY_SHARE = 0.25;

/** A policy's compaction with summaries that leave room in the target. */
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

/** Tokens that the summary of one batch may have. */
export function batchTokensOf({ summaryTokens, maxSummaryTokens }: CompactionConfig): number {
  return summaryTokens ?? maxSummaryTokens;
}
