import { shouldResummarize } from '../../core/batch.ts';
import { netBytesFreed } from '../../core/disk.ts';
import type { ModelRequest } from '../../core/model-request.ts';
import type { LineOutcome } from '../../core/plan/line-outcomes.ts';
import type { ConversationPlan } from '../../core/plan/plan.ts';
import { batchTokensOf, type CompactionConfig, compactionWithin, type TranscriptPolicy } from '../../core/policy.ts';
import type {
  BeforeAfter,
  CompactReport,
  ConversationReport,
  PlannedRequest,
  PlanReport,
  SkipReason,
} from '../contract/reports.ts';
import type { CompactFileRequest } from '../contract/requests.ts';
import type { Prepared, PreparedConversation } from '../read/prepare.ts';
import { expectedTokens } from '../summarize/ask.ts';
import { redactRequest } from '../summarize/redacting-model.ts';
import { cyclesOf } from '../summarize/run-cycle.ts';
import { callsIn, chunkRequest } from '../summarize/summarize.ts';
import { costOf } from '../summarize/usage.ts';
import { type CompactPlan, expectClipTokens, planOutcomes, planPrepared } from './plan.ts';
import {
  buildReport,
  countLedger,
  planNotes,
  reportConversation,
  reportRetention,
  reportUnchanged,
  reportUsage,
  skippedReport,
  totalTokens,
} from './report.ts';
import { type Attempted, createLoader, planOf, reportAttempts } from './summarize-conversation.ts';
import { BYTES_PER_TOKEN } from '../../core/tokens.ts';

/** Estimated tokens of the directive and the system prompt in a request. */
const REQUEST_FRAME_TOKENS = 400;

/** The expected result of a compaction. `plans` and `conversations` are in the transcript's order; a null plan means that nothing would be done. */
export type Forecast =
  | { readonly kind: 'skip'; readonly reason: SkipReason; readonly detail: string }
  | {
      readonly kind: 'compact';
      readonly plans: readonly (CompactPlan | null)[];
      readonly outcomes: readonly LineOutcome[];
      readonly conversations: readonly ConversationReport[];
      readonly bytes: ExpectedBytes;
      /** For a compaction in place, as `CompactReport` has it. */
      readonly netBytes: number;
    };

/** Estimated sizes on disk: the file after a compaction, and by how much the archive grows. */
type ExpectedBytes = Pick<PlanReport, 'bytesAfter' | 'archiveBytes'>;

/** Tokens are estimates: every summary is assumed to be as long as it may be. */
export function forecast(
  transcript: Prepared,
  policy: TranscriptPolicy,
  planned: readonly ConversationPlan[] = transcript.conversations.map((one) =>
    planPrepared(transcript, one, { policy }),
  ),
): Forecast {
  const plans = planned.map((plan) => (plan.kind === 'compact' ? plan : null));
  const first = planned[0];
  if (plans.every((plan) => plan === null) && first?.kind === 'skip') return first;
  const { outcomes } = planOutcomes(transcript, plans);
  const isKept = (line: number): boolean => outcomes[line - 1]?.kind === 'kept';
  const expected = transcript.conversations.map((prepared, index) => {
    const plan = plans[index] ?? null;
    if (plan === null) return { clipTokens: null, report: reportUnchanged(prepared) };
    const clipTokens = expectClipTokens(transcript, prepared, { plan, policy });
    const done = { cycles: cyclesOf(prepared.prior) + 1, clipTokens, batches: [] };
    return { clipTokens, report: atMost(reportConversation(prepared, isKept, done), policy) };
  });
  const clips = expected.flatMap(({ clipTokens }) => clipTokens ?? []);
  const bytes = expectBytes(transcript, outcomes, clips);
  const conversations = expected.map(({ report }) => report);
  const netBytes = netInPlace(transcript, { after: bytes.bytesAfter, archive: bytes.archiveBytes });
  const detail = describeLittle(policy, totalTokens(conversations), netBytes);
  if (detail !== null) return { kind: 'skip', reason: 'little-gained', detail };
  return { kind: 'compact', plans, outcomes, conversations, bytes, netBytes };
}

/** Why a compaction is not worth it; null: it is. */
function describeLittle({ minSaving = 0 }: TranscriptPolicy, { before, after }: BeforeAfter, netBytes: number) {
  if (minSaving >= 1)
    return netBytes >= minSaving
      ? null
      : `it would free about ${netBytes} bytes of disk, net of the archive (--min-saving ${minSaving})`;
  const share = before === 0 ? 0 : (before - after) / before;
  const percent = (part: number): string => `${Math.trunc(100 * part)} %`;
  return share >= minSaving
    ? null
    : `it would save about ${percent(share)} of the tokens (--min-saving ${percent(minSaving)})`;
}

/** The bytes of disk that replacing a transcript frees. `after`: of the content. */
export function netInPlace(
  { source }: Pick<Prepared, 'source'>,
  { after, archive }: { after: number; archive: number },
): number {
  return netBytesFreed({ before: source.stamp.sizeBytes, after: sizeOnDisk(source, after), archive });
}

/** Measured on 18 real sessions: what archived lines take of their size, and what each compaction adds to that. */
const ARCHIVE_SHARE = 0.28;
const ARCHIVE_FRAME_BYTES = 10_000;
/** The bytes of a summary's record besides its text. */
const CLIP_RECORD_BYTES = 1000;

function expectBytes(
  { recordIndex, source }: Prepared,
  outcomes: readonly LineOutcome[],
  clips: readonly number[],
): ExpectedBytes {
  const leaving = recordIndex.entries.reduce(
    (sum, { length }, at) => (outcomes[at]?.kind === 'kept' ? sum : sum + length),
    0,
  );
  const clipBytes = clips.reduce((sum, tokens) => sum + tokens * BYTES_PER_TOKEN + CLIP_RECORD_BYTES, 0);
  const bytesAfter = Math.min(source.sizeBytes, source.sizeBytes - leaving + clipBytes);
  return { bytesAfter, archiveBytes: Math.round(leaving * ARCHIVE_SHARE) + ARCHIVE_FRAME_BYTES };
}

/** What is compressed on the disk is compressed again, about as well. */
export function sizeOnDisk({ stamp, sizeBytes }: Prepared['source'], contentBytes: number): number {
  return Math.round((contentBytes * stamp.sizeBytes) / Math.max(1, sizeBytes));
}

/**
 * A compaction that would gain nothing is not made, so the result is never larger than before. What a summary leaves of a target, a run fills
 * with more messages.
 */
function atMost(report: ConversationReport, { targetTokens }: TranscriptPolicy): ConversationReport {
  const { before, after, by } = report.tokens;
  return { ...report, tokens: { before, after: Math.min(before, Math.max(after, targetTokens ?? 0)), by } };
}

/** The report of a dry run: no model is asked, and nothing is written. */
export function planReport(transcript: Prepared, request: CompactFileRequest): CompactReport {
  const { policy, input } = request;
  const expected = forecast(transcript, policy);
  if (expected.kind === 'skip') {
    const { reason, detail } = expected;
    return skippedReport(transcript, input, { reason, notes: [detail], output: null });
  }
  const { plans, outcomes, conversations, bytes, netBytes } = expected;
  const notes = transcript.conversations.flatMap((prepared, index) => {
    const plan = plans[index] ?? null;
    const tokensAfter = conversations[index]?.tokens.after ?? 0;
    if (plan === null) return [];
    const { carriedCount, messages } = prepared.view;
    const first = plan.boundary - carriedCount + 1;
    const begins =
      plan.boundary === messages.length
        ? []
        : [`the recent part begins with message ${first} of ${messages.length - carriedCount}: ${plan.beginning}`];
    return [...begins, ...planNotes(prepared, plan, { tokensAfter, targetTokens: policy.targetTokens })];
  });
  const made = { notes, conversations, ledger: countLedger(outcomes) };
  const plan = { ...bytes, ...describePlan(transcript, plans, request) };
  return { ...plannedReport(transcript, request, made), netBytes, plan };
}

/** What the reports of a dry run and of a preview have in common: nothing was written. */
function plannedReport(
  transcript: Prepared,
  { input }: CompactFileRequest,
  { notes, conversations, ledger }: Pick<CompactReport, 'notes' | 'conversations' | 'ledger'>,
): CompactReport {
  const nothing = { output: null, after: null, archive: null };
  return buildReport(transcript, input, { result: 'planned', notes, ...nothing, conversations, ledger });
}

/** For a service, each request is built exactly as it would be sent; for the offline provider, requests are only counted. */
function describePlan(
  transcript: Prepared,
  plans: readonly (CompactPlan | null)[],
  request: CompactFileRequest,
): Omit<PlanReport, keyof ExpectedBytes> {
  const { mergedTokens, ...plan } = countRequests(transcript, plans, request);
  const { service } = request.summarizer;
  if (service === undefined) return { ...plan, cost: null };
  const redactor = service.createRedactor?.() ?? null;
  const redact = (one: ModelRequest): ModelRequest => (redactor === null ? one : redactRequest(one, redactor));
  const { modelName, policy } = request;
  const { price } = service;
  const asked = transcript.conversations.flatMap((prepared, index) => {
    const planned = plans[index] ?? null;
    if (planned === null) return [];
    const how = { plan: planned, config: compactionWithin(policy), modelName, redact };
    return [...plannedRequests(transcript, prepared, how)].map((one) => ({ ...one, conversation: prepared.id }));
  });
  const mergeTokens = (plan.requests - plan.chunks) * REQUEST_FRAME_TOKENS + mergedTokens;
  const tokensIn = asked.reduce((sum, one) => sum + one.tokensIn, mergeTokens);
  const cost = costOf({ inputTokens: tokensIn, outputTokens: plan.tokensOut }, price);
  return { ...plan, tokensIn, cost, ...(price?.listedOn !== undefined && { listedOn: price.listedOn }), asked };
}

function countRequests(
  { conversations }: Prepared,
  plans: readonly (CompactPlan | null)[],
  { policy }: CompactFileRequest,
) {
  const compaction = compactionWithin(policy);
  const counts = { chunks: 0, merges: 0, messageTokens: 0, mergedBatches: 0 };
  for (const [index, plan] of plans.entries()) {
    const prepared = conversations[index];
    if (plan === null || prepared === undefined) continue;
    const { prior, view } = prepared;
    const inherited = prior.kind === 'lineage' ? prior.cycle.live.length : prior.kind === 'foreign' ? 1 : 0;
    const live = inherited + plan.chunks.length;
    const isMerged = compaction.summaryTokens === undefined && shouldResummarize(live, compaction);
    counts.chunks += plan.chunks.length;
    for (const message of plan.chunks.flat()) counts.messageTokens += view.messages[message]?.tokens ?? 0;
    if (!isMerged) continue;
    counts.merges += 1;
    counts.mergedBatches += live - compaction.clipLast;
  }
  const batchTokens = batchTokensOf(compaction);
  const requests = counts.chunks + counts.merges;
  const summaries = counts.chunks + counts.mergedBatches;
  return {
    chunks: counts.chunks,
    requests,
    tokensIn: counts.messageTokens + summaries * batchTokens + requests * REQUEST_FRAME_TOKENS,
    tokensOut: requests * batchTokens,
    mergedTokens: counts.mergedBatches * batchTokens,
  };
}

/** The report of a preview: the summaries are real, but apart from the memory of paid summaries nothing is written. */
export function previewReport(
  transcript: Prepared,
  attempts: readonly Attempted[],
  request: CompactFileRequest,
): CompactReport {
  const compacted = attempts.flatMap((one) => (one.kind === 'compacted' ? [one] : []));
  const results = compacted.map(({ result }) => result);
  const made = {
    notes: compacted.flatMap((one) => one.notes),
    conversations: reportAttempts(transcript, attempts),
    ledger: countLedger(planOutcomes(transcript, attempts.map(planOf)).outcomes),
  };
  return {
    ...plannedReport(transcript, request, made),
    preview: results.map(({ prepared, text }) => ({ conversation: prepared.id, text: text() })),
    usage: reportUsage(results, request),
    ...reportRetention(results),
  };
}

function* plannedRequests(
  transcript: Prepared,
  prepared: PreparedConversation,
  asked: {
    readonly plan: CompactPlan;
    readonly config: CompactionConfig;
    readonly modelName: string;
    /** Masks secrets as they would be masked before sending. */
    readonly redact: (request: ModelRequest) => ModelRequest;
  },
): Generator<PlannedRequest> {
  const { plan, config, modelName, redact } = asked;
  const load = createLoader(transcript, prepared);
  const calls = callsIn({ chunks: plan.chunks, load });
  const { prior } = prepared;
  for (const [at, chunk] of plan.chunks.entries()) {
    const isFirst = at === 0;
    const foldsIn = config.foldIn !== false;
    const previousSummary = foldsIn && isFirst && prior.kind !== 'none' ? prior.text : null;
    const isKnown = isFirst || !foldsIn;
    const built = chunkRequest(chunk.map(load), { previousSummary, earlier: [], calls, config, modelName });
    const { source: _source, timeout: _timeout, ...request } = redact(built);
    const tokensIn = expectedTokens(request) + (isKnown ? 0 : batchTokensOf(config));
    yield { messages: chunk.length, tokensIn, request: isKnown ? request : null };
  }
}
