/** Takes items one by one from batches that arrive asynchronously. */
export type Cursor<T> = {
  /** The next item of the current batch; null: it has no more, so ask `next`. */
  readonly now: () => T | null;
  /** The next item; null: there is none. */
  readonly next: () => Promise<T | null>;
  /** Ends the reading early. */
  readonly close: () => Promise<void>;
};

export function createCursor<T extends object>(batches: AsyncIterable<Iterable<T>>): Cursor<T> {
  const rest = batches[Symbol.asyncIterator]();
  let batch: Iterator<T> | null = null;
  const now = (): T | null => {
    const item = batch?.next();
    return item === undefined || item.done === true ? null : item.value;
  };
  return {
    now,
    next: async () => {
      for (;;) {
        const item = now();
        if (item !== null) return item;
        const more = await rest.next();
        if (more.done === true) return null;
        batch = more.value[Symbol.iterator]();
      }
    },
    close: async () => {
      await rest.return?.();
    },
  };
}

/** Enough that waiting for a batch costs nothing beside reading it. */
const BATCH_BYTES = 1024 * 1024;

/** Gathers lines; `add` and `isFull` say whether it is time to take them. */
export type LineBatch = {
  readonly add: (bytes: Uint8Array) => boolean;
  readonly isFull: () => boolean;
  readonly take: () => readonly Uint8Array[];
};

export function createLineBatch(): LineBatch {
  let lines: Uint8Array[] = [];
  let sizeBytes = 0;
  const isFull = (): boolean => sizeBytes >= BATCH_BYTES;
  return {
    add: (bytes) => {
      lines.push(bytes);
      sizeBytes += bytes.length;
      return isFull();
    },
    isFull,
    take: () => {
      const taken = lines;
      lines = [];
      sizeBytes = 0;
      return taken;
    },
  };
}
