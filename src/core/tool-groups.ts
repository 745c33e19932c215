import { callsOf, type ConversationMessage, resultIdsOf } from './message.ts';

/** The ids of the calls that an item makes and answers, if any. Items with the same `groupKey` are parts of one model answer. */
export type GroupInput = {
  readonly calls?: readonly string[];
  readonly results?: readonly string[];
  readonly groupKey?: string;
};

export function groupInputOf(message: ConversationMessage): Required<Omit<GroupInput, 'groupKey'>> {
  const partCalls = (message.parts ?? []).flatMap((part) => (part.kind === 'call' ? [part.id] : []));
  return { calls: [...partCalls, ...callsOf(message).map((call) => call.id)], results: resultIdsOf(message) };
}

/**
 * Returns for each item the smallest index in its group: calls with all their results, and items with the same key. Ids may be reused: a
 * result belongs to the latest earlier call with its id (or one in the same item). A result without an earlier call belongs to the next
 * call with its id, unless that call is answered later too. Otherwise it stands alone.
 */
export function findGroups(items: readonly GroupInput[]): readonly number[] {
  const sets = createIndexSets(items.length);
  const firstOfKey = new Map<string, number>();
  const latestCall = new Map<string, number>();
  const early = new Map<string, number[]>(); // results without a call so far
  const claimed = new Map<string, readonly number[]>(); // results whose call came later and has no other answer so far

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

  for (const [index, { calls, results, groupKey }] of items.entries()) {
    if (groupKey !== undefined) {
      const first = firstOfKey.get(groupKey);
      if (first === undefined) firstOfKey.set(groupKey, index);
      else sets.join(first, index);
    }
    if (calls !== undefined) for (const id of calls) addCall(id, index);
    if (results !== undefined) for (const id of results) addResult(id, index);
  }
  for (const id of claimed.keys()) settle(id);
  return items.map((_, index) => sets.firstOf(index));
}

/** The largest boundary (index of the first kept item) up to the given one that splits no group. */
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

/** Creates a constant-time check of whether a boundary splits no group. */
export function wholeGroupBoundaries(groups: readonly number[]): (boundary: number) => boolean {
  const firstFrom = new Uint32Array(groups.length);
  let first = groups.length;
  for (let index = groups.length - 1; index >= 0; index -= 1) {
    first = Math.min(first, groups[index] ?? index);
    firstFrom[index] = first;
  }
  return (boundary) => boundary <= 0 || boundary >= groups.length || (firstFrom[boundary] ?? 0) >= boundary;
}

/** Disjoint sets of the indexes below `size`, each identified by its smallest member. */
export function createIndexSets(size: number) {
  const parents = new Uint32Array(size);
  for (let index = 0; index < size; index += 1) parents[index] = index;
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
