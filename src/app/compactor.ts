import { chunkMessages, chunkMessagesByTokenBudget } from '../core/chunk.ts';
import type { ConversationMessage } from '../core/message.ts';
import type { CompactionConfig } from '../core/policy.ts';
import { splitHistory } from '../core/split.ts';
import { estimateTokens } from '../core/tokens.ts';
import type { Archive, CompactionDraft, LineDraft, StoredCycle } from '../ports/archive.ts';
import type { ModelProvider } from '../ports/model.ts';
import type { Runtime } from '../ports/runtime.ts';
import { createBreaker } from './breaker.ts';
import { foreignPrior } from './lineage.ts';
import type { Prior } from './lineage.ts';
import { runCycle } from './run-cycle.ts';
import type { FinishedCycle } from './run-cycle.ts';
import { uuidFromHash } from './uuid.ts';

export type CompactionResult = {
  /** The clip-archive and the kept messages; the history as it was where nothing was done. */
  readonly history: readonly ConversationMessage[];
  readonly batchesCreated: number;
  readonly messagesCompressed: number;
  readonly tokensEstimateBefore: number;
  readonly tokensEstimateAfter: number;
  /** No summary could be had: the history is unchanged and nothing was stored. */
  readonly failed?: boolean;
  /** Why it failed, or why nothing was done. */
  readonly reason?: string;
};

export type Compactor = {
  /** Never throws. Whether compacting is due is the caller's question. */
  readonly compress: (history: readonly ConversationMessage[], conversationId: string) => Promise<CompactionResult>;
};

export type CompactorOptions = {
  readonly model: ModelProvider;
  readonly archive: Archive;
  readonly config: CompactionConfig;
  readonly modelName: string;
  readonly runtime: Runtime;
  readonly signal?: AbortSignal;
};

const DEFAULT_MAX_CONSECUTIVE_FAILURES = 3;

/** Compacts histories in memory; files go through `compactFile`, which adds what a transcript needs beyond a list. */
export function createCompactor(options: CompactorOptions): Compactor {
  const breaker = createBreaker(options.config.maxConsecutiveFailures ?? DEFAULT_MAX_CONSECUTIVE_FAILURES);
  return {
    compress: async (history, conversationId) => {
      if (breaker.isOpen())
        return unchanged(history, { failed: true, reason: 'too many compactions in a row have failed' });
      try {
        const result = await compress(options, history, conversationId);
        breaker.record(result.failed === true ? 'failure' : 'success');
        return result;
      } catch (error) {
        breaker.record('failure');
        return unchanged(history, { failed: true, reason: error instanceof Error ? error.message : String(error) });
      }
    },
  };
}

function unchanged(
  history: readonly ConversationMessage[],
  why: { readonly failed?: boolean; readonly reason: string },
): CompactionResult {
  const tokens = sumTokens(history);
  return {
    history,
    batchesCreated: 0,
    messagesCompressed: 0,
    tokensEstimateBefore: tokens,
    tokensEstimateAfter: tokens,
    ...why,
  };
}

function sumTokens(history: readonly ConversationMessage[]): number {
  return history.reduce((sum, { content }) => sum + estimateTokens(content), 0);
}

async function compress(
  options: CompactorOptions,
  history: readonly ConversationMessage[],
  conversationId: string,
): Promise<CompactionResult> {
  const { config, modelName, archive, runtime } = options;
  const { toCompress, toKeep, priorSummary } = splitHistory(history, config.keepRecent, config.scoring);
  if (toCompress.length === 0) return unchanged(history, { reason: 'there are no older messages to compress' });
  const cycle = priorSummary === null ? null : (archive.findCycles(runtime.sha256(priorSummary.content))[0] ?? null);
  const prior = toPrior(priorSummary, cycle);
  const older = history.slice(priorSummary === null ? 0 : 1, history.length - toKeep.length);
  const finished = await runCycle(options, {
    conversationId,
    originKey: runtime.sha256(JSON.stringify([conversationId, settingsOf(options), history])),
    prior,
    compressedBefore: compressedBefore(prior),
    chunks: chunkPositions(older, toCompress, config),
    load: (index) => {
      const message = older[index];
      if (message === undefined) throw new Error(`no message ${index}`);
      return message;
    },
    keptWordForWord: [],
    config,
    modelName,
  });
  if (!finished.ok) return unchanged(history, { failed: true, reason: finished.error });
  const clip = clipMessage(runtime, finished.value, older);
  const compacted = [clip, ...toKeep];
  const tokensEstimateBefore = sumTokens(history);
  const tokensEstimateAfter = sumTokens(compacted);
  if (tokensEstimateAfter >= tokensEstimateBefore) return unchanged(history, { reason: 'nothing would be gained' });
  store(options, { history, compacted, finished: finished.value, hasPrior: priorSummary !== null });
  return {
    history: compacted,
    batchesCreated: finished.value.draft.newBatches.length,
    messagesCompressed: older.length,
    tokensEstimateBefore,
    tokensEstimateAfter,
  };
}

function toPrior(priorSummary: ConversationMessage | null, cycle: StoredCycle | null): Prior {
  if (priorSummary === null) return { kind: 'none' };
  return cycle === null
    ? foreignPrior(priorSummary.content, 0)
    : { kind: 'lineage', cycle, text: priorSummary.content };
}

function compressedBefore(prior: Prior): number {
  if (prior.kind === 'none') return 0;
  return prior.kind === 'lineage' ? prior.cycle.messagesCompressed : prior.messages;
}

/** Chunks in order of importance, each in the order in which it was said (C1). */
function chunkPositions(
  older: readonly ConversationMessage[],
  byImportance: readonly ConversationMessage[],
  { chunkSize, maxChunkTokens }: CompactionConfig,
): readonly (readonly number[])[] {
  const positions = new Map(older.map((message, index) => [message, index]));
  const chunks =
    maxChunkTokens === undefined
      ? chunkMessages(byImportance, chunkSize)
      : chunkMessagesByTokenBudget(byImportance, maxChunkTokens);
  return chunks.map((chunk) => chunk.map((message) => positions.get(message) ?? 0).sort((a, b) => a - b));
}

function clipMessage(
  runtime: Runtime,
  { text, draft }: FinishedCycle,
  older: readonly ConversationMessage[],
): ConversationMessage {
  const { conversationId } = draft;
  return {
    id: uuidFromHash(runtime.sha256(`${conversationId}\n${text}`)),
    conversation_id: conversationId,
    role: 'system',
    content: text,
    created_at: older.at(-1)?.created_at ?? null,
  };
}

function settingsOf({ config, modelName }: Pick<CompactorOptions, 'config' | 'modelName'>): string {
  return JSON.stringify({ ...config, modelName });
}

type StoreInput = {
  readonly history: readonly ConversationMessage[];
  readonly compacted: readonly ConversationMessage[];
  readonly finished: FinishedCycle;
  readonly hasPrior: boolean;
};

/** Stores a history as a transcript of one message a line, so that it is restored and verified as a file is. */
function store(
  { archive, runtime, config, modelName }: CompactorOptions,
  { history, compacted, finished, hasPrior }: StoreInput,
): void {
  const encoder = new TextEncoder();
  const encode = (message: ConversationMessage): Uint8Array => encoder.encode(`${JSON.stringify(message)}\n`);
  const lines = history.map(encode);
  const keptCount = compacted.length - 1;
  const firstKept = lines.length - keptCount;
  const clip = compacted.slice(0, 1).map(encode);
  const settings = settingsOf({ config, modelName });
  const kept = lines.slice(firstKept);
  const draft: CompactionDraft = {
    format: 'messages',
    sourcePath: `conversation:${finished.draft.conversationId}`,
    outputPath: null,
    source: { ...measure(runtime, lines), lineCount: lines.length, hasBom: false },
    output: measure(runtime, [...clip, ...kept]),
    settingsSha256: runtime.sha256(settings),
    settings,
    createdAt: runtime.now(),
    processId: runtime.processId,
    cycles: [{ ...finished.draft, clipSha256: runtime.sha256(finished.text) }],
    inserted: clip.map((bytes) => ({ beforeLine: firstKept + 1, bytes })),
    carried: [],
    kept:
      kept.length === 0
        ? []
        : [
            {
              firstLine: firstKept + 1,
              lineCount: kept.length,
              sizeBytes: kept.reduce((sum, bytes) => sum + bytes.length, 0),
              lineSha256: kept.map((bytes) => runtime.sha256(bytes)),
            },
          ],
  };
  const drafts = lines.slice(0, firstKept).map((bytes, at): LineDraft => {
    const message = history[at];
    const index = at - (hasPrior ? 1 : 0);
    const batch = index < 0 ? null : (finished.batchOf.get(index) ?? null);
    if (message === undefined || batch === null)
      return { line: at + 1, bytes, fate: 'marked', cycle: 0, batch: null, message: null };
    const { id, role, name, created_at: when, content: text } = message;
    const life = finished.draft.messagesCompressed - finished.batchOf.size + index + 1;
    return {
      line: at + 1,
      bytes,
      fate: 'summarized',
      cycle: 0,
      batch,
      message: { id, role, name: name ?? null, at: when, index: life, text },
    };
  });
  archive.markApplied(archive.store(draft, drafts));
}

function measure(
  runtime: Runtime,
  lines: readonly Uint8Array[],
): { readonly sha256: string; readonly sizeBytes: number } {
  const hash = runtime.createHash();
  for (const bytes of lines) hash.update(bytes);
  return { sha256: hash.digest(), sizeBytes: lines.reduce((sum, bytes) => sum + bytes.length, 0) };
}
