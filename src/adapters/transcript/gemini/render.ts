import type { Json, SummaryInput } from '../../../ports/codec.ts';
import { isRecord } from '../json.ts';

/** A user's message, in the form in which Gemini CLI 0.61 records one: it sends it as the first of the conversation. */
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

/** JSON may hold them as they are, but Gemini CLI reads lines with `node:readline`, which ends a line at each: the record would be lost. */
const LINE_ENDS = /[\u2028\u2029]/g;

function escapeUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16)}`;
}

function timeOf(record: Json): Json | undefined {
  const time = isRecord(record) ? record['timestamp'] : undefined;
  return typeof time === 'string' ? time : undefined;
}
