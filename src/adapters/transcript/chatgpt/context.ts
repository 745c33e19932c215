import type { Entry } from '../../../core/transcript.ts';
import type { ContextView, CutProblem } from '../../../ports/codec.ts';
import type { Tree } from './tree.ts';

/**
 * The way to the current node is the conversation. All else hangs on it and shares the fate of what it hangs on: nodes that say nothing,
 * instructions between messages, and the branches of questions and answers that were taken anew. So no kept node ever names one that is gone.
 */
export function readContext({ way, firstSaid, placeOf }: Tree, entries: readonly Entry[]): ContextView {
  const frame = entries[0]?.line ?? 0;
  const first = way[firstSaid];
  // For each place of the way, the line that decides: of what was said there, or last before it.
  const deciding: number[] = [];
  for (const [place, entry] of way.entries()) {
    const isSaid = entry === first || entry.kind === 'message';
    deciding.push(isSaid ? entry.line : (deciding[place - 1] ?? frame));
  }
  const orderOf = (entry: Entry): number => placeOf(entry) ?? 0;
  return {
    priorLine: first?.kind === 'summary' ? first.line : null,
    isStale: (entry) => {
      const place = placeOf(entry);
      if (place === null || way[place] !== entry) return true;
      return entry.kind === 'instruction' && place > firstSaid;
    },
    companionOf: (entry) => {
      const place = placeOf(entry);
      return place === null ? frame : (deciding[place] ?? frame);
    },
    orderOf,
  };
}

/** The summary takes the id that the first kept node names as its parent; all that can be wrong is that it is a tool's answer. */
export function findCuts({ way, firstSaid }: Tree): (line: number) => CutProblem {
  const problems = new Map(
    way.slice(firstSaid).flatMap((entry, place): readonly [number, CutProblem][] => {
      if (entry.kind !== 'message') return [];
      if (place === 0) return [[entry.line, 'nothing of the conversation stands before it']];
      return [[entry.line, entry.role === 'tool' ? 'it answers a call that would be gone' : null]];
    }),
  );
  return (line) => {
    const problem = problems.get(line);
    return problem === undefined ? 'no message of the current branch stands there' : problem;
  };
}
