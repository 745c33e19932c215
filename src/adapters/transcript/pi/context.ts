import type { Entry } from '../../../core/transcript.ts';
import type { ContextView, CutProblem } from '../../../ports/codec.ts';

/** The id of the first entry before it that a compaction kept. */
export type CompactionNote = { readonly keptFrom: string };

type NoteOf = (line: number) => CompactionNote | undefined;

/**
 * What pi would send: the newest summary on the path, what that compaction kept of the entries before it, and
 * everything after it.
 */
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
 * The kept part may begin at a message that pi sends if the entries after it on the path are on later lines, and those
 * before it on earlier lines. Then the path ends there, and the summary takes its place on it (see render). A
 * compaction that the summary replaces does not count; an older one must not stay. Entries off the path do not count
 * either, since pi sends none of them.
 */
export function legalCuts(path: Path, program = 'pi'): (line: number) => CutProblem {
  const { entries, sinceCompaction, reach, isTidy, cycleLine } = path;
  const lines = entries.map(({ line }, step) => (step === sinceCompaction ? null : line));
  const beyond = latestFrom([...lines, cycleLine]);
  const older = entries.findIndex(({ kind }, step) => kind === 'summary' && step > sinceCompaction);
  const end = older < 0 ? reach : Math.min(reach, older);
  const problems = new Map<number, CutProblem>();
  let first = Number.POSITIVE_INFINITY;
  for (const [step, entry] of entries.slice(0, end).entries()) {
    if (step === sinceCompaction) continue;
    first = Math.min(first, entry.line);
    const isBent = first < entry.line || (beyond[step + 1] ?? 0) >= entry.line;
    const isLost = sinceCompaction === 0 && !isTidy;
    problems.set(entry.line, problemOf(entry, { isBent, isLost, program }));
  }
  const earlier = new Set(entries.slice(end).map(({ line }) => line));
  return (line) => {
    const problem = problems.get(line);
    if (problem !== undefined) return problem;
    return earlier.has(line)
      ? "it is before the conversation's last compaction"
      : 'the entry is not on the path from the last one to the first';
  };
}

function problemOf(
  { kind, isSide, parentId }: Entry,
  { isBent, isLost, program }: { readonly isBent: boolean; readonly isLost: boolean; readonly program: string },
): CutProblem {
  if (kind !== 'message' || isSide === true) return `there is no message that ${program} sends`;
  if (typeof parentId !== 'string') return 'the entry has no parent that the summary could replace';
  if (isBent) return 'the chain of parents crosses this line more than once';
  return isLost ? 'without its last compaction the file would end on another branch' : null;
}

/** At each index, the largest number from there on. */
function latestFrom(lines: readonly (number | null)[]): readonly number[] {
  const latest = lines.map((line) => line ?? 0);
  for (let at = latest.length - 2; at >= 0; at -= 1) latest[at] = Math.max(latest[at] ?? 0, latest[at + 1] ?? 0);
  return latest;
}

/**
 * The path from the last entry of the file along the parents to a root, to a parent that is not in the file, or to the
 * last entry before a cycle closes.
 */
export type Path = {
  /** In order from the last entry. */
  readonly entries: readonly Entry[];
  /** How many of them come after the newest compaction on the path. */
  readonly sinceCompaction: number;
  /** How many of them, with the compaction, it takes to reach the first entry that is still sent. */
  readonly reach: number;
  /** Without its last entry, the file would still end on the path. */
  readonly isTidy: boolean;
  /** The line of the entry at which a cycle closes; 0: there is no cycle. */
  readonly cycleLine: number;
};

/**
 * If several entries have one id, the last one counts, as it does for pi, whose thread always ends at the last entry
 * of any kind.
 */
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
    cycleLine: at?.line ?? 0,
  };
}

/** A compaction that keeps an earlier entry of the path reaches back to that entry, any other one to itself. */
function reachOf(path: readonly Entry[], compaction: number, noteOf: NoteOf): number {
  if (compaction < 0) return path.length;
  const keptFrom = noteOf(path[compaction]?.line ?? 0)?.keptFrom;
  const firstKept = path.findIndex(({ recordId }) => recordId !== undefined && recordId === keptFrom);
  return Math.max(firstKept, compaction) + 1;
}
