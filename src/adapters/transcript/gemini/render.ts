import type { Json, SummaryInput } from '../../../ports/codec.ts';
import { isRecord } from '../json.ts';

/** A user message as Gemini CLI 0.61 writes it, which it sends as the first one of the conversation. */
export function renderSummary({ text, firstKept, lastDropped, uuid }: SummaryInput): string {
  const timestamp = timeOf(lastDropped) ?? timeOf(firstKept);
  const record = {
    id: uuid('summary'),
    ...(timestamp !== undefined && { timestamp }),
    type: 'user',
    content: [{ text }],
  };
  return JSON.stringify(record).replace(LINE_ENDS, escapeUnit);
}

/**
 * JSON allows them, but Gemini CLI reads lines with `node:readline`, which ends a line at each of them: the record
 * would be lost.
 */
const LINE_ENDS = /[\u2028\u2029]/g;

function escapeUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16)}`;
}

function timeOf(record: Json): Json | undefined {
  const time = isRecord(record) ? record['timestamp'] : undefined;
  return typeof time === 'string' ? time : undefined;
}
