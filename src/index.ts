/** The library's public names; their rules are those of the project's README. */
import { createNodeRuntime } from './adapters/runtime/node.ts';
import { createCompactor as createCompactorWith } from './app/history/compactor.ts';
import type { Compactor, CompactorOptions as AllCompactorOptions } from './app/history/compactor.ts';

export type CompactorOptions = Omit<AllCompactorOptions, 'runtime'> & Partial<Pick<AllCompactorOptions, 'runtime'>>;

/** Compacts histories in memory. `runtime` (clock, hashes, sleep) is this machine's unless another is given. */
export function createCompactor(options: CompactorOptions): Compactor {
  return createCompactorWith({ runtime: createNodeRuntime(), ...options });
}

export { openArchive } from './adapters/archive/sqlite.ts';
export { createExtractiveProvider } from './adapters/model/extractive.ts';
export { resummarizeBatches } from './app/summarize/resummarize-batches.ts';
export type { CompactionResult, Compactor } from './app/history/compactor.ts';
export { buildAnthropicSystemParam } from './core/anthropic-system.ts';
export { formatBatch, parseBatchMetadata } from './core/batch.ts';
export type { BatchMetadata, SummaryBatch } from './core/batch.ts';
export { chunkMessages, chunkMessagesByTokenBudget } from './core/chunk.ts';
export { buildClipArchive } from './core/clip-archive.ts';
export type { ConversationMessage, MessagePart, Role, ToolCall } from './core/message.ts';
export { ModelError } from './core/model-error.ts';
export type { ModelErrorCode } from './core/model-error.ts';
export type {
  ContentBlock,
  Message,
  ModelRequest,
  ModelResponse,
  ModelSource,
  ModelUsage,
  StopReason,
} from './core/model-request.ts';
export { DEFAULT_COMPACTION_CONFIG, DEFAULT_SCORING_CONFIG } from './core/policy.ts';
export type { CompactionConfig, ImportanceScoringConfig } from './core/policy.ts';
export {
  buildResummarizationRequest,
  buildSummarizationRequest,
  DEFAULT_DIRECTIVE,
  DEFAULT_SYSTEM_PROMPT,
} from './core/prompt.ts';
export type { ResummarizationOptions, SummarizationOptions } from './core/prompt.ts';
export { shouldResummarize } from './core/resummarize.ts';
export type { Result } from './core/result.ts';
export { explainScore, scoreMessage } from './core/scoring.ts';
export type { ScoreExplanation, ScoreTerm } from './core/scoring.ts';
export { splitHistory } from './core/split.ts';
export type { HistorySplit } from './core/split.ts';
export { estimateTokens } from './core/tokens.ts';
export type { Archive, ArchiveFailure } from './ports/archive.ts';
export type { ModelProvider } from './ports/model.ts';
export type { Runtime } from './ports/runtime.ts';
