import type { KeptMessage } from '../../core/clip-archive.ts';
import type { ConversationMessage } from '../../core/message.ts';
import { keptMessageLines } from '../../core/plan/line-outcomes.ts';
import type { ConversationPlan } from '../../core/plan/plan.ts';
import { type CompactionConfig, compactionWithin } from '../../core/policy.ts';
import { err, ok, type Result } from '../../core/result.ts';
import { estimateTokensByBytes, formatCount } from '../../core/tokens.ts';
import type { CarriedLine } from '../../ports/archive.ts';
import type { WritingDeps } from '../contract/deps.ts';
import { type Failure, sourceChanged } from '../contract/failure.ts';
import type { ConversationReport, SkipReason } from '../contract/reports.ts';
import type { CompactFileRequest } from '../contract/requests.ts';
import type { ReadLineage } from '../read/lineage.ts';
import type { Prepared, PreparedConversation } from '../read/prepare.ts';
import type { StaleRules } from '../summarize/rules-and-requests.ts';
import { type FinishedCycle, runCycle } from '../summarize/run-cycle.ts';
import type { SummaryDeps } from '../summarize/summarize-chunk.ts';
import { type CompactPlan, expectClipTokens, planPrepared } from './plan.ts';
import { labelBatch, planNotes, reportConversation } from './report.ts';

export type Attempted =
  | {
      readonly kind: 'compacted';
      readonly result: CompactedConversation;
      readonly report: ConversationReport;
      readonly notes: readonly string[];
    }
  | {
      readonly kind: 'skipped';
      readonly reason: SkipReason;
      readonly detail: string;
      /** The summaries that were made and then dropped. */
      readonly wasted?: CompactedConversation;
    };

type Input = {
  readonly transcript: Prepared;
  readonly request: CompactFileRequest;
  readonly originKey: string;
  readonly summaries: SummaryDeps;
  readonly readLineage: ReadLineage;
  /** The first plan; undefined: it is made here. */
  readonly plan: ConversationPlan | undefined;
};

/** The plan if every summary is as long as it may be. */
export function planFirst(
  transcript: Prepared,
  prepared: PreparedConversation,
  { policy }: CompactFileRequest,
): ConversationPlan {
  return planPrepared(transcript, prepared, { policy });
}

/**
 * Summarizes one conversation. With a target size, it may be planned and summarized a second time, because the size of a summary is only known
 * afterwards.
 */
export async function attemptConversation(
  deps: WritingDeps,
  prepared: PreparedConversation,
  input: Input,
): Promise<Result<Attempted, Failure>> {
  const { policy } = input.request;
  const first = input.plan ?? planFirst(input.transcript, prepared, input.request);
  if (first.kind === 'skip') return ok({ kind: 'skipped', reason: first.reason, detail: first.detail });
  const done = await summarizePlan(deps, { ...input, prepared, plan: first });
  if (!done.ok) return done;
  const { targetTokens } = policy;
  const better = targetTokens === null ? null : planAgain(input, done.value, targetTokens);
  if (targetTokens === null || better === null) return ok(judge(done.value, targetTokens));
  const again = await summarizePlan(deps, { ...input, prepared, plan: better });
  if (!again.ok) return again;
  return ok(judge(closest(done.value, again.value, targetTokens), targetTokens));
}

/** A better plan, now that the size of the summary is known: more messages survive if there is room, fewer if there is not; null: no better plan. */
function planAgain(
  { transcript, request: { policy } }: Input,
  { result, report }: Summarized,
  targetTokens: number,
): CompactPlan | null {
  const { prepared, plan } = result;
  const isOver = report.tokens.after > targetTokens;
  // An estimate that was too small may grow when more messages leave, so use the maximum size.
  const size = isOver ? { policy } : { policy, batchTokens: largestBatchTokens(result) };
  const expected = expectClipTokens(transcript, prepared, { ...size, plan });
  const extraTokens = estimateTokensByBytes(result.text()) - expected;
  const next = planPrepared(transcript, prepared, { ...size, extraTokens });
  if (next.kind === 'skip') return null;
  const isBetter = isOver ? next.retained.size < plan.retained.size : next.retained.size > plan.retained.size;
  return isBetter ? next : null;
}

/** The result that fits the target, the later one if both do; if neither does, the smaller one. */
function closest(first: Summarized, second: Summarized, targetTokens: number): Summarized {
  if (second.report.tokens.after <= targetTokens) return second;
  return second.report.tokens.after < first.report.tokens.after ? second : first;
}

const MAX_LOST = 5;

/** The failure where summaries kept too few facts; null: they kept enough. */
export function findLosses(attempts: readonly Attempted[], { policy, input }: CompactFileRequest): Failure | null {
  const wanted = policy.compaction.minRetention ?? 0;
  const audited = attempts.flatMap((one) => (one.kind === 'compacted' ? [...one.result.retentionOf.values()] : []));
  const kept = audited.reduce((sum, one) => sum + one.kept, 0);
  const total = audited.reduce((sum, one) => sum + one.total, 0);
  if (total === 0 || kept / total >= wanted) return null;
  const lost = audited.flatMap((one) => one.lost.map(({ text }) => text)).slice(0, MAX_LOST);
  return { kind: 'low-retention', file: input.name, kept, total, wanted, lost };
}

type Summarized = { readonly result: CompactedConversation; readonly report: ConversationReport };

async function summarizePlan(
  deps: WritingDeps,
  input: Input & { readonly prepared: PreparedConversation; readonly plan: CompactPlan },
): Promise<Result<Summarized, Failure>> {
  const { transcript, request, prepared, plan } = input;
  const { name } = request.input;
  const compacted = await compactConversation(input.summaries, {
    transcript,
    prepared,
    plan,
    originKey: input.originKey,
    readLineage: input.readLineage,
    config: compactionWithin(request.policy),
    modelName: request.modelName,
    onChunk: (done, total) => {
      deps.reached('summarized');
      deps.progress.update('summarizing', done, total);
    },
  });
  if (!compacted.ok) return err(noSummary(name, compacted.error));
  return ok({ result: compacted.value, report: reportOf(transcript, compacted.value) });
}

function noSummary(file: string, problem: string): Failure {
  return { kind: 'no-summary', file, problem, advice: 'Try again, or use another provider.' };
}

export function breakerOpen(file: string): Failure {
  return {
    kind: 'no-summary',
    file,
    problem: 'too many compactions in a row have failed',
    advice: 'No more calls are made in this run. See the errors above.',
  };
}

function reportOf(transcript: Prepared, result: CompactedConversation): ConversationReport {
  const { view } = result.prepared;
  const kept = keptMessageLines({ view, plan: result.plan }, transcript.codec.format.layout.links === 'parents');
  return reportConversation(result.prepared, (line) => kept.has(line), {
    cycles: result.draft.cycle,
    clipTokens: estimateTokensByBytes(result.text()),
    batches: result.live.map((batch) => labelBatch(batch, '')),
  });
}

/** L7: a result that is not smaller is dropped. */
function judge({ result, report }: Summarized, targetTokens: number | null): Attempted {
  const { before, after } = report.tokens;
  if (after >= before) {
    return {
      kind: 'skipped',
      reason: 'nothing-gained',
      detail: `the result would have ${formatCount(after)} tokens, and the original has ${formatCount(before)}`,
      wasted: result,
    };
  }
  const notes = planNotes(result.prepared, result.plan, { tokensAfter: after, targetTokens });
  return { kind: 'compacted', result, report, notes };
}

function largestBatchTokens({ live }: CompactedConversation): number {
  return live.reduce((most, { content }) => Math.max(most, estimateTokensByBytes(content)), 0);
}

export type CompactedConversation = FinishedCycle & {
  readonly prepared: PreparedConversation;
  readonly plan: CompactPlan;
  /** Lines that an earlier clip-archive quoted verbatim and that are summarized now. */
  readonly carried: readonly Omit<CarriedLine, 'cycle'>[];
};

/** Summarizes the messages of one conversation that the plan removes. */
async function compactConversation(
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
    keptWordForWord: transcript.codec.format.layout.links === 'parents' ? wordForWord(plan, load) : [],
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

/** What the producer's own compaction has put out of its context: typed messages and a clip-archive of ours. */
export function readStale(
  transcript: Pick<Prepared, 'readMessage'>,
  { prior, view }: PreparedConversation,
): StaleRules {
  if (prior.kind !== 'foreign' || prior.isOurs) return { typed: [], clip: null };
  const typed = view.staleTyped.flatMap(({ entry, index }) => {
    const message = transcript.readMessage(entry);
    if (message?.ruleText === undefined) return [];
    return [{ index, text: message.ruleText, source: { id: message.id, at: message.created_at } }];
  });
  return { typed, clip: view.staleClip === null ? null : (transcript.readMessage(view.staleClip)?.content ?? null) };
}

/** Reads messages of a conversation by their index, as often as needed. */
export function createLoader(
  transcript: Pick<Prepared, 'readMessage'>,
  { id, view, carried }: PreparedConversation,
): (index: number) => ConversationMessage {
  const carriedMessages = new Map(carried.map(({ plan, message }) => [plan.carriedLineId, message]));
  return (index) => {
    const entry = view.messages[index];
    if (entry === undefined) throw new Error(`the plan names message ${index}, which is not there`);
    const { carriedLineId } = entry;
    const message = carriedLineId === undefined ? transcript.readMessage(entry) : carriedMessages.get(carriedLineId);
    if (message === undefined || message === null) throw sourceChanged(entry.line);
    return { ...message, conversation_id: id };
  };
}

function wordForWord({ retained }: CompactPlan, load: (index: number) => ConversationMessage): readonly KeptMessage[] {
  return [...retained]
    .sort((a, b) => a - b)
    .map(load)
    .map(({ role, name, created_at: at, content: text }) => ({
      role,
      ...(name === undefined ? {} : { name }),
      at,
      text,
    }));
}
