import type { Result } from './core/result.ts';
import type { Archive, ArchiveFailure, OpenArchiveOptions } from './ports/archive.ts';
import { createNodeRuntime } from './adapters/runtime/node.ts';
import {
  type Compactor,
  type CompactorOptions as AllCompactorOptions,
  createCompactor as createCompactorWith,
} from './app/compact/compactor.ts';
export { createExtractiveProvider } from './adapters/model/extractive.ts';
export type { BatchHit, MessageHit, SearchHit, SearchReport } from './app/contract/archive-reports.ts';
export type {
  CompactReport,
  FailureKind,
  RestoreReport,
  UsageReport,
  VerifyProblem,
  VerifyReport,
} from './app/contract/reports.ts';
export type { CompactionResult, Compactor } from './app/compact/compactor.ts';
export { resummarizeBatches } from './app/summarize/run-cycle.ts';
export {
  type BatchMetadata,
  formatBatch,
  parseBatchMetadata,
  shouldResummarize,
  type SummaryBatch,
} from './core/batch.ts';
export { chunkMessages, chunkMessagesByTokenBudget } from './core/chunk.ts';
export { buildClipArchive } from './core/clip-archive.ts';
export type { ConversationMessage, MessagePart, Role, ToolCall } from './core/message.ts';
export {
  buildAnthropicSystemParam,
  type ContentBlock,
  type Message,
  ModelError,
  type ModelErrorCode,
  type ModelRequest,
  type ModelResponse,
  type ModelSource,
  type ModelUsage,
  type StopReason,
} from './core/model-request.ts';
export {
  type CompactionConfig,
  DEFAULT_COMPACTION_CONFIG,
  DEFAULT_SCORING_CONFIG,
  type ImportanceScoringConfig,
} from './core/policy.ts';
export {
  buildResummarizationRequest,
  buildSummarizationRequest,
  DEFAULT_DIRECTIVE,
  DEFAULT_SYSTEM_PROMPT,
  type ResummarizationOptions,
  type SummarizationOptions,
} from './core/prompt.ts';
export type { Result } from './core/result.ts';
export { explainScore, type ScoreExplanation, scoreMessage, type ScoreTerm } from './core/scoring.ts';
export { type HistorySplit, splitHistory } from './core/split.ts';
export { estimateTokens } from './core/tokens.ts';
export { compactFile, restoreFile, searchArchive, verifyFile } from './library.ts';
export { type CompactedMessages, compactMessages, type RestoredMessages, restoreMessages } from './library-messages.ts';
export type {
  CompactFileOptions,
  CompactMessagesOptions,
  CustomModel,
  FileProgress,
  LibraryError,
  MessageKind,
  RestoreFileOptions,
  RestoreMessagesOptions,
  SearchOptions,
  ServiceModel,
  VerifyFileOptions,
} from './library-options.ts';
export type { Archive, ArchiveFailure, OpenArchiveOptions } from './ports/archive.ts';
export type { ModelProvider } from './ports/model.ts';
export type { Runtime } from './ports/runtime.ts';

/** Opens an archive, or creates it, readable for its owner alone. A file that is no archive is never changed. */
export async function openArchive(options: OpenArchiveOptions): Promise<Result<Archive, ArchiveFailure>> {
  return (await import('./adapters/archive/sqlite/open.ts')).openArchive(options);
}

/** The library's public names; their rules are those of the project's README. */

export type CompactorOptions = Omit<AllCompactorOptions, 'runtime'> & Partial<Pick<AllCompactorOptions, 'runtime'>>;

/** Compacts histories in memory. `runtime` (clock, hashes, sleep) is this machine's unless another is given. */
export function createCompactor(options: CompactorOptions): Compactor {
  return createCompactorWith({ runtime: createNodeRuntime(), ...options });
}
