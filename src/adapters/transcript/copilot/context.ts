import type { Entry } from '../../../core/transcript.ts';
import type { ContextView } from '../../../ports/codec.ts';

/** An event without words of its own goes or stays with the message that makes or answers this call. */
export type CallNote = { readonly callId: string };

/** What Copilot's newest compaction left of the events before it. */
export type Compaction = {
  /** Its line; null: there is none. */
  readonly line: number | null;
  /** Messages from this line on are still sent as they were; those before it the summary stands for. */
  readonly keptFrom: number;
};

/**
 * The newest compaction. While it was made the session may have gone on: what came after its `compaction_start` stands behind the summary, with
 * the calls whose results came in first. `starts` has the line of the start for the line of the compaction.
 */
export function findCompaction(entries: readonly Entry[], starts: ReadonlyMap<number, number>): Compaction {
  const line = entries.findLast(({ kind }) => kind === 'summary')?.line;
  if (line === undefined) return { line: null, keptFrom: 0 };
  const start = starts.get(line);
  if (start === undefined) return { line, keptFrom: line };
  const said = entries.filter((entry) => entry.kind === 'message' && entry.isSide !== true && entry.line < line);
  const next = said.findIndex((entry) => entry.line > start);
  if (said[next]?.results === undefined) return { line, keptFrom: start };
  const call = said.findLastIndex((entry, at) => at < next && entry.results === undefined);
  const { calls, line: callLine = start } = said[call] ?? {};
  return { line, keptFrom: calls === undefined ? start : callLine };
}

/** What Copilot would send: the newest summary with all that persons typed before it, and the messages since. The order of lines counts. */
export function readContext(
  entries: readonly Entry[],
  { line, keptFrom }: Compaction,
  noteOf: (line: number) => CallNote | undefined,
): ContextView {
  const isStale = (entry: Entry): boolean => {
    if ((entry.kind !== 'message' && entry.kind !== 'summary') || entry.line === line) return false;
    return entry.kind === 'summary' || entry.isSide === true || (entry.line < keptFrom && entry.isPrompt !== true);
  };
  const messageOf = new Map<string, number>();
  for (const { calls = [], results = [], line: at } of entries) {
    for (const id of calls) if (!messageOf.has(id)) messageOf.set(id, at);
    for (const id of results) messageOf.set(id, at);
  }
  const anchorOf = (entry: Entry): number | null => messageOf.get(noteOf(entry.line)?.callId ?? '') ?? null;
  return { priorLine: line, isStale, anchorOf };
}

/** The kept part may begin at any message that Copilot still sends as it is: it goes by the order of lines, not by their parents. */
export function cutProblem(entry: Entry | undefined, { line, keptFrom }: Compaction): string | null {
  if (entry?.kind !== 'message' || entry.isSide === true) return 'no message that Copilot sends stands there';
  return line !== null && entry.line < keptFrom ? "it stands before the conversation's last compaction" : null;
}
