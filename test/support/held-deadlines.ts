/** A deadline of so many milliseconds does not come with time: it comes with `expireDeadlines`, however fast the machine is. */
export const HELD_MS = 123_456;

const expire: (() => void)[] = [];
const { setTimeout: realSetTimeout } = globalThis;

globalThis.setTimeout = Object.assign((run: (...values: unknown[]) => void, ms?: number, ...values: unknown[]) => {
  if (ms === HELD_MS) expire.push(() => run(...values));
  return realSetTimeout(run, ms, ...values);
}, realSetTimeout);

/** Lets every held deadline come that was set until now. */
export function expireDeadlines(): void {
  for (const run of expire.splice(0)) run();
}
