import type { Json, SummaryInput } from '../../../ports/codec.ts';
import { isRecord, type JsonRecord } from '../json.ts';
import { summaryRole } from '../summary-role.ts';
import { carriedItems } from './compaction.ts';

/**
 * A `compacted` record as Codex writes one itself, whose history is the summary as a user's message, after what the compaction before it
 * still held of instructions. `message` is for versions that know no such history.
 */
export function renderCompaction(input: SummaryInput): string {
  const { text, prior = null } = input;
  const history = [...carriedItems(prior), summaryItem('user', text)];
  return JSON.stringify({
    ...stamp(input),
    type: 'compacted',
    payload: { message: text, replacement_history: history },
  });
}

/** The summary among items that stand alone: nothing but its first words and its role tells it from another message. */
export function renderItem(input: SummaryInput): string {
  const { timestamp } = stamp(input);
  return JSON.stringify({
    ...(timestamp !== undefined && { timestamp }),
    ...summaryItem(summaryRole(input), input.text),
  });
}

function summaryItem(role: 'user' | 'system', text: string): JsonRecord {
  return { type: 'message', role, content: [{ type: 'input_text', text }] };
}

/** The time of what left last. An ordinal where records are numbered: one that became free right before, so that numbers rise. */
function stamp({ firstKept, lastDropped, lastDroppedBefore = null }: SummaryInput): JsonRecord {
  const timestamp = fieldOf(lastDropped, 'timestamp') ?? fieldOf(firstKept, 'timestamp');
  const ordinal = fieldOf(lastDroppedBefore, 'ordinal') ?? fieldOf(lastDropped, 'ordinal');
  return {
    ...(typeof timestamp === 'string' && { timestamp }),
    ...(typeof ordinal === 'number' && { ordinal }),
  };
}

function fieldOf(record: Json, key: string): Json | undefined {
  return isRecord(record) ? record[key] : undefined;
}
