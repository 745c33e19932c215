import type { Entry } from '../../core/transcript.ts';
import type { CodecSession, ContextView, CutProblem } from '../../ports/codec.ts';

type Entries = readonly Entry[];

/** What a format says of a conversation. */
export type ConversationContext = {
  readonly context: ContextView;
  readonly cutProblem: (line: number) => CutProblem;
};

/**
 * Reads what a format says of one conversation of a file after the other. A format may need a table of a conversation's records for it, and an
 * export has thousands of conversations: only the table of the one that was asked about last is kept, and made again for another.
 */
export function createContextReader(
  session: Pick<CodecSession, 'readContext' | 'legalCuts'>,
): (entries: Entries) => ConversationContext {
  const contextOf = keepLatest(session.readContext);
  const cutsOf = keepLatest(session.legalCuts);
  return (entries) => {
    const { priorLine, isInSummary, companionOf, orderOf, mustGo } = contextOf(entries);
    return {
      context: {
        priorLine,
        isStale: (entry) => contextOf(entries).isStale(entry),
        ...(isInSummary && { isInSummary: (entry) => contextOf(entries).isInSummary?.(entry) === true }),
        ...(companionOf && { companionOf: (entry) => contextOf(entries).companionOf?.(entry) ?? null }),
        ...(orderOf && { orderOf: (entry) => contextOf(entries).orderOf?.(entry) ?? 0 }),
        ...(mustGo && { mustGo: (entry) => contextOf(entries).mustGo?.(entry) === true }),
      },
      cutProblem: (line) => cutsOf(entries)(line),
    };
  };
}

function keepLatest<T>(make: (entries: Entries) => T): (entries: Entries) => T {
  let latest: { readonly entries: Entries; readonly made: T } | null = null;
  return (entries) => {
    if (latest?.entries !== entries) latest = { entries, made: make(entries) };
    return latest.made;
  };
}
