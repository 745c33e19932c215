import type { Entry } from '../../../core/transcript.ts';
import type { ContextView } from '../../../ports/codec.ts';
import { findCompanions } from './companions.ts';
import { findCompaction } from './cuts.ts';
import { findTakenBack } from './taken-back.ts';
import { isBaseline } from './world-state.ts';

/** What Codex would send when it resumes the rollout: what its last compaction left, and all since that was not taken back. */
export function readContext(entries: readonly Entry[]): ContextView {
  const isTakenBack = findTakenBack(entries);
  const compaction = findCompaction(entries, isTakenBack);
  const start = compaction?.line ?? 0;
  const companionOf = findCompanions(entries);
  const keepsPrompts = compaction?.boundary?.keepsPrompts === true;
  const isStale = (entry: Entry): boolean => {
    if (isTakenBack(entry.line)) return true;
    if (entry.line >= start) return false;
    // Of the history that an older version builds anew, what was typed is a part; instructions are put in again.
    return entry.kind === 'summary' || !keepsPrompts || (entry.kind === 'message' && entry.turnPart !== 'opens');
  };
  const mustGo = (entry: Entry): boolean => {
    if (entry.statesContextSize === true) return true;
    // What Codex noted as told was forgotten with the compaction; it must not be taken for told now.
    if (entry.line < start && isBaseline(entry.pin)) return true;
    return isTakenBack(entry.line) || isTakenBack(companionOf(entry) ?? 0);
  };
  return { priorLine: compaction?.line ?? null, isStale, companionOf, mustGo };
}
