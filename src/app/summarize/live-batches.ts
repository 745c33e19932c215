import { joinBatches, planResummarize, type SummaryBatch, type SummaryLevel } from '../../core/batch.ts';
import type { ConversationMessage } from '../../core/message.ts';
import { batchTokensOf, type CompactionConfig } from '../../core/policy.ts';
import { buildResummarizationRequest } from '../../core/prompt.ts';
import { err, ok, type Result } from '../../core/result.ts';
import type { Retention } from '../../core/retention/audit.ts';
import { estimateTokens } from '../../core/tokens.ts';
import type { StoredBatch } from '../../ports/archive-lookup.ts';
import type { BatchDraft, BatchRef } from '../../ports/archive.ts';
import type { LineageMaterial } from '../read/lineage.ts';
import { summarizeChunk, type SummaryDeps } from './summarize-chunk.ts';
import { asWhole, withTimeout } from './summarize.ts';
import { NO_USAGE, type Usage } from './usage.ts';

/** A batch in the clip-archive, and where it is stored. */
export type LiveBatch = SummaryBatch & { readonly ref: BatchRef; readonly level?: SummaryLevel };

export type CycleBatches = {
  readonly drafts: readonly BatchDraft[];
  readonly live: readonly LiveBatch[];
  readonly usage: Usage;
  /** The retention of the merged batch, which is the last draft. */
  readonly mergedRetention: Retention | null;
};

/**
 * Joins the batches of earlier cycles with the new ones and re-summarizes the older ones if there are too many (A3). A re-summarized batch is
 * an additional draft; its sources stay in the archive.
 */
export async function collectLiveBatches(
  deps: SummaryDeps,
  input: {
    readonly earlier: readonly StoredBatch[];
    readonly fresh: readonly (SummaryBatch & { readonly level?: SummaryLevel })[];
    readonly config: CompactionConfig;
    readonly modelName: string;
  },
): Promise<Result<CycleBatches, string>> {
  const drafts = input.fresh.map((batch): BatchDraft => ({
    ...plainBatch(batch),
    sources: [],
    level: batch.level ?? 'plain',
  }));
  const live = [
    ...input.earlier.map(storedBatch),
    ...drafts.map((batch, position): LiveBatch => ({
      ...plainBatch(batch),
      level: batch.level ?? 'plain',
      ref: { kind: 'new', position },
    })),
  ];
  const done = await resummarizeBatches(deps, live, input);
  if (!done.ok) return done;
  const { merged, sources, kept, usage, retention: mergedRetention } = done.value;
  if (merged === null) return ok({ drafts, live, usage, mergedRetention });
  return ok({
    drafts: [...drafts, { ...merged, sources: sources.map(({ ref }) => ref) }],
    live: [{ ...merged, ref: { kind: 'new', position: drafts.length } }, ...kept],
    usage,
    mergedRetention,
  });
}

/**
 * The batches of a cycle with a single new batch. It replaces the batches whose originals it was made from, and another program's summary
 * (`foreign`), which is stored for search. A summary of ours from another archive stays beside it.
 */
export function replaceLiveBatches({
  lineage,
  foreign,
  isOurs,
  batch,
}: {
  readonly lineage: LineageMaterial;
  readonly foreign: SummaryBatch | null;
  readonly isOurs: boolean;
  readonly batch: SummaryBatch & { readonly level: SummaryLevel };
}): CycleBatches {
  const { level } = batch;
  const first: BatchRef = { kind: 'new', position: 0 };
  const sources = [
    ...lineage.replaced.map(({ id }): BatchRef => ({ kind: 'stored', id })),
    ...(foreign === null || isOurs ? [] : [first]),
  ];
  const whole = plainBatch(batch);
  const position = foreign === null ? 0 : 1;
  return {
    drafts: [
      ...(foreign === null ? [] : [{ ...foreign, sources: [], level: 'plain' } as const]),
      { ...whole, sources, level },
    ],
    live: [
      ...lineage.kept.map(storedBatch),
      ...(foreign !== null && isOurs ? [{ ...foreign, level: 'plain', ref: first } as const] : []),
      { ...whole, level, ref: { kind: 'new', position } },
    ],
    usage: NO_USAGE,
    mergedRetention: null,
  };
}

function storedBatch(batch: StoredBatch): LiveBatch {
  return { ...plainBatch(batch), level: batch.level, ref: { kind: 'stored', id: batch.id } };
}

/** The batch without its creator's extra fields. */
function plainBatch({
  content,
  depth,
  startTime,
  endTime,
  messageCount,
  firstIndex,
  lastIndex,
}: SummaryBatch): SummaryBatch {
  const indices = firstIndex === undefined || lastIndex === undefined ? {} : { firstIndex, lastIndex };
  return { content, depth, startTime, endTime, messageCount, ...indices };
}

type Resummarized<B> = {
  /** The batch that replaces the older ones; null: there are not too many. */
  readonly merged: (SummaryBatch & { readonly level: SummaryLevel }) | null;
  /** The batches that `merged` replaces, oldest first. */
  readonly sources: readonly B[];
  /** The batches that stay. */
  readonly kept: readonly B[];
  readonly usage: Usage;
  /** Retention of the facts in the merged summaries; null: not audited. */
  readonly retention: Retention | null;
};

/** If there are more live batches than are shown (A3), all but the last `clipLast` are merged. The error says why there is no summary. */
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
    // The merged summary is all that will be shown of its sources, so it is audited against them.
    messages: due.merge.map(asMessage),
    previousSummary: null,
    earlier: [],
    config,
  };
  const answer = await summarizeChunk(deps, chunk, {
    inputTokens: batchContents.reduce((sum, text) => sum + estimateTokens(text), 0),
    ...asWhole(config),
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
