import type { SummaryBatch, SummaryLevel } from '../../core/batch.ts';
import type { ConversationMessage } from '../../core/message.ts';
import { batchTokensOf, type CompactionConfig, DEFAULT_COMPACTION_CONFIG } from '../../core/policy.ts';
import { buildResummarizationRequest } from '../../core/prompt.ts';
import { err, ok, type Result } from '../../core/result.ts';
import { joinBatches, planResummarize } from '../../core/resummarize.ts';
import type { Retention } from '../../core/retention/audit.ts';
import { estimateTokens } from '../../core/tokens.ts';
import { summarizeChunk, type SummaryDeps } from './summarize-chunk.ts';
import { withTimeout } from './summarize.ts';
import { NO_USAGE, type Usage } from './usage.ts';

export type Resummarized<B> = {
  /** The batch that stands for the older ones; null: it was not due. */
  readonly merged: (SummaryBatch & { readonly level: SummaryLevel }) | null;
  /** What `merged` replaces, oldest first. */
  readonly sources: readonly B[];
  /** What stays as it is. */
  readonly kept: readonly B[];
  readonly usage: Usage;
  /** Of the facts of the summaries that were merged; null: nobody looked. */
  readonly retention: Retention | null;
};

/** Where there are more live batches than are shown (A3), all but the last `clipLast` become one. The error says why no summary could be had. */
export async function resummarizeBatches<B extends SummaryBatch>(
  deps: SummaryDeps,
  batches: readonly B[],
  { config, modelName }: { readonly config: CompactionConfig; readonly modelName: string },
): Promise<Result<Resummarized<B>, string>> {
  const due = planResummarize(batches, config);
  if (due === null) return ok({ merged: null, sources: [], kept: batches, usage: NO_USAGE, retention: null });
  const batchContents = due.merge.map(({ content }) => content);
  const request = buildResummarizationRequest({
    systemPrompt: config.prompt,
    batchContents,
    batches: due.merge,
    modelName,
    maxTokens: batchTokensOf(config),
  });
  const chunk = {
    request: withTimeout(request, config),
    // What a merged summary loses of those that it is made of is gone from what is shown.
    messages: due.merge.map(asMessage),
    previousSummary: null,
    earlier: [],
    config,
  };
  const answer = await summarizeChunk(deps, chunk, {
    inputTokens: batchContents.reduce((sum, text) => sum + estimateTokens(text), 0),
    maxRetries: config.maxRetries ?? DEFAULT_COMPACTION_CONFIG.maxRetries,
    canHalve: false,
    halvings: 0,
  });
  if (answer.kind !== 'summary') return err(answer.message);
  const { text, level, usage, retention } = answer;
  return ok({
    merged: { ...joinBatches(due.merge, text), level },
    sources: due.merge,
    kept: due.keep,
    usage,
    retention,
  });
}

function asMessage({ content, endTime }: SummaryBatch, at: number): ConversationMessage {
  return { id: `batch:${at + 1}`, conversation_id: '', role: 'assistant', content, created_at: endTime };
}
