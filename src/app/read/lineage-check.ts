import type { Archive, StoredCompaction, StoredCycle } from '../../ports/archive.ts';

/** Watches a way back through compactions: whether every cycle that a later one continues was come by. */
export type LineageCheck = {
  readonly add: (compaction: StoredCompaction) => void;
  /** Cycles whose clip-archive was come by in a record that its producer wrote anew. */
  readonly addFound: (cycles: readonly StoredCycle[]) => void;
  /** Cycles that continue one that was not come by: what stood before them cannot be had. */
  readonly orphans: () => readonly StoredCycle[];
};

export function createLineageCheck(archive: Archive): LineageCheck {
  const children = new Map<number, StoredCycle>();
  const found = new Set<number>();
  return {
    add: ({ cycles }) => {
      for (const cycle of cycles) if (cycle.parentCycleId !== null) children.set(cycle.parentCycleId, cycle);
      // Copies of one file, or of one conversation in it, have written the same line: each of them is that cycle.
      const clips = new Set(cycles.map(({ clipSha256 }) => clipSha256));
      for (const clip of clips) for (const { id } of archive.findCycles(clip)) found.add(id);
    },
    addFound: (cycles) => {
      for (const { clipSha256 } of cycles) for (const { id } of archive.findCycles(clipSha256)) found.add(id);
    },
    orphans: () => [...children].flatMap(([parentId, child]) => (found.has(parentId) ? [] : [child])),
  };
}
