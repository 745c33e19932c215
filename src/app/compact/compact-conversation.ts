import type { KeptMessage } from '../../core/clip-archive.ts';
import type { ConversationMessage } from '../../core/message.ts';
import type { ConversationPlan } from '../../core/plan/plan.ts';
import type { CompactionConfig } from '../../core/policy.ts';
import { ok, type Result } from '../../core/result.ts';
import type { CarriedLine } from '../../ports/archive.ts';
import type { ReadLineage } from '../read/lineage-material.ts';
import type { Prepared, PreparedConversation } from '../read/prepare.ts';
import { type FinishedCycle, runCycle } from '../summarize/run-cycle.ts';
import type { StaleRules } from '../summarize/standing-rules.ts';
import type { SummaryDeps } from '../summarize/summarize-chunk.ts';

export type CompactPlan = Extract<ConversationPlan, { kind: 'compact' }>;

export type CompactedConversation = FinishedCycle & {
  readonly prepared: PreparedConversation;
  readonly plan: CompactPlan;
  /** Lines that an earlier clip-archive held word for word and that are summarized now. */
  readonly carried: readonly Omit<CarriedLine, 'cycle'>[];
};

/** Summarizes what the plan lets go of one conversation of a file. */
export async function compactConversation(
  deps: SummaryDeps,
  input: {
    readonly transcript: Prepared;
    readonly prepared: PreparedConversation;
    readonly plan: CompactPlan;
    readonly originKey: string;
    readonly readLineage: ReadLineage;
    readonly config: CompactionConfig;
    readonly modelName: string;
    readonly onChunk: (done: number, total: number) => void;
  },
): Promise<Result<CompactedConversation, string>> {
  const { transcript, prepared, plan, originKey, readLineage, config, modelName, onChunk } = input;
  const load = createLoader(transcript, prepared);
  const finished = await runCycle(deps, {
    conversationId: prepared.id,
    originKey,
    prior: prepared.prior,
    compressedBefore: prepared.compressedBefore,
    chunks: plan.chunks,
    load,
    readStale: () => readStale(transcript, prepared),
    isTyped: (index) => prepared.view.messages[index]?.typedTokens !== undefined,
    readLineage,
    keptWordForWord: transcript.codec.format.isChain ? wordForWord(plan, load) : [],
    config,
    modelName,
    onChunk,
  });
  if (!finished.ok) return finished;
  const { messages, carriedCount } = prepared.view;
  const carried = messages.slice(0, carriedCount).flatMap(({ carriedLineId: lineId }, index) => {
    const batch = finished.value.batchOf.get(index);
    return lineId === undefined || batch === undefined ? [] : [{ lineId, batch }];
  });
  return ok({ ...finished.value, prepared, plan, carried });
}

/** What a producer's own compaction has put out of its context: what was typed there, and a clip-archive of ours. */
function readStale(transcript: Prepared, { prior, view }: PreparedConversation): StaleRules {
  if (prior.kind !== 'foreign' || prior.isOurs) return { typed: [], clip: null };
  const typed = view.staleTyped.flatMap(({ entry, index }) => {
    const text = transcript.readMessage(entry)?.typed;
    return text === undefined ? [] : [{ index, text }];
  });
  return { typed, clip: view.staleClip === null ? null : (transcript.readMessage(view.staleClip)?.content ?? null) };
}

/** Reads the messages of a conversation by their index, again and again. */
export function createLoader(
  transcript: Prepared,
  { id, view, carried }: PreparedConversation,
): (index: number) => ConversationMessage {
  const carriedMessages = new Map(carried.map(({ plan, message }) => [plan.carriedLineId, message]));
  return (index) => {
    const entry = view.messages[index];
    if (entry === undefined) throw new Error(`the plan names message ${index}, which is not there`);
    const { carriedLineId } = entry;
    const message = carriedLineId === undefined ? transcript.readMessage(entry) : carriedMessages.get(carriedLineId);
    if (message === undefined || message === null)
      throw new Error(`line ${entry.line} could not be read a second time`);
    return { ...message, conversation_id: id };
  };
}

function wordForWord({ survivors }: CompactPlan, load: (index: number) => ConversationMessage): readonly KeptMessage[] {
  return [...survivors]
    .sort((a, b) => a - b)
    .map(load)
    .map(({ role, name, created_at: at, content: text }) => ({
      role,
      ...(name === undefined ? {} : { name }),
      at,
      text,
    }));
}
