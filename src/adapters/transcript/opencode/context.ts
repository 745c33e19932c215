import type { Entry } from '../../../core/transcript.ts';
import type { ContextView } from '../../../ports/codec.ts';

/** A message that asks for a summary, and the id of the first message before it to be kept, if it names one. */
export type RequestNote = { readonly keptFrom?: string };

/**
 * The program sends the newest summary that answers a message which asked for one, what came after, and what that message named as
 * the tail to keep. A message that asked is never kept without its summary: it would be answered anew.
 */
export function readContext(entries: readonly Entry[], noteOf: (line: number) => RequestNote | undefined): ContextView {
  const asking = new Map(
    entries.flatMap((entry) => (noteOf(entry.line) === undefined ? [] : [[entry.recordId ?? '', entry] as const])),
  );
  const prior = entries.findLast(({ kind, parentId }) => kind === 'summary' && asking.has(parentId ?? ''));
  const answered = new Set(entries.flatMap(({ kind, parentId }) => (kind === 'summary' ? [parentId ?? ''] : [])));
  const mustDrop = (entry: Entry): boolean => noteOf(entry.line) !== undefined && answered.has(entry.recordId ?? '');
  if (prior === undefined) return { priorLine: null, isStale: () => false, mustDrop };
  const asked = asking.get(prior.parentId ?? '');
  const start = asked?.line ?? prior.line;
  const tailId = asked === undefined ? undefined : noteOf(asked.line)?.keptFrom;
  const tail = tailId === undefined ? undefined : entries.find(({ recordId }) => recordId === tailId);
  const from = tail === undefined ? start : Math.min(start, tail.line);
  return { priorLine: prior.line, isStale: ({ line }) => line < from, mustDrop };
}
