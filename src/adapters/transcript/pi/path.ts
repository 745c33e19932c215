import type { Entry } from '../../../core/transcript.ts';

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
export function findPath(entries: readonly Entry[]): Path {
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
    reach: reachOf(found, compaction),
    isTidy: beforeLast === found[1],
    circleLine: at?.line ?? 0,
  };
}

/** A compaction that keeps an entry of the path before it reaches back to that; any other one to itself. */
function reachOf(path: readonly Entry[], compaction: number): number {
  if (compaction < 0) return path.length;
  const keptFrom = path[compaction]?.boundary?.keptFrom;
  const firstKept = path.findIndex(({ recordId }) => recordId !== undefined && recordId === keptFrom);
  return Math.max(firstKept, compaction) + 1;
}
