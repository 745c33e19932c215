import type { Entry } from '../../../core/transcript.ts';

/** What the first message of a conversation names as its parent. */
export const ROOT_ID = '00000000-0000-4000-8000-000000000000';

/**
 * The lines of messages that were edited or answered anew: those that hang on the way from the last message to the root, or on the
 * root itself, and are not on it. Where messages name no parents, or their parents are gone, nothing tells that they are.
 */
export function findBranches(entries: readonly Entry[]): ReadonlySet<number> {
  const byId = new Map(entries.flatMap((entry) => (entry.recordId === undefined ? [] : [[entry.recordId, entry]])));
  const way = new Set<Entry>();
  let top: Entry | undefined = entries.findLast(({ kind }) => kind === 'message');
  while (top !== undefined && !way.has(top)) {
    way.add(top);
    const parent = parentOf(top, byId);
    if (parent === undefined) break;
    top = parent;
  }
  const reachesRoot = top?.parentId === ROOT_ID;
  const hangs = new Map<Entry, boolean>();
  const hangsOnWay = (entry: Entry): boolean => {
    const asked: Entry[] = [];
    let answer = false;
    for (let at: Entry | undefined = entry; at !== undefined; at = parentOf(at, byId)) {
      const known = hangs.get(at);
      if (known !== undefined || way.has(at)) {
        answer = known ?? true;
        break;
      }
      asked.push(at);
      hangs.set(at, false); // a circle of parents hangs on nothing
      if (at.parentId === ROOT_ID) answer = reachesRoot;
    }
    for (const one of asked) hangs.set(one, answer);
    return answer;
  };
  const branches = entries.filter((entry) => entry.kind === 'message' && !way.has(entry) && hangsOnWay(entry));
  return new Set(branches.map(({ line }) => line));
}

function parentOf({ parentId }: Entry, byId: ReadonlyMap<string, Entry>): Entry | undefined {
  return typeof parentId === 'string' ? byId.get(parentId) : undefined;
}
