import type { Entry } from '../../../core/transcript.ts';
import type { CutProblem } from '../../../ports/codec.ts';
import type { Path } from './path.ts';

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
