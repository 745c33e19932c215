import type { Entry } from '../../../core/transcript.ts';
import type { ContextView, CutProblem } from '../../../ports/codec.ts';

/** The id of the first entry before it that a compaction kept. */
export type CompactionNote = { readonly keptFrom: string };

type NoteOf = (line: number) => CompactionNote | undefined;

/** What pi would send: the newest summary on the path, what that compaction kept of the entries before it, and all after it. */
export function readContext({ entries, sinceCompaction, reach }: Path): ContextView {
  const priorLine = entries[sinceCompaction]?.line ?? null;
  const sent = new Set(entries.slice(0, reach).map(({ line }) => line));
  const isStale = ({ kind, line, isSide }: Entry): boolean => {
    if ((kind !== 'message' && kind !== 'summary') || line === priorLine) return false;
    return kind === 'summary' || isSide === true || !sent.has(line);
  };
  const summarized = new Set(entries.slice(reach).map(({ line }) => line));
  return { priorLine, isStale, isInSummary: ({ line, isSide }) => isSide !== true && summarized.has(line) };
}

/**
 * A kept part may begin at a message that pi sends if all that the path has after that message stands behind its line, and all that it has
 * before it, before: then the path ends there, and the summary takes its place on it (see render). A compaction that the summary
 * replaces does not count; an older one must not stay. What hangs aside of the path does not count either: pi sends none of it.
 */
export function legalCuts(path: Path): (line: number) => CutProblem {
  const { entries, sinceCompaction, reach, isTidy, circleLine } = path;
  const lines = entries.map(({ line }, step) => (step === sinceCompaction ? null : line));
  const beyond = latestFrom([...lines, circleLine]);
  const older = entries.findIndex(({ kind }, step) => kind === 'summary' && step > sinceCompaction);
  const end = older < 0 ? reach : Math.min(reach, older);
  const problems = new Map<number, CutProblem>();
  let first = Number.POSITIVE_INFINITY;
  for (const [step, entry] of entries.slice(0, end).entries()) {
    if (step === sinceCompaction) continue;
    first = Math.min(first, entry.line);
    const isBent = first < entry.line || (beyond[step + 1] ?? 0) >= entry.line;
    const isLost = sinceCompaction === 0 && !isTidy;
    problems.set(entry.line, problemOf(entry, { isBent, isLost }));
  }
  const earlier = new Set(entries.slice(end).map(({ line }) => line));
  return (line) => {
    const problem = problems.get(line);
    if (problem !== undefined) return problem;
    return earlier.has(line)
      ? "it stands before the conversation's last compaction"
      : 'the entry is not on the way from the last one to the first';
  };
}

function problemOf(
  { kind, isSide, parentId }: Entry,
  { isBent, isLost }: { readonly isBent: boolean; readonly isLost: boolean },
): CutProblem {
  if (kind !== 'message' || isSide === true) return 'no message that pi sends stands there';
  if (typeof parentId !== 'string') return 'the entry has no parent for the summary to take the place of';
  if (isBent) return 'the chain of parents goes back and forth over this line';
  return isLost ? 'without its last compaction the file would end on another branch' : null;
}

/** At each index the largest of the numbers from there on. */
function latestFrom(lines: readonly (number | null)[]): readonly number[] {
  const latest = lines.map((line) => line ?? 0);
  for (let at = latest.length - 2; at >= 0; at -= 1) latest[at] = Math.max(latest[at] ?? 0, latest[at + 1] ?? 0);
  return latest;
}

/** The entries from the last one of the file along the parents to a root, a parent that is not there, or the last before a circle closes. */
export type Path = {
  /** The last entry first. */
  readonly entries: readonly Entry[];
  /** How many of them stand after the newest compaction on it. */
  readonly sinceCompaction: number;
  /** As many of them, the compaction included, reach back to the first entry that is still sent. */
  readonly reach: number;
  /** Without its last entry the file would end on the path as well. */
  readonly isTidy: boolean;
  /** The line of the entry at which a circle closes; 0: none does. */
  readonly circleLine: number;
};

/** Of several entries with one id the last counts, as for pi, whose thread always ends at the last entry of any kind. */
export function findPath(entries: readonly Entry[], noteOf: NoteOf): Path {
  const byId = new Map<string, Entry>();
  let last: Entry | undefined;
  let beforeLast: Entry | undefined;
  for (const entry of entries) {
    if (entry.recordId === undefined) continue;
    byId.set(entry.recordId, entry);
    beforeLast = last;
    last = entry;
  }
  const path = new Set<Entry>();
  let at = last;
  while (at !== undefined && !path.has(at)) {
    path.add(at);
    at = typeof at.parentId === 'string' ? byId.get(at.parentId) : undefined;
  }
  const found = [...path];
  const compaction = found.findIndex(({ kind }) => kind === 'summary');
  return {
    entries: found,
    sinceCompaction: compaction < 0 ? found.length : compaction,
    reach: reachOf(found, compaction, noteOf),
    isTidy: beforeLast === found[1],
    circleLine: at?.line ?? 0,
  };
}

/** A compaction that keeps an entry of the path before it reaches back to that; any other one to itself. */
function reachOf(path: readonly Entry[], compaction: number, noteOf: NoteOf): number {
  if (compaction < 0) return path.length;
  const keptFrom = noteOf(path[compaction]?.line ?? 0)?.keptFrom;
  const firstKept = path.findIndex(({ recordId }) => recordId !== undefined && recordId === keptFrom);
  return Math.max(firstKept, compaction) + 1;
}
