import { countLedger, reportBase, reportConversation } from './compact-report.ts';
import { planOutcomes, planPrepared } from './plan-transcript.ts';
import type { Prepared } from './prepare.ts';
import { skippedReport } from './compact-report.ts';
import type { CompactReport } from './reports.ts';
import type { CompactFileRequest } from './requests.ts';

/** Tokens of directive and system prompt in a request, about. */
const REQUEST_FRAME_TOKENS = 400;

/** What would be done, without doing it: no model, no archive row, no file. Token counts are upper bounds. */
export function planReport(transcript: Prepared, request: CompactFileRequest): CompactReport {
  const { policy } = request;
  const batchTokens = policy.compaction.maxSummaryTokens;
  const planned = transcript.conversations.map((prepared) =>
    planPrepared(transcript, prepared, { policy, batchTokens }),
  );
  const plans = planned.map((plan) => (plan.kind === 'compact' ? plan : null));
  const first = planned[0];
  if (plans.every((plan) => plan === null) && first?.kind === 'skip') {
    return skippedReport(transcript, {
      file: request.input.name,
      reason: first.reason,
      notes: [first.detail],
      output: null,
    });
  }
  const { outcomes } = planOutcomes(transcript, plans);
  const chunks = plans.flatMap((plan) => plan?.chunks ?? []);
  const messageTokens = transcript.conversations.reduce((sum, { view }, index) => {
    const going = plans[index]?.chunks.flat() ?? [];
    return sum + going.reduce((own, message) => own + (view.messages[message]?.tokens ?? 0), 0);
  }, 0);
  const isKept = (line: number): boolean => outcomes[line - 1]?.kind === 'kept';
  return {
    ...reportBase(transcript, request.input.name),
    result: 'planned',
    notes: plans.flatMap((plan) => plan?.notes ?? []),
    output: null,
    sha256: { before: transcript.scan.sha256, after: null },
    bytes: { before: transcript.source.stamp.sizeBytes, after: null },
    conversations: transcript.conversations.map((prepared, index) => {
      const plan = plans[index];
      if (plan === null || plan === undefined) return reportConversation(prepared, () => true, null);
      const cycles =
        prepared.prior.kind === 'none'
          ? 1
          : (prepared.prior.kind === 'lineage' ? prepared.prior.cycle.cycle : prepared.prior.cycles) + 1;
      return reportConversation(prepared, isKept, {
        cycles,
        clipTokens: plan.chunks.length * batchTokens,
        batches: [],
      });
    }),
    ledger: countLedger(outcomes),
    archive: null,
    plan: {
      chunks: chunks.length,
      requests: chunks.length,
      tokensIn: messageTokens + chunks.length * (batchTokens + REQUEST_FRAME_TOKENS),
      tokensOut: chunks.length * batchTokens,
    },
  };
}
