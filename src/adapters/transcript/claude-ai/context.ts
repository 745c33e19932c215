import type { Entry } from '../../../core/transcript.ts';

/** The parent that the first message of a conversation names. */
export const ROOT_ID = '00000000-0000-4000-8000-000000000000';

/**
 * The lines of messages that were edited or answered again: those that lead to the path from the last message to the
 * root, or to the root itself, but are not on the path. If messages name no parents, or their parents are gone, there
 * is no sign that they are such messages.
 */
export function findBranches(entries: readonly Entry[]): ReadonlySet<number> {
  const byId = new Map(entries.flatMap((entry) => (entry.recordId === undefined ? [] : [[entry.recordId, entry]])));
  const path = new Set<Entry>();
  let top: Entry | undefined = entries.findLast(({ kind }) => kind === 'message');
  while (top !== undefined && !path.has(top)) {
    path.add(top);
    const parent = parentOf(top, byId);
    if (parent === undefined) break;
    top = parent;
  }
  const reachesRoot = top?.parentId === ROOT_ID;
  const hangs = new Map<Entry, boolean>();
  const branchesFromPath = (entry: Entry): boolean => {
    const asked: Entry[] = [];
    let answer = false;
    for (let at: Entry | undefined = entry; at !== undefined; at = parentOf(at, byId)) {
      const known = hangs.get(at);
      if (known !== undefined || path.has(at)) {
        answer = known ?? true;
        break;
      }
      asked.push(at);
      hangs.set(at, false); // a cycle of parents leads nowhere
      if (at.parentId === ROOT_ID) answer = reachesRoot;
    }
    for (const one of asked) hangs.set(one, answer);
    return answer;
  };
  const branches = entries.filter((entry) => entry.kind === 'message' && !path.has(entry) && branchesFromPath(entry));
  return new Set(branches.map(({ line }) => line));
}

function parentOf({ parentId }: Entry, byId: ReadonlyMap<string, Entry>): Entry | undefined {
  return typeof parentId === 'string' ? byId.get(parentId) : undefined;
}
