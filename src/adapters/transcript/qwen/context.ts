import type { Entry } from '../../../core/transcript.ts';
import type { Path } from '../pi/context.ts';

/**
 * The chain that Qwen Code reads: from the last record of the file along the parents. Of records with one uuid the
 * first one names the parent, and the parts of all are joined; here they follow each other on the path.
 */
export function findChain(entries: readonly Entry[]): Path {
  const byId = new Map<string, Entry[]>();
  for (const entry of entries) {
    if (entry.recordId === undefined) continue;
    const known = byId.get(entry.recordId);
    if (known === undefined) byId.set(entry.recordId, [entry]);
    else known.push(entry);
  }
  const chain: Entry[] = [];
  const seen = new Set<string>();
  let id = entries.findLast(({ recordId }) => recordId !== undefined)?.recordId;
  let records = byId.get(id ?? '');
  while (id !== undefined && records !== undefined && !seen.has(id)) {
    seen.add(id);
    chain.push(...records.toReversed());
    id = records[0]?.parentId ?? undefined;
    records = byId.get(id ?? '');
  }
  const cycleLine = id !== undefined && seen.has(id) ? (byId.get(id)?.[0]?.line ?? 0) : 0;
  const compaction = chain.findIndex(({ kind }) => kind === 'summary');
  const isCompacted = compaction >= 0;
  return {
    entries: chain,
    sinceCompaction: isCompacted ? compaction : chain.length,
    reach: isCompacted ? compaction + 1 : chain.length,
    isTidy: true, // a cut is never before a compaction of Qwen's, so that one never leaves alone
    cycleLine,
  };
}
