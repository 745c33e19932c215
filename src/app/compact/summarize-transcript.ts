import { keptSaid } from '../../core/plan/fates.ts';
import { estimateTokens, estimateTokensByBytes } from '../../core/tokens.ts';
import { err, ok } from '../../core/result.ts';
import type { Result } from '../../core/result.ts';
import type { ConversationPlan } from '../../core/plan/plan.ts';
import { compactConversation } from './compact-conversation.ts';
import type { CompactedConversation, CompactPlan } from './compact-conversation.ts';
import { labelBatch, noteMissedTarget, reportConversation } from './report.ts';
import type { CompactDeps } from '../contract/deps.ts';
import type { ReadLineage } from '../read/lineage-material.ts';
import type { SummaryDeps } from '../summarize/summarize-chunk.ts';
import type { Failure } from '../contract/failure.ts';
import { planPrepared } from './plan-transcript.ts';
import type { Prepared, PreparedConversation } from '../read/prepare.ts';
import type { ConversationReport, SkipReason } from '../contract/reports.ts';
import type { CompactFileRequest } from '../contract/requests.ts';

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
      /** What was summarized all the same. */
      readonly inVain?: CompactedConversation;
    };

type Input = {
  readonly transcript: Prepared;
  readonly request: CompactFileRequest;
  readonly originKey: string;
  readonly summaries: SummaryDeps;
  readonly readLineage: ReadLineage;
  /** As `planFirst` made it. */
  readonly plan: ConversationPlan | undefined;
};

/** What is to be done with a conversation if every summary is as long as it may be. */
export function planFirst(
  transcript: Prepared,
  prepared: PreparedConversation,
  { policy }: CompactFileRequest,
): ConversationPlan {
  return planPrepared(transcript, prepared, { policy });
}

/** Summarizes one conversation; with a target, it is planned and done again, once (the size of a summary is only known afterwards). */
export async function attemptConversation(
  deps: CompactDeps,
  prepared: PreparedConversation,
  input: Input,
): Promise<Result<Attempted, Failure>> {
  const { policy } = input.request;
  const first = input.plan ?? planFirst(input.transcript, prepared, input.request);
  if (first.kind === 'skip') return ok({ kind: 'skipped', reason: first.reason, detail: first.detail });
  const done = await summarizePlan(deps, { ...input, prepared, plan: first });
  if (!done.ok) return done;
  if (policy.targetTokens === null) return ok(judge(done.value, policy.targetTokens));
  const more = planPrepared(input.transcript, prepared, { policy, batchTokens: largestBatchTokens(done.value.result) });
  if (more.kind === 'skip' || more.survivors.size <= first.survivors.size)
    return ok(judge(done.value, policy.targetTokens));
  const again = await summarizePlan(deps, { ...input, prepared, plan: more });
  if (!again.ok) return again;
  const fits = again.value.report.tokens.after <= policy.targetTokens;
  return ok(judge(fits ? again.value : done.value, policy.targetTokens));
}

type Summarized = { readonly result: CompactedConversation; readonly report: ConversationReport };

async function summarizePlan(
  deps: CompactDeps,
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
    config: request.policy.compaction,
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

function reportOf(transcript: Prepared, result: CompactedConversation): ConversationReport {
  const { view } = result.prepared;
  const kept = keptSaid({ view, plan: result.plan }, transcript.codec.format.isChain);
  return reportConversation(result.prepared, (line) => kept.has(line), {
    cycles: result.draft.cycle,
    clipTokens: estimateTokensByBytes(result.text()),
    batches: result.live.map((batch) => labelBatch(batch, '')),
  });
}

/** L7: what is not smaller is not done. */
function judge({ result, report }: Summarized, targetTokens: number | null): Attempted {
  const { before, after } = report.tokens;
  if (after >= before) {
    return {
      kind: 'skipped',
      reason: 'nothing-gained',
      detail: `the result would have ${after} tokens, the original has ${before}`,
      inVain: result,
    };
  }
  const notes = [...result.plan.notes, ...noteMissedTarget(after, targetTokens)];
  return { kind: 'compacted', result, report, notes };
}

function largestBatchTokens({ live }: CompactedConversation): number {
  return live.reduce((most, { content }) => Math.max(most, estimateTokens(content)), 0);
}
