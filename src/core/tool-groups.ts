import { callsOf, type ConversationMessage, resultIdsOf } from './message.ts';

/** The ids of the calls that an item makes and of those it answers. Items with the same `key` are one answer of the model. */
export type GroupInput = {
  readonly calls: readonly string[];
  readonly results: readonly string[];
  readonly key?: string;
};

export function groupInputOf(message: ConversationMessage): GroupInput {
  const partCalls = (message.parts ?? []).flatMap((part) => (part.kind === 'call' ? [part.id] : []));
  return { calls: [...partCalls, ...callsOf(message).map((call) => call.id)], results: resultIdsOf(message) };
}

/**
 * For each item the smallest index of its group: calls with all of their results, and items of one key. Ids may be reused: a result
 * belongs to the latest call with its id that stands before it (or in the same item). One with no call before it belongs to the next
 * call with its id, unless that call is answered later on as well; then, and where no call follows, it is an orphan and stands alone.
 */
export function findGroups(items: readonly GroupInput[]): readonly number[] {
  const sets = createIndexSets(items.length);
  const firstOfKey = new Map<string, number>();
  const latestCall = new Map<string, number>();
  const early = new Map<string, number[]>(); // results without a call so far
  const claimed = new Map<string, readonly number[]>(); // those whose call has come and is not answered otherwise so far

  const settle = (id: string): void => {
    const call = latestCall.get(id);
    if (call !== undefined) for (const result of claimed.get(id) ?? []) sets.join(call, result);
    claimed.delete(id);
  };
  const addCall = (id: string, index: number): void => {
    if (latestCall.get(id) === index) return;
    settle(id);
    latestCall.set(id, index);
    const waiting = early.get(id);
    if (waiting === undefined) return;
    claimed.set(id, waiting);
    early.delete(id);
  };
  const addResult = (id: string, index: number): void => {
    const call = latestCall.get(id);
    const waiting = early.get(id);
    if (call !== undefined) {
      sets.join(call, index);
      claimed.delete(id);
    } else if (waiting !== undefined) waiting.push(index);
    else early.set(id, [index]);
  };

  for (const [index, { calls, results, key }] of items.entries()) {
    if (key !== undefined) {
      const first = firstOfKey.get(key);
      if (first === undefined) firstOfKey.set(key, index);
      else sets.join(first, index);
    }
    for (const id of calls) addCall(id, index);
    for (const id of results) addResult(id, index);
  }
  for (const id of claimed.keys()) settle(id);
  return items.map((_, index) => sets.firstOf(index));
}

/** The largest boundary (index of the first kept item) at or before the given one that has no group on both of its sides. */
export function moveBackToWholeGroups(groups: readonly number[], boundary: number): number {
  let cut = Math.min(Math.max(Math.floor(boundary), 0), groups.length);
  let first = cut;
  let index = groups.length - 1;
  do {
    cut = first;
    for (; index >= cut; index -= 1) first = Math.min(first, groups[index] ?? index);
  } while (first < cut);
  return cut;
}

/** Tells of any boundary, in constant time, whether every group stands whole on one side of it. */
export function wholeGroupBoundaries(groups: readonly number[]): (boundary: number) => boolean {
  const firstFrom = new Uint32Array(groups.length);
  let first = groups.length;
  for (let index = groups.length - 1; index >= 0; index -= 1) {
    first = Math.min(first, groups[index] ?? index);
    firstFrom[index] = first;
  }
  return (boundary) => boundary <= 0 || boundary >= groups.length || (firstFrom[boundary] ?? 0) >= boundary;
}

/** Disjoint sets of the indexes below `size`, each known by its smallest member. */
function createIndexSets(size: number): {
  readonly firstOf: (index: number) => number;
  readonly join: (a: number, b: number) => void;
} {
  const parents = Uint32Array.from({ length: size }, (_, index) => index);
  const firstOf = (index: number): number => {
    let first = index;
    for (let parent = parents[first]; parent !== undefined && parent !== first; parent = parents[first]) {
      parents[first] = parents[parent] ?? parent; // halves the path for the next search
      first = parent;
    }
    return first;
  };
  const join = (a: number, b: number): void => {
    const firstA = firstOf(a);
    const firstB = firstOf(b);
    parents[Math.max(firstA, firstB)] = Math.min(firstA, firstB);
  };
  return { firstOf, join };
}
