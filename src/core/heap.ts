/** A binary heap of numbered items. The highest key comes first; of equal keys the lowest item. */
export function createHeap() {
  const items: number[] = [];
  const keys: number[] = [];
  /** Whether the entry at index `at` comes before the given one. */
  const isBefore = (at: number, item: number, key: number): boolean => {
    const difference = (keys[at] ?? 0) - key;
    return difference > 0 || (difference === 0 && (items[at] ?? 0) < item);
  };
  const move = (from: number, to: number): void => {
    items[to] = items[from] ?? 0;
    keys[to] = keys[from] ?? 0;
  };
  /** Moves entries up from the root until the given one has its place. */
  const sink = (item: number, key: number): void => {
    let at = 0;
    for (let child = 1; child < items.length; child = 2 * at + 1) {
      const right = child + 1;
      if (right < items.length && isBefore(right, items[child] ?? 0, keys[child] ?? 0)) child = right;
      if (!isBefore(child, item, key)) break;
      move(child, at);
      at = child;
    }
    items[at] = item;
    keys[at] = key;
  };
  return {
    push: (item: number, key: number): void => {
      let at = items.push(item) - 1;
      keys.push(key);
      for (let parent = (at - 1) >> 1; at > 0 && !isBefore(parent, item, key); parent = (at - 1) >> 1) {
        move(parent, at);
        at = parent;
      }
      items[at] = item;
      keys[at] = key;
    },
    pop: (): number | null => {
      const item = items[0];
      if (item === undefined) return null;
      const lastItem = items.pop() ?? 0;
      const lastKey = keys.pop() ?? 0;
      if (items.length > 0) sink(lastItem, lastKey);
      return item;
    },
    /** Whether `pop` would return another item before this one. */
    hasBefore: (item: number, key: number): boolean => items.length > 0 && isBefore(0, item, key),
    /** The key of the item that `pop` would return, or -Infinity if the heap is empty. */
    topKey: (): number => keys[0] ?? -Infinity,
  };
}
