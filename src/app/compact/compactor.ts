import { chunkMessages, chunkMessagesByTokenBudget, inTimeOrder } from '../../core/chunk.ts';
import { originOf } from '../../core/clip-archive.ts';
import { chunkLimitsOf, type CompactionConfig, DEFAULT_COMPACTION_CONFIG } from '../../core/policy.ts';
import { isWrittenByProducer } from '../../core/producer-texts.ts';
import { splitHistory } from '../../core/split.ts';
import { estimateTokens } from '../../core/tokens.ts';
import type { Archive, StoredCompaction, StoredCycle } from '../../ports/archive.ts';
import type { ModelProvider } from '../../ports/model.ts';
import { measure, uuidFromHash } from './compose.ts';
import { foreignPrior, type Prior, readLineage } from '../read/lineage.ts';
import { factsOf, halfOfSha256 } from '../read/records.ts';
import { createBreaker } from '../summarize/limits.ts';
import { type FinishedCycle, runCycle } from '../summarize/run-cycle.ts';
import type { ConversationMessage } from '../../core/message.ts';
import type { Runtime } from '../../ports/runtime.ts';
import { storeLines } from './archive-lines.ts';
import { writeSettings } from './plan.ts';

export type CompactionResult = {
  /** The clip-archive and the kept messages; the unchanged history if nothing was done. */
  readonly history: readonly ConversationMessage[];
  readonly batchesCreated: number;
  readonly messagesCompressed: number;
  readonly tokensEstimateBefore: number;
  readonly tokensEstimateAfter: number;
  /** There is no summary: the history is unchanged and nothing was stored. */
  readonly failed?: boolean;
  /** Why it failed, or why nothing was done. */
  readonly reason?: string;
};

export type Compactor = {
  /** Never throws. The caller decides when to compact. */
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

/** Compacts histories in memory. Files go through `compactFile`, which adds what a transcript needs. */
export function createCompactor(options: CompactorOptions): Compactor {
  const breaker = createBreaker(
    options.config.maxConsecutiveFailures ?? DEFAULT_COMPACTION_CONFIG.maxConsecutiveFailures,
  );
  return {
    compress: async (history, conversationId) => {
      if (breaker.isOpen())
        return unchanged(history, { failed: true, reason: 'too many compactions in a row have failed' });
      try {
        const result = await compress(options, history, conversationId);
        // If no summary was requested, the model has neither failed nor succeeded.
        if (result.failed === true || result.messagesCompressed > 0)
          breaker.record(result.failed === true ? 'failure' : 'success');
        return result;
      } catch (error) {
        breaker.record('failure');
        return unchanged(history, { failed: true, reason: error instanceof Error ? error.message : String(error) });
      }
    },
  };
}

/**
 * Plain messages do not say what was typed: user messages count as typed unless the caller says otherwise. Only if the caller says so, or
 * trusts all of them, do they state rules.
 */
function withTyped(message: ConversationMessage, { rulesFromChats = false }: CompactionConfig): ConversationMessage {
  const isMarked = 'typed' in message;
  const typed = isMarked ? message.typed : message.role === 'user' ? message.content : undefined;
  if (typed === undefined || isWrittenByProducer(typed)) return message;
  return { ...message, typed, ...((isMarked || rulesFromChats) && { ruleText: message.ruleText ?? typed }) };
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
  const written = writeHistory(options, history, conversationId);
  const same = await archive.findSame(written.source.sha256, written.settingsSha256);
  if (same !== null && (await holdsLines(options, same.id, written))) return reuse(same, history, toKeep);
  const cycles = priorSummary === null ? [] : await archive.findCycles(runtime.sha256(priorSummary.content));
  const cycle = cycles[0] ?? null;
  const prior = toPrior(priorSummary, cycle);
  const older = history.slice(priorSummary === null ? 0 : 1, history.length - toKeep.length);
  const finished = await runCycle(options, {
    conversationId,
    originKey: runtime.sha256(originOf(written.source.sha256, written.settingsSha256)),
    prior,
    compressedBefore: compressedBefore(prior),
    chunks: chunkPositions(older, toCompress, config),
    load: (index) => {
      const message = older[index];
      if (message === undefined) throw new Error(`no message ${index}`);
      return withTyped(message, config);
    },
    readLineage: (lineage) => readLineage(archive, lineage, ({ bytes }) => withTyped(decodeMessage(bytes), config)),
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
  const firstKept = history.length - toKeep.length;
  if (!(await storeHistory(options, history, { written, clip, finished: finished.value, firstKept })))
    return unchanged(history, { failed: true, reason: 'the archive does not give back what was just stored in it' });
  return {
    history: compacted,
    batchesCreated: finished.value.draft.newBatches.length,
    messagesCompressed: older.length,
    tokensEstimateBefore,
    tokensEstimateAfter,
  };
}

/** The stored result for the same history and settings (A1), without calls or new rows. */
function reuse(
  { inserted, cycles: [cycle] }: StoredCompaction,
  history: readonly ConversationMessage[],
  toKeep: readonly ConversationMessage[],
): CompactionResult {
  const compacted = [decodeMessage(inserted[0]?.bytes ?? new Uint8Array()), ...toKeep];
  return {
    history: compacted,
    batchesCreated: cycle?.made.length ?? 0,
    messagesCompressed: history.length - toKeep.length - (cycle?.parentCycleId === null ? 0 : 1),
    tokensEstimateBefore: sumTokens(history),
    tokensEstimateAfter: sumTokens(compacted),
  };
}

function toPrior(priorSummary: ConversationMessage | null, cycle: StoredCycle | null): Prior {
  if (priorSummary === null) return { kind: 'none' };
  return cycle === null
    ? foreignPrior(priorSummary.content, { staleMessageCount: 0, isMarked: true })
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
  config: CompactionConfig,
): readonly (readonly number[])[] {
  const { chunkSize, maxChunkTokens } = chunkLimitsOf(config);
  // The same object may be in a history twice: each position is used once.
  const places = new Map<ConversationMessage, number[]>();
  for (const [index, message] of older.entries()) places.set(message, [...(places.get(message) ?? []), index]);
  const placeOf = (message: ConversationMessage): number => places.get(message)?.shift() ?? 0;
  const chunks =
    maxChunkTokens === null
      ? chunkMessages(byImportance, chunkSize)
      : chunkMessagesByTokenBudget(byImportance, maxChunkTokens);
  return chunks.map((chunk) => inTimeOrder(chunk.map(placeOf), (place) => place));
}

function clipMessage(
  runtime: Runtime,
  finished: FinishedCycle,
  older: readonly ConversationMessage[],
): ConversationMessage {
  const { conversationId } = finished.draft;
  const content = finished.text();
  return {
    id: uuidFromHash(runtime.sha256(`${conversationId}\n${content}`)),
    conversation_id: conversationId,
    role: 'system',
    content,
    created_at: older.at(-1)?.created_at ?? null,
  };
}

/** A history as the archive stores it: one message a line, and the hashes that identify it. */
type WrittenHistory = ReturnType<typeof writeHistory>;

function writeHistory(
  { runtime, config, modelName }: CompactorOptions,
  history: readonly ConversationMessage[],
  conversationId: string,
) {
  const lines = history.map(encode);
  const settings = writeSettings(config, { format: 'messages', modelName, conversationId });
  return { lines, source: measure(runtime, lines), settings, settingsSha256: runtime.sha256(settings) };
}

function encode(message: ConversationMessage): Uint8Array {
  return new TextEncoder().encode(`${JSON.stringify(message)}\n`);
}

/** Archives what leaves a history. There is no file, so the hash of the clip-archive's text, not of a line, leads back to the archive. */
async function storeHistory(
  options: CompactorOptions,
  history: readonly ConversationMessage[],
  {
    written,
    clip,
    finished,
    firstKept,
  }: {
    written: WrittenHistory;
    clip: ConversationMessage;
    finished: FinishedCycle;
    /** The position of the first message that stays. */
    firstKept: number;
  },
): Promise<boolean> {
  const { archive, runtime } = options;
  const { lines, source, settings, settingsSha256 } = written;
  const kept = lines.slice(firstKept);
  const clipLine = encode(clip);
  const run = {
    firstLine: firstKept + 1,
    lineCount: kept.length,
    sizeBytes: measure(runtime, kept).sizeBytes,
    lineSha256: kept.map((bytes) => halfOfSha256(runtime, bytes)),
  };
  const drafts = lines.slice(0, firstKept).map((bytes, at) => {
    const isPrior = firstKept > finished.batchOf.size && at === 0;
    const message = history[at];
    // The line of the prior summary is not a message of the conversation.
    const line = { line: at + 1, bytes, cycle: 0 };
    if (isPrior || message === undefined) return { ...line, outcome: 'other', batch: null, message: null } as const;
    const index = at - (firstKept - finished.batchOf.size);
    const lifeIndex = finished.draft.messagesCompressed - finished.batchOf.size + index + 1;
    const draft = { ...factsOf(message), index: lifeIndex };
    return { ...line, outcome: 'summarized', batch: finished.batchOf.get(index) ?? null, message: draft } as const;
  });
  const { id } = await storeLines(
    archive,
    {
      format: 'messages',
      run: null,
      sourcePath: `conversation:${finished.draft.conversationId}`,
      outputPath: null,
      source: { ...source, lineCount: lines.length, hasBom: false },
      output: measure(runtime, [clipLine, ...kept]),
      settingsSha256,
      settings,
      createdAt: runtime.now(),
      processId: runtime.processId,
      cycles: [{ ...finished.draft, clipSha256: runtime.sha256(finished.text()) }],
      inserted: [{ beforeLine: firstKept + 1, bytes: clipLine }],
      carried: [],
      kept: kept.length === 0 ? [] : [run],
    },
    drafts,
  );
  const isStored = await holdsLines(options, id, written);
  await (isStored ? archive.markApplied(id) : archive.discard(id));
  return isStored;
}

/** Whether the archive returns the lines that a compaction removed from a history. Throws whatever reading the archive throws. */
async function holdsLines({ archive, runtime }: CompactorOptions, compactionId: number, { lines }: WrittenHistory) {
  for await (const stored of archive.readLines(compactionId)) {
    for (const { line, bytes } of stored) {
      const original = lines[line - 1];
      if (original === undefined || runtime.sha256(original) !== runtime.sha256(bytes)) return false;
    }
  }
  return true;
}

/** A message as `encode` wrote it. */
function decodeMessage(bytes: Uint8Array): ConversationMessage {
  const value: Omit<ConversationMessage, 'created_at'> & { readonly created_at: string | null } = JSON.parse(
    new TextDecoder().decode(bytes),
  );
  return { ...value, created_at: value.created_at === null ? null : new Date(value.created_at) };
}
