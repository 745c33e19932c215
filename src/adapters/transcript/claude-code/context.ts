import type { Entry } from '../../../core/transcript.ts';
import type { ContextView } from '../../../ports/codec.ts';
import { findOwnThread } from './chain.ts';

/** Lines of one conversation, both included. */
type LineRange = { readonly first: number; readonly last: number };

/** Where the producer's context begins: at its last boundary, or at a summary that has none. */
type ContextStart = {
  /** Lines before it are out of the context; 0: none are. */
  readonly line: number;
  /** What the boundary kept of them. */
  readonly preserved: LineRange | null;
  readonly priorLine: number | null;
  /** The boundary or the summary, whichever is later: a kept part begins after it. 0: neither. */
  readonly lastLine: number;
};

/** What the producer would still send: everything since its last compaction, with what that compaction preserved. */
export function readContext(entries: readonly Entry[]): ContextView {
  const { line: startLine, preserved, priorLine } = findContextStart(entries);
  const isOwn = findOwnThread(entries);
  const isStale = (entry: Entry): boolean => {
    if (entry.kind !== 'message' && entry.kind !== 'summary') return false;
    if (!isOwn(entry)) return true;
    if (entry.line === priorLine) return false;
    if (entry.kind === 'summary') return true;
    if (entry.line >= startLine) return false;
    return preserved === null || entry.line < preserved.first || entry.line > preserved.last;
  };
  return { priorLine, isStale };
}

export function findContextStart(entries: readonly Entry[]): ContextStart {
  const main = entries.filter(findOwnThread(entries));
  const boundary = main.findLast((entry) => entry.boundary !== undefined);
  const boundaryLine = boundary?.line ?? 0;
  const summaryLines = main.filter((entry) => entry.kind === 'summary').map((entry) => entry.line);
  const priorLine = summaryLines.at(-1) ?? null;
  // A second summary after one boundary: the boundary of its own is lost (glued lines), and it cuts the chain all the same.
  const ownsBoundary = boundaryLine > (summaryLines.at(-2) ?? 0);
  return {
    line: ownsBoundary ? boundaryLine : (priorLine ?? 0),
    preserved: ownsBoundary && boundary !== undefined ? preservedRange(main, boundary) : null,
    priorLine,
    lastLine: Math.max(boundaryLine, priorLine ?? 0),
  };
}

/** The lines from head to tail of a preserved segment; null where they are not both in the file, in this order. */
function preservedRange(main: readonly Entry[], { boundary }: Entry): LineRange | null {
  if (boundary?.keptFrom === undefined) return null;
  const head = main.findLast((entry) => entry.recordId === boundary.keptFrom);
  const tail = main.findLast((entry) => entry.recordId === boundary.keptTo);
  if (head === undefined || tail === undefined || head.line > tail.line) return null;
  return { first: head.line, last: tail.line };
}
