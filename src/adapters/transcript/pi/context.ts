import type { Entry } from '../../../core/transcript.ts';
import type { ContextView } from '../../../ports/codec.ts';
import type { Path } from './path.ts';

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
