import type { Runtime } from '../../ports/runtime.ts';

/** Whether a signal has come: most of the work is synchronous, so it must be let in before it can be seen. */
export async function isInterrupted(deps: {
  readonly runtime: Pick<Runtime, 'yieldToEvents'>;
  readonly signal?: AbortSignal;
}): Promise<boolean> {
  await deps.runtime.yieldToEvents();
  return deps.signal?.aborted === true;
}
