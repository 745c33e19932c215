import type { SummaryBatch } from '../../core/batch.ts';
import { timeColumn } from './columns.ts';

export type LabelInput = {
  readonly conversationId: string;
  readonly cycle: number;
  /** Of the batch among those that the cycle made, from 0. */
  readonly position: number;
  readonly batch: SummaryBatch;
};

/** The name by which people ask for a batch: by its end, else by its messages, else by where it was made. Not yet unique. */
export function buildLabel({ conversationId, cycle, position, batch }: LabelInput): string {
  const stem = `compaction-batch-${conversationId.toWellFormed()}`;
  const endMs = timeColumn(batch.endTime);
  if (endMs !== null) return `${stem}-${new Date(endMs).toISOString()}`;
  if (batch.firstIndex === undefined || batch.lastIndex === undefined) return `${stem}-cycle-${cycle}-${position + 1}`;
  return `${stem}-messages-${batch.firstIndex}-${batch.lastIndex}`;
}

/**
 * The label itself, or with `-2`, `-3`, … one that is free: the first, unless one before it was given up. Thousands of copies of one
 * conversation may share a label, so it is looked for by doubling and halving.
 */
export function makeUnique(label: string, isTaken: (label: string) => boolean): string {
  if (!isTaken(label)) return label;
  let taken = 1;
  let free = 2;
  while (isTaken(`${label}-${free}`)) {
    taken = free;
    free *= 2;
  }
  while (free - taken > 1) {
    const middle = Math.floor((taken + free) / 2);
    if (isTaken(`${label}-${middle}`)) taken = middle;
    else free = middle;
  }
  return `${label}-${free}`;
}
