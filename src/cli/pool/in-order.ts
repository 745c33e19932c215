import type { Place } from '../reporter.ts';

export type InOrder<T, R> = {
  readonly items: readonly T[];
  /** How many items are at work at the same time. */
  readonly jobs: number;
  /** Once it is aborted, no further item is begun. */
  readonly signal: AbortSignal;
  /** Null: it was interrupted, and nothing is reported. */
  readonly work: (item: T, place: Place) => Promise<R | null>;
  /** Called in the order of the items, as soon as all earlier ones are done. */
  readonly report: (result: R, item: T) => void;
};

/** How far the work may run ahead of an item that takes long: this bounds the results that wait to be reported. */
const MAX_AHEAD = 1024;

/** Works on several items at a time and reports them in their order. Returns how many an interruption left undone. */
export async function runInOrder<T, R>({ items, jobs, signal, work, report }: InOrder<T, R>): Promise<number> {
  const done = new Map<number, R>();
  const state = { nextBegun: 0, nextReported: 0, reportedCount: 0, isOver: false };
  const waiting: (() => void)[] = [];
  const reportAt = (index: number): void => {
    const item = items[index];
    const result = done.get(index);
    if (item === undefined || result === undefined) return;
    done.delete(index);
    state.reportedCount += 1;
    report(result, item);
  };
  const reportReady = (): void => {
    for (; done.has(state.nextReported); state.nextReported += 1) reportAt(state.nextReported);
    for (const wake of waiting.splice(0)) wake();
  };
  const takeTurns = async (): Promise<void> => {
    for (let item = items[state.nextBegun]; item !== undefined; item = items[state.nextBegun]) {
      if (signal.aborted || state.isOver) return;
      if (state.nextBegun - state.nextReported >= MAX_AHEAD) {
        await new Promise<void>((resolve) => waiting.push(resolve));
        continue;
      }
      const index = state.nextBegun;
      state.nextBegun += 1;
      const result = await work(item, { index, count: items.length });
      if (result === null) state.isOver = true;
      else done.set(index, result);
      reportReady();
    }
  };
  await Promise.all(Array.from({ length: Math.min(jobs, items.length) }, takeTurns));
  // After an interruption, files behind an interrupted one may be done.
  for (const index of [...done.keys()].toSorted((a, b) => a - b)) reportAt(index);
  return items.length - state.reportedCount;
}
