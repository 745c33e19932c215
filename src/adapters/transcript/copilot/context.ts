import type { Entry } from '../../../core/transcript.ts';
import type { ContextView } from '../../../ports/codec.ts';

/** An event without words of its own goes or stays with the message that makes or answers this call. */
export type CallNote = { readonly callId: string };

/**
 * The newest compaction. The session may have gone on while it was made: what follows its `compaction_start` comes
 * after the summary, and if that begins with results, so does the answer with their calls. `starts` maps the line of a
 * compaction to the line of its start.
 */
export type Compaction = {
  /** Its line; null: there is none. */
  readonly line: number | null;
  /** From this line on, messages are still sent as they are; the summary replaces those before it. */
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

/**
 * What Copilot would send: the newest summary with all prompts before it, and the messages since, in the order of
 * lines.
 */
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

/**
 * The kept part may begin at any message that Copilot still sends as it is. Copilot goes by the order of lines and
 * ignores parents.
 */
export function cutProblem(entry: Entry | undefined, { line, keptFrom }: Compaction): string | null {
  if (entry?.kind !== 'message' || entry.isSide === true) return 'there is no message that Copilot sends';
  return line !== null && entry.line < keptFrom ? "it is before the conversation's last compaction" : null;
}
