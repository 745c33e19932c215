import type { SummaryBatch, SummaryLevel } from '../../core/batch.ts';
import type { CompactionConfig } from '../../core/policy.ts';
import { ok, type Result } from '../../core/result.ts';
import type { Retention } from '../../core/retention/audit.ts';
import type { BatchDraft, BatchRef, StoredBatch } from '../../ports/archive.ts';
import type { LineageMaterial } from '../read/lineage-material.ts';
import { resummarizeBatches } from './resummarize-batches.ts';
import type { SummaryDeps } from './summarize-chunk.ts';
import { NO_USAGE, type Usage } from './usage.ts';

/** A batch that the clip-archive speaks of, and where it is stored. */
export type LiveBatch = SummaryBatch & { readonly ref: BatchRef; readonly level?: SummaryLevel };

export type ClosedCycle = {
  readonly drafts: readonly BatchDraft[];
  readonly live: readonly LiveBatch[];
  readonly usage: Usage;
  /** Of the merged batch, which is the last draft. */
  readonly mergedRetention: Retention | null;
};

/**
 * Joins the batches of earlier cycles with this one's, and re-summarizes the older ones where there are too many (A3). A re-summarized
 * batch is one more draft; its sources stay.
 */
export async function closeCycle(
  deps: SummaryDeps,
  input: {
    readonly earlier: readonly StoredBatch[];
    readonly fresh: readonly (SummaryBatch & { readonly level?: SummaryLevel })[];
    readonly config: CompactionConfig;
    readonly modelName: string;
  },
): Promise<Result<ClosedCycle, string>> {
  const drafts = input.fresh.map((batch): BatchDraft => ({
    ...plainBatch(batch),
    sources: [],
    level: batch.level ?? 'plain',
  }));
  const live: LiveBatch[] = [
    ...input.earlier.map((batch): LiveBatch => ({
      ...plainBatch(batch),
      level: batch.level,
      ref: { kind: 'stored', id: batch.id },
    })),
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
 * A cycle with one batch for everything: it replaces the batches whose originals it was made from, and a summary of another program
 * (`foreign`), which is stored for search. One of ours from another archive stays beside it.
 */
export function closeWhole({
  lineage,
  foreign,
  isOurs,
  batch,
}: {
  readonly lineage: LineageMaterial;
  readonly foreign: SummaryBatch | null;
  readonly isOurs: boolean;
  readonly batch: SummaryBatch & { readonly level: SummaryLevel };
}): ClosedCycle {
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
      ...lineage.kept.map((kept): LiveBatch => ({
        ...plainBatch(kept),
        level: kept.level,
        ref: { kind: 'stored', id: kept.id },
      })),
      ...(foreign !== null && isOurs ? [{ ...foreign, level: 'plain', ref: first } as const] : []),
      { ...whole, level, ref: { kind: 'new', position } },
    ],
    usage: NO_USAGE,
    mergedRetention: null,
  };
}

/** A batch without what its producer knows beside it. */
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
