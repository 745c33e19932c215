import { type SummaryBatch, timeSpanOf } from './batch.ts';
import type { CompactionConfig } from './policy.ts';

type ClipSizes = Pick<CompactionConfig, 'clipFirst' | 'clipLast'>;

/** Batches beyond those that the clip-archive shows before they are summarized together. */
const SLACK_BATCHES = 2;

export function shouldResummarize(count: number, config: ClipSizes): boolean {
  return count > config.clipFirst + config.clipLast + SLACK_BATCHES;
}

/** Which live batches, oldest first, become one, and which stay; null where it is not due. */
export function planResummarize<B>(
  batches: readonly B[],
  config: ClipSizes,
): { readonly merge: readonly B[]; readonly keep: readonly B[] } | null {
  if (!shouldResummarize(batches.length, config)) return null;
  const firstKept = batches.length - config.clipLast;
  return { merge: batches.slice(0, firstKept), keep: batches.slice(firstKept) };
}

/**
 * The batch that stands for several: one deeper than the deepest, over all of their times and messages. It has indexes only where each
 * of them has, since a range that leaves some out would be wrong.
 */
export function joinBatches(batches: readonly SummaryBatch[], content: string): SummaryBatch {
  const span = indexSpanOf(batches);
  return {
    content,
    depth: batches.reduce((deepest, batch) => Math.max(deepest, batch.depth), 0) + 1,
    ...timeSpanOf(batches.flatMap((batch) => [batch.startTime, batch.endTime])),
    messageCount: batches.reduce((count, batch) => count + batch.messageCount, 0),
    ...span,
  };
}

function indexSpanOf(batches: readonly SummaryBatch[]): Pick<SummaryBatch, 'firstIndex' | 'lastIndex'> {
  let firstIndex = Infinity;
  let lastIndex = -Infinity;
  for (const batch of batches) {
    if (batch.firstIndex === undefined || batch.lastIndex === undefined) return {};
    firstIndex = Math.min(firstIndex, batch.firstIndex);
    lastIndex = Math.max(lastIndex, batch.lastIndex);
  }
  return batches.length === 0 ? {} : { firstIndex, lastIndex };
}
