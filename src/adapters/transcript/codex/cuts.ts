import type { Entry } from '../../../core/transcript.ts';
import type { CutProblem } from '../../../ports/codec.ts';
import { findTakenBack } from './taken-back.ts';

/** Order is everything in a rollout: any message after the last compaction can be the first that stays. */
export function legalCuts(entries: readonly Entry[]): (line: number) => CutProblem {
  const obstacle = entries.find((entry) => entry.obstacle !== undefined)?.obstacle ?? null;
  const lastCompaction = findCompaction(entries)?.line ?? 0;
  return (line) => obstacle ?? (line < lastCompaction ? "it stands before the conversation's last compaction" : null);
}

/** The compaction that Codex's context begins at: the last that was not taken back with its turn. */
export function findCompaction(
  entries: readonly Entry[],
  isTakenBack: (line: number) => boolean = findTakenBack(entries),
): Entry | null {
  return entries.findLast((entry) => entry.kind === 'summary' && !isTakenBack(entry.line)) ?? null;
}
