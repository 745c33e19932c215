import type { Entry } from '../../../core/transcript.ts';
import type { ContextView } from '../../../ports/codec.ts';

/** A message that asks for a summary, and the id of the first message before it to be kept, if it names one. */
export type RequestNote = { readonly keptFrom?: string };

/**
 * OpenCode sends the newest summary that answers a request for one, everything after it, and the tail that the request
 * named. A request is never kept without its summary, or OpenCode would answer it again.
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
