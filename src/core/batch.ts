/** The summary of one chunk of messages (depth 0), or of several older batches (depth 1 and up). */
export type SummaryBatch = {
  readonly content: string;
  readonly depth: number;
  /** Of the earliest message; null where the transcript has no times. */
  readonly startTime: Date | null;
  /** Of the latest message. */
  readonly endTime: Date | null;
  readonly messageCount: number;
  /** Of the first message, 1-based over the conversation's life. */
  readonly firstIndex?: number;
  readonly lastIndex?: number;
};

/**
 * How a summary came about. feedback: an answer before it was rejected, and the model was told why. halved: of a part of its chunk.
 * fallback: offline, because the model failed.
 */
export type SummaryLevel = 'plain' | 'feedback' | 'halved' | 'fallback';

/** What the first line of an exported batch tells. */
export type BatchMetadata = Pick<SummaryBatch, 'depth' | 'startTime' | 'endTime' | 'messageCount'>;

export type TimeSpan = Pick<SummaryBatch, 'startTime' | 'endTime'>;

const UNKNOWN: BatchMetadata = { depth: 0, startTime: null, endTime: null, messageCount: 0 };
const HEADER = /^\[depth:(\d+)\|start:([^|\]\n]*)\|end:([^|\]\n]*)\|count:(\d+)\](?:\n|$)/;
const ISO_TIME = /^(?:\d{4}|[+-]\d{6})-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?Z$/;

/** A batch as one text: `[depth:N|start:ISO|end:ISO|count:M]`, a newline, its content. A time that is not known is left empty. */
export function formatBatch(batch: SummaryBatch): string {
  const start = formatTime(batch.startTime) ?? '';
  const end = formatTime(batch.endTime) ?? '';
  return `[depth:${batch.depth}|start:${start}|end:${end}|count:${batch.messageCount}]\n${batch.content}`;
}

/** Undoes `formatBatch`. Text without a well-formed first line comes back untouched, with depth 0 and count 0. */
export function parseBatchMetadata(content: string): {
  readonly metadata: BatchMetadata;
  readonly cleanContent: string;
} {
  const header = HEADER.exec(content);
  const metadata = header === null ? null : readHeader(header);
  if (header === null || metadata === null) return { metadata: UNKNOWN, cleanContent: content };
  return { metadata, cleanContent: content.slice(header[0].length) };
}

/** From the earliest to the latest of the times that are known. */
export function timeSpanOf(times: Iterable<Date | null>): TimeSpan {
  let startTime: Date | null = null;
  let endTime: Date | null = null;
  for (const time of times) {
    if (time === null || Number.isNaN(time.getTime())) continue;
    if (startTime === null || time < startTime) startTime = time;
    if (endTime === null || time > endTime) endTime = time;
  }
  return { startTime, endTime };
}

/** ISO 8601 in UTC; null for a time that is not known, and for an invalid date, which has no such form. */
export function formatTime(time: Date | null): string | null {
  return time === null || Number.isNaN(time.getTime()) ? null : time.toISOString();
}

function readHeader([, depthText, startText = '', endText = '', countText]: RegExpExecArray): BatchMetadata | null {
  const depth = Number(depthText);
  const messageCount = Number(countText);
  const startTime = readTime(startText);
  const endTime = readTime(endText);
  if (!Number.isSafeInteger(depth) || !Number.isSafeInteger(messageCount)) return null;
  if (startTime === undefined || endTime === undefined) return null;
  return { depth, startTime, endTime, messageCount };
}

/** Undefined: no time. */
function readTime(text: string): Date | null | undefined {
  if (text === '') return null;
  const time = new Date(text);
  return ISO_TIME.test(text) && !Number.isNaN(time.getTime()) ? time : undefined;
}
