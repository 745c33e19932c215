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

/** The label itself, or with `-2`, `-3`, … the first that is free. */
export function makeUnique(label: string, isTaken: (label: string) => boolean): string {
  if (!isTaken(label)) return label;
  let suffix = 2;
  while (isTaken(`${label}-${suffix}`)) suffix += 1;
  return `${label}-${suffix}`;
}
