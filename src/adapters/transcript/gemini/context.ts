import type { Entry } from '../../../core/transcript.ts';
import type { ContextView } from '../../../ports/codec.ts';
import type { CheckpointKind } from './checkpoint.ts';
import { createLog, type LiveMessage, type LogRecord } from './log.ts';

/** What was found out about a line when it was read for the first time, from the lines before it. */
export type LineNote = {
  readonly record?: LogRecord;
  /** It repeats the results that the message of this line holds. */
  readonly repeats?: number;
  /** Its clip-archive is the conversation's summary. */
  readonly isSummary?: boolean;
  /** What a checkpoint says that stands nowhere else, and what it is by that. */
  readonly only?: readonly number[];
  readonly checkpoint?: CheckpointKind;
};

/** What Gemini CLI would send when it resumes the session: the list of messages that the log leaves. */
export function readContext(entries: readonly Entry[], notes: ReadonlyMap<number, LineNote>): ContextView {
  const log = createLog();
  for (const { line } of entries) {
    const record = notes.get(line)?.record;
    if (record !== undefined) log.add(record, line);
  }
  const { live, takenBack, lastLineOf } = log.read();
  const liveLines = new Set(live.flatMap(({ lines }) => lines));
  const checkpoint = findCheckpoint(entries, live);
  const priorLine = findSummary(entries, live) ?? (checkpoint?.kind === 'summary' ? checkpoint.line : null);
  const firstLiveLine = live.reduce(
    (first, { isSaid, lines }) => (isSaid ? Math.min(first, lines[0] ?? first) : first),
    Number.POSITIVE_INFINITY,
  );

  const isStale = ({ kind, line }: Entry): boolean =>
    (kind === 'message' || kind === 'summary') &&
    line !== priorLine &&
    line !== checkpoint?.line &&
    (!liveLines.has(line) || lastLineOf.get(line) !== line);
  const repeated = (line: number): number | null => {
    const { repeats = 0 } = notes.get(line) ?? {};
    return liveLines.has(repeats) ? (lastLineOf.get(repeats) ?? null) : null;
  };
  const companionOf = ({ line }: Entry): number | null => {
    const last = lastLineOf.get(line) ?? line;
    return repeated(last) ?? (last === line ? null : last);
  };
  const mustGo = ({ kind, line }: Entry): boolean => {
    const { record, repeats } = notes.get(line) ?? {};
    if (record === undefined) return false;
    if (record.kind !== 'message' || takenBack.has(line)) return true;
    // Results without their call.
    if (repeats !== undefined && repeated(line) === null) return true;
    // Without the checkpoint that left it out it would be said again.
    const isSaid = kind !== 'meta' || repeats !== undefined;
    return isSaid && !liveLines.has(line) && line > firstLiveLine;
  };
  return { priorLine, isStale, companionOf, mustGo };
}

/** The first message, where it is a clip-archive. */
function findSummary(entries: readonly Entry[], live: readonly LiveMessage[]): number | null {
  const first = live.find(({ isSaid }) => isSaid)?.lines.at(-1);
  return entries.find(({ kind, line }) => kind === 'summary' && line === first)?.line ?? null;
}

/** The latest checkpoint, where it still has something to say that stands nowhere else. */
function findCheckpoint(entries: readonly Entry[], live: readonly LiveMessage[]): Entry | null {
  if (!live.some(({ lines, isSaid }) => isSaid && lines.length === 0)) return null;
  return entries.findLast(({ boundary, hidesBefore }) => boundary !== undefined || hidesBefore === true) ?? null;
}
