import type { SummaryBatch } from '../core/batch.ts';
import type { CompactionConfig } from '../core/policy.ts';
import { buildResummarizationRequest } from '../core/prompt.ts';
import { err, ok } from '../core/result.ts';
import type { Result } from '../core/result.ts';
import { joinBatches, planResummarize } from '../core/resummarize.ts';
import { estimateTokens } from '../core/tokens.ts';
import type { BatchDraft, BatchRef, StoredBatch } from '../ports/archive.ts';
import { askForSummary } from './ask.ts';
import type { AskDeps } from './ask.ts';
import { DEFAULT_MAX_RETRIES, NO_USAGE, withTimeout } from './summarize.ts';
import type { Usage } from './summarize.ts';

/** A batch that the clip-archive speaks of, and where it is stored. */
export type LiveBatch = { readonly batch: SummaryBatch; readonly ref: BatchRef };

export type ClosedCycle = {
  readonly drafts: readonly BatchDraft[];
  readonly live: readonly LiveBatch[];
  readonly usage: Usage;
};

/**
 * Joins the batches of earlier cycles with this one's, and re-summarizes the older ones where there are too many (A3). A re-summarized
 * batch is one more draft; its sources stay.
 */
export async function closeCycle(
  deps: AskDeps,
  input: {
    readonly earlier: readonly StoredBatch[];
    readonly fresh: readonly SummaryBatch[];
    readonly config: CompactionConfig;
    readonly modelName: string;
  },
): Promise<Result<ClosedCycle, string>> {
  const { config, modelName } = input;
  const drafts: BatchDraft[] = input.fresh.map(toDraft);
  const live: LiveBatch[] = [
    ...input.earlier.map((batch): LiveBatch => ({ batch, ref: { kind: 'stored', id: batch.id } })),
    ...drafts.map((batch, position): LiveBatch => ({ batch, ref: { kind: 'new', position } })),
  ];
  const due = planResummarize(live, config);
  if (due === null) return ok({ drafts, live, usage: NO_USAGE });
  const batches = due.merge.map(({ batch }) => batch);
  const batchContents = batches.map(({ content }) => content);
  const request = buildResummarizationRequest({
    systemPrompt: config.prompt,
    batchContents,
    batches,
    modelName,
    maxTokens: config.maxSummaryTokens,
  });
  const answer = await askForSummary(deps, withTimeout(request, config), {
    inputTokens: batchContents.reduce((sum, text) => sum + estimateTokens(text), 0),
    maxRetries: config.maxRetries ?? DEFAULT_MAX_RETRIES,
  });
  if (answer.kind !== 'summary') return err(answer.message);
  const merged = joinBatches(batches, answer.text);
  const ref: BatchRef = { kind: 'new', position: drafts.length };
  return ok({
    drafts: [...drafts, { ...merged, sources: due.merge.map((one) => one.ref) }],
    live: [{ batch: merged, ref }, ...due.keep],
    usage: { calls: answer.calls, inputTokens: answer.usage.input_tokens, outputTokens: answer.usage.output_tokens },
  });
}

function toDraft({
  content,
  depth,
  startTime,
  endTime,
  messageCount,
  firstIndex,
  lastIndex,
}: SummaryBatch): BatchDraft {
  const indices = firstIndex === undefined || lastIndex === undefined ? {} : { firstIndex, lastIndex };
  return { content, depth, startTime, endTime, messageCount, ...indices, sources: [] };
}
