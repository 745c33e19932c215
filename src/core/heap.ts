/** A binary heap of numbered items. The highest key comes first; of equal keys the lowest item. */
type Heap = {
  readonly push: (item: number, key: number) => void;
  readonly pop: () => number | null;
  /** The key of the item that `pop` would return, or -Infinity if the heap is empty. */
  readonly topKey: () => number;
};

export function createHeap(): Heap {
  const items: number[] = [];
  const keys: number[] = [];
  const isBefore = (a: number, b: number): boolean => {
    const difference = (keys[a] ?? 0) - (keys[b] ?? 0);
    return difference > 0 || (difference === 0 && (items[a] ?? 0) < (items[b] ?? 0));
  };
  const swap = (a: number, b: number): void => {
    [items[a], items[b]] = [items[b] ?? 0, items[a] ?? 0];
    [keys[a], keys[b]] = [keys[b] ?? 0, keys[a] ?? 0];
  };
  const sink = (): void => {
    let at = 0;
    for (;;) {
      const left = 2 * at + 1;
      const right = left + 1;
      let best = at;
      if (left < items.length && isBefore(left, best)) best = left;
      if (right < items.length && isBefore(right, best)) best = right;
      if (best === at) return;
      swap(at, best);
      at = best;
    }
  };
  return {
    push: (item, key) => {
      let at = items.push(item) - 1;
      keys.push(key);
      while (at > 0 && isBefore(at, (at - 1) >> 1)) {
        swap(at, (at - 1) >> 1);
        at = (at - 1) >> 1;
      }
    },
    pop: () => {
      const item = items[0];
      if (item === undefined) return null;
      const lastItem = items.pop() ?? 0;
      const lastKey = keys.pop() ?? 0;
      if (items.length > 0) {
        items[0] = lastItem;
        keys[0] = lastKey;
        sink();
      }
      return item;
    },
    topKey: () => keys[0] ?? -Infinity,
  };
}
