import type { CompactionConfig, TranscriptPolicy } from '../../core/policy.ts';

/** Changes whenever the same settings would give another result: then "the same again" must not be answered from the archive. */
const RESULT_VERSION = 5;

/** The settings that a result depends on, as JSON with a fixed order of keys; two equal texts mean equal results for equal bytes. */
export function describeSettings(input: {
  readonly format: string;
  readonly policy: TranscriptPolicy;
  readonly provider: string;
  readonly modelName: string;
  /** Only of a model that is a service. */
  readonly isMasked?: boolean;
}): string {
  const { compaction, chunkOrder, keepSystem, targetTokens, conversation } = input.policy;
  const { format, provider, modelName, isMasked } = input;
  const others = { format, provider, modelName, isMasked, chunkOrder, keepSystem, targetTokens, conversation };
  return writeSettings(compaction, others);
}

/** As `describeSettings`, of a compaction's own settings and whatever else its result depends on. */
export function writeSettings(compaction: CompactionConfig, others: Record<string, unknown>): string {
  const { timeout: _timeout, maxRetries: _retries, maxConsecutiveFailures: _failures, ...result } = compaction;
  const value = { version: RESULT_VERSION, ...others, ...result };
  return JSON.stringify(value, (_key, part: unknown) => (isRecord(part) ? sortKeys(part) : part));
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function sortKeys(value: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
