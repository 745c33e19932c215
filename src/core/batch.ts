import type { CompactionConfig } from './policy.ts';

/** The summary of a chunk of messages (depth 0) or of several older batches (depth 1 and more). */
export type SummaryBatch = {
  readonly content: string;
  readonly depth: number;
  /** The time of the earliest message; null if the transcript has no times. */
  readonly startTime: Date | null;
  /** The time of the latest message. */
  readonly endTime: Date | null;
  readonly messageCount: number;
  /** The index of the first message, counted from 1 over the conversation's life. */
  readonly firstIndex?: number;
  readonly lastIndex?: number;
};

/**
 * How a summary was made. feedback: after the model was told why an earlier answer was rejected. halved: from part of its chunk. fallback:
 * offline, because the model failed.
 */
export type SummaryLevel = 'plain' | 'feedback' | 'halved' | 'fallback';

/** The fields in the first line of an exported batch. */
export type BatchMetadata = Pick<SummaryBatch, 'depth' | 'startTime' | 'endTime' | 'messageCount'>;

export type TimeSpan = Pick<SummaryBatch, 'startTime' | 'endTime'>;

const UNKNOWN: BatchMetadata = { depth: 0, startTime: null, endTime: null, messageCount: 0 };
const HEADER = /^\[depth:(\d+)\|start:([^|\]\n]*)\|end:([^|\]\n]*)\|count:(\d+)\](?:\n|$)/;
const ISO_TIME = /^(?:\d{4}|[+-]\d{6})-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?Z$/;

/** Formats a batch as `[depth:N|start:ISO|end:ISO|count:M]`, a newline and its content. An unknown time is left empty. */
export function formatBatch(batch: SummaryBatch): string {
  const start = formatTime(batch.startTime) ?? '';
  const end = formatTime(batch.endTime) ?? '';
  return `[depth:${batch.depth}|start:${start}|end:${end}|count:${batch.messageCount}]\n${batch.content}`;
}

/** Reverses `formatBatch`. Text without a valid first line is returned unchanged, with depth 0 and count 0. */
export function parseBatchMetadata(content: string): {
  readonly metadata: BatchMetadata;
  readonly cleanContent: string;
} {
  const header = HEADER.exec(content);
  const metadata = header === null ? null : readHeader(header);
  if (header === null || metadata === null) return { metadata: UNKNOWN, cleanContent: content };
  return { metadata, cleanContent: content.slice(header[0].length) };
}

/** The span from the earliest to the latest known time. */
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

/** ISO 8601 in UTC; null if the time is unknown or invalid. */
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

/** Undefined if the text is not a valid time. */
function readTime(text: string): Date | null | undefined {
  if (text === '') return null;
  const time = new Date(text);
  return ISO_TIME.test(text) && !Number.isNaN(time.getTime()) ? time : undefined;
}

type ClipSizes = Pick<CompactionConfig, 'clipFirst' | 'clipLast'>;

/** How many batches more than the clip-archive shows may exist before they are summarized together. */
const SLACK_BATCHES = 2;

export function shouldResummarize(count: number, config: ClipSizes): boolean {
  return count > config.clipFirst + config.clipLast + SLACK_BATCHES;
}

/** Which of the current batches (oldest first) are merged and which stay; null if there are not enough yet. */
export function planResummarize<B>(
  batches: readonly B[],
  config: ClipSizes,
): { readonly merge: readonly B[]; readonly keep: readonly B[] } | null {
  if (!shouldResummarize(batches.length, config)) return null;
  const firstKept = batches.length - config.clipLast;
  return { merge: batches.slice(0, firstKept), keep: batches.slice(firstKept) };
}

/**
 * The batch that replaces several: one level deeper than the deepest, with all of their times and messages. It has indexes only if all of
 * them do, since a range with gaps would be wrong.
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
