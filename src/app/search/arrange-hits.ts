import { callsOf, resultIdsOf } from '../../core/message.ts';
import {
  type CallFinder,
  isAcknowledgement,
  leadOf,
  showMessage,
  subjectOf,
  TASKS,
} from '../../core/search/shown-text.ts';
import type { ArchivedLine, ArchiveLookup, Scored } from '../../ports/archive-lookup.ts';
import type { TextReader } from './find-archived.ts';

/** A call is at most so many lines before its result. */
const MAX_STEPS = 8;

type Line = Pick<ArchivedLine, 'lineId' | 'sourcePath'>;

/** Finds the calls whose results stand in these lines, which the reader has loaded. */
export async function findCalls(
  { loadLines }: Pick<ArchiveLookup, 'loadLines'>,
  reader: TextReader,
  lines: readonly Line[],
): Promise<CallFinder> {
  const results = lines.filter((line) => reader.messagesOf(line).some((message) => resultIdsOf(message).length > 0));
  // Ids of captured lines are negative.
  const before = results.flatMap(({ lineId }) =>
    Array.from({ length: MAX_STEPS }, (_, at) => (lineId > 0 ? lineId - 1 - at : lineId + 1 + at)),
  );
  const files = new Set(results.map(({ sourcePath }) => sourcePath));
  const ids = [...new Set(before)].filter((id) => id !== 0);
  const found = ids.length === 0 ? [] : (await loadLines(ids)).filter(({ sourcePath }) => files.has(sourcePath));
  await reader.load(found);
  const calls = new Map(
    [...found, ...lines].flatMap((line) =>
      reader.messagesOf(line).flatMap((message) => callsOf(message).map((call) => [call.id, call] as const)),
    ),
  );
  return (callId) => calls.get(callId) ?? null;
}

/** What readers see of a line: its text, and the line before a part of it. */
export function shownOf(reader: TextReader, line: Pick<Line, 'lineId'>, callOf: CallFinder) {
  const messages = reader.messagesOf(line);
  const [message] = messages;
  if (message === undefined) return { lead: '', text: reader.textOf(line) };
  const text = messages.map((one) => showMessage(one, { callOf, isBrief: true })).join('\n\n');
  return { lead: messages.length > 1 ? '' : leadOf(message, callOf), text };
}

/**
 * The lines without bare acknowledgements and earlier lists of tasks. Of several that read or write one file the newest stands where the first of them
 * stood, so that its last state comes first.
 */
export function arrangeLines<T extends Line & Pick<Scored<ArchivedLine>, 'conversationId' | 'score'>>(
  lines: readonly T[],
  reader: TextReader,
  callOf: CallFinder,
): readonly T[] {
  const told = lines.filter((line) => {
    const messages = reader.messagesOf(line);
    return messages.length === 0 || !messages.every(isAcknowledgement);
  });
  const subjects = told.map((line) => {
    const [message, ...more] = reader.messagesOf(line);
    const subject = message === undefined || more.length > 0 ? null : subjectOf(message, callOf);
    return subject === null ? null : `${line.conversationId ?? ''} ${subject}`;
  });
  const isTasks = (at: number): boolean => subjects[at]?.endsWith(` ${TASKS}`) === true;
  const bySubject = Map.groupBy([...told.keys()], (at) => subjects[at] ?? null);
  return told.flatMap((line, at): readonly T[] => {
    const same = bySubject.get(subjects[at] ?? null);
    if (subjects[at] === null || same === undefined) return [line];
    const place = same.indexOf(at);
    if (place > 0 && isTasks(at)) return [];
    // Captured lines have negative ids, which grow downwards.
    const newestFirst = same
      .flatMap((one) => told[one] ?? [])
      .toSorted((a, b) => Math.abs(b.lineId) - Math.abs(a.lineId));
    return [{ ...(newestFirst[place] ?? line), score: line.score }];
  });
}
