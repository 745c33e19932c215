import type { ModelUsage } from '../core/model-request.ts';

/** A summary that was paid for, and what for. */
export type CachedSummary = {
  readonly provider: string;
  readonly model: string;
  readonly text: string;
  readonly usage: ModelUsage;
  readonly createdAt: Date;
};

/** Summaries under the hash of the request that produced them, so that nobody pays twice. */
export type SummaryCache = {
  readonly find: (requestSha256: string) => CachedSummary | null;
  /** Does nothing where there is one already. */
  readonly keep: (requestSha256: string, summary: CachedSummary) => void;
};
