import { type KeptMessage, originOf } from '../../core/clip-archive.ts';
import type { ConversationMessage } from '../../core/message.ts';
import { keptMessageLines } from '../../core/plan/line-outcomes.ts';
import type { ConversationPlan } from '../../core/plan/plan.ts';
import { type CompactionConfig, compactionWithin } from '../../core/policy.ts';
import { err, ok, type Result } from '../../core/result.ts';
import { estimateTokensByBytes, formatCount } from '../../core/tokens.ts';
import type { Archive, CarriedLine } from '../../ports/archive.ts';
import { type AppDeps, isInterrupted, type WritingDeps } from '../contract/deps.ts';
import { attemptStep, type Failure, must, noSummary, sourceChanged, stop } from '../contract/failure.ts';
import type { BatchReport, ConversationReport, SkipReason } from '../contract/reports.ts';
import type { CompactFileRequest } from '../contract/requests.ts';
import { createOriginalDecoder, NO_MATERIAL, readLineage, type ReadLineage } from '../read/lineage.ts';
import type { Prepared, PreparedConversation, ReadTranscript } from '../read/prepare.ts';
import type { LeavingMessages, StaleRules } from '../summarize/rules-and-requests.ts';
import type { CycleInput, FinishedCycle } from '../summarize/run-cycle.ts';
import type { SummaryDeps } from '../summarize/summarize-chunk.ts';
import { priced } from '../summarize/usage.ts';
import { leave } from './leave.ts';
import { type CompactPlan, expectClipTokens, planPrepared } from './plan.ts';
import { labelBatch, planNotes, reportConversation, reportUnchanged, reportUsage } from './report.ts';

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

/** The plan that was carried out; null: the conversation stays as it is. */
export function planOf(attempt: Attempted): CompactPlan | null {
  return attempt.kind === 'compacted' ? attempt.result.plan : null;
}

/** The reports of all conversations. `batchesOf` gives the batches of a cycle as the archive has them; by default nothing was stored. */
export function reportAttempts(
  { conversations }: Prepared,
  attempts: readonly Attempted[],
  batchesOf?: (cycle: number) => readonly BatchReport[],
): readonly ConversationReport[] {
  let cycle = -1;
  return conversations.map((prepared, index) => {
    const attempt = attempts[index];
    if (attempt?.kind !== 'compacted') return reportUnchanged(prepared);
    cycle += 1;
    return { ...attempt.report, batches: batchesOf?.(cycle) ?? attempt.report.batches };
  });
}

type Input = Pick<CycleInput, 'originKey' | 'readLineage'> & {
  readonly transcript: Prepared;
  readonly request: CompactFileRequest;
  readonly summaries: SummaryDeps;
};

/** The summaries of all conversations, each checked. Ends the run if one is missing, or if nothing would be gained. */
export async function summarizeAll(
  deps: WritingDeps,
  {
    request,
    transcript,
    settingsSha256,
    plans,
    archive,
    summaries,
  }: Pick<Input, 'transcript' | 'request' | 'summaries'> & {
    settingsSha256: string;
    plans: readonly ConversationPlan[];
    archive: Archive | null;
  },
): Promise<readonly Attempted[]> {
  const { breaker } = request.summarizer;
  const { recordIndex, conversations } = transcript;
  const input: Input = {
    transcript,
    request,
    summaries,
    originKey: deps.runtime.sha256(originOf(recordIndex.sha256, settingsSha256)),
    readLineage: createLineageReader(deps, transcript, archive),
  };
  const attempts: Attempted[] = [];
  let waiting: Failure | null = null; // requests of all conversations go into one batch
  for (const [index, plan] of plans.entries()) {
    const prepared = conversations[index];
    if (prepared === undefined) continue;
    const attempted = await attemptStep(async () => must(await attemptConversation(deps, input, { prepared, plan })));
    if (await isInterrupted(deps)) stop({ kind: 'interrupted' });
    // If no summary was requested, the model has neither failed nor succeeded.
    if (!attempted.ok && attempted.error.kind === 'no-summary') breaker.record('failure');
    else if (attempted.ok && attempted.value.kind === 'compacted') breaker.record('success');
    if (attempted.ok) attempts.push(attempted.value);
    else if (summaries.isWaiting?.() === true) waiting ??= attempted.error;
    else stop(withSpending(attempted.error, input));
  }
  if (waiting !== null) stop(waiting);
  leaveIfIdle(attempts, request);
  const losses = findLosses(attempts, request);
  if (losses !== null) stop(withSpending(losses, input));
  return attempts;
}

/** Reads what left a transcript in its earlier compactions. */
export function createLineageReader(
  { formats }: Pick<AppDeps, 'formats'>,
  { recordIndex, codec, readJson }: Pick<Prepared, 'codec' | 'readJson'> & Pick<ReadTranscript, 'recordIndex'>,
  archive: Archive | null,
): ReadLineage {
  const headers = recordIndex.entries.filter(({ kind, list }) => kind === 'header' && list === undefined);
  const decode = createOriginalDecoder(formats, codec, headers.map(readJson));
  return async (cycle) => (archive === null ? NO_MATERIAL : readLineage(archive, cycle, decode));
}

/** A conversation of which every message leaves. */
export function wholeConversation(
  transcript: Pick<Prepared, 'readMessage'>,
  prepared: PreparedConversation,
  config: CompactionConfig,
): LeavingMessages {
  const { view, prior, compressedBefore } = prepared;
  const stale = readStale(transcript, prepared);
  return {
    prior,
    compressedBefore,
    chunks: [[...view.messages.keys()]],
    load: createLoader(transcript, prepared),
    readStale: () => stale,
    isTyped: (index) => view.messages[index]?.typedTokens !== undefined,
    config,
  };
}

function leaveIfIdle(attempts: readonly Attempted[], request: CompactFileRequest): void {
  const idle = attempts.filter((one) => one.kind === 'skipped');
  // The reason of a conversation whose summaries were made and then dropped is the most helpful one.
  const skipped = idle.find(({ wasted }) => wasted !== undefined) ?? idle[0];
  if (idle.length < attempts.length || skipped === undefined) return;
  const wasted = idle.flatMap((one) => one.wasted ?? []);
  leave({
    reason: skipped.reason,
    notes: [skipped.detail],
    ...(wasted.length > 0 && { usage: reportUsage(wasted, request) }),
  });
}

/** A failed run may still have cost something. */
function withSpending(failure: Failure, { summaries: { meter }, request: { summarizer } }: Input): Failure {
  const usage = meter?.total();
  if (usage === undefined || usage.calls === 0) return failure;
  if (failure.kind !== 'no-summary' && failure.kind !== 'low-retention' && failure.kind !== 'cost-limit')
    return failure;
  return { ...failure, usage: priced(usage, summarizer.service?.price) };
}

/**
 * Summarizes one conversation. With a target size, it may be planned and summarized a second time, because the size of a summary is only known
 * afterwards.
 */
async function attemptConversation(
  deps: WritingDeps,
  input: Input,
  { prepared, plan: first }: { prepared: PreparedConversation; plan: ConversationPlan },
): Promise<Result<Attempted, Failure>> {
  const { targetTokens } = input.request.policy;
  if (first.kind === 'skip') return ok({ kind: 'skipped', reason: first.reason, detail: first.detail });
  const done = await summarizePlan(deps, input, { prepared, plan: first });
  if (!done.ok) return done;
  const better = targetTokens === null ? null : planAgain(input, done.value, targetTokens);
  if (targetTokens === null || better === null) return ok(judge(done.value, targetTokens));
  const again = await summarizePlan(deps, input, { prepared, plan: better });
  if (!again.ok) return again;
  return ok(judge(closest(done.value, again.value, targetTokens), targetTokens));
}

/** A better plan, now that the size of the summary is known: more messages survive if there is room, fewer if there is not; null: no better plan. */
function planAgain({ transcript, request: { policy } }: Input, { result, report }: Summarized, targetTokens: number) {
  const { prepared, plan } = result;
  const isOver = report.tokens.after > targetTokens;
  // An estimate that was too small may grow when more messages leave, so use the maximum size.
  const largest = result.live.reduce((most, { content }) => Math.max(most, estimateTokensByBytes(content)), 0);
  const size = isOver ? { policy } : { policy, batchTokens: largest };
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
function findLosses(attempts: readonly Attempted[], { policy, input }: CompactFileRequest): Failure | null {
  const wanted = policy.compaction.minRetention ?? 0;
  const audited = attempts.flatMap((one) => (one.kind === 'compacted' ? [...one.result.retentionOf.values()] : []));
  const kept = audited.reduce((sum, one) => sum + one.kept, 0);
  const total = audited.reduce((sum, one) => sum + one.total, 0);
  if (total === 0 || kept / total >= wanted) return null;
  const lost = audited.flatMap((one) => one.lost.map(({ text }) => text)).slice(0, MAX_LOST);
  return { kind: 'low-retention', file: input.name, kept, total, wanted, lost };
}

export type CompactedConversation = FinishedCycle & {
  readonly prepared: PreparedConversation;
  readonly plan: CompactPlan;
  /** Lines that an earlier clip-archive quoted verbatim and that are summarized now. */
  readonly carried: readonly Omit<CarriedLine, 'cycle'>[];
};

type Summarized = { readonly result: CompactedConversation; readonly report: ConversationReport };

/** Summarizes the messages of one conversation that the plan removes. */
async function summarizePlan(
  deps: WritingDeps,
  { transcript, request, summaries, originKey, readLineage: read }: Input,
  { prepared, plan }: { prepared: PreparedConversation; plan: CompactPlan },
): Promise<Result<Summarized, Failure>> {
  const load = createLoader(transcript, prepared);
  const { messages, carriedCount } = prepared.view;
  const going = new Set(plan.chunks.flat());
  const { runCycle } = await import('../summarize/run-cycle.ts');
  const finished = await runCycle(summaries, {
    conversationId: prepared.id,
    originKey,
    prior: prepared.prior,
    compressedBefore: prepared.compressedBefore,
    chunks: plan.chunks,
    load,
    readStale: () => readStale(transcript, prepared),
    isTyped: (index) => messages[index]?.typedTokens !== undefined,
    keptRequests: [...messages.keys()].filter((at) => messages[at]?.typedTokens !== undefined && !going.has(at)),
    readLineage: read,
    keptWordForWord: transcript.codec.format.layout.links === 'parents' ? wordForWord(plan, load) : [],
    config: compactionWithin(request.policy),
    modelName: request.modelName,
    onChunk: (done, total) => {
      deps.reached('summarized');
      deps.progress.update('summarizing', done, total);
    },
  });
  if (!finished.ok) return err(noSummary(request.input.name, finished.error));
  const carried = messages.slice(0, carriedCount).flatMap(({ carriedLineId: lineId }, index) => {
    const batch = finished.value.batchOf.get(index);
    return lineId === undefined || batch === undefined ? [] : [{ lineId, batch }];
  });
  const result = { ...finished.value, prepared, plan, carried };
  return ok({ result, report: reportOf(transcript, result) });
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

/** What the producer's own compaction has put out of its context: typed messages and a clip-archive of ours. */
function readStale(transcript: Pick<Prepared, 'readMessage'>, { prior, view }: PreparedConversation): StaleRules {
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
