export type DeadlineOutcome<T> =
  | { readonly kind: 'done'; readonly value: T }
  | { readonly kind: 'late' }
  | { readonly kind: 'aborted' };

/** One timer of the system cannot run longer. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * Runs `work` until it is done, `timeoutMs` are over or `signal` says so, and waits no longer: the signal that `work` gets is
 * aborted, and what it still does is forgotten. Its errors are the caller's.
 */
export async function withDeadline<T>(
  work: (signal: AbortSignal) => Promise<T>,
  { signal, timeoutMs }: { readonly signal: AbortSignal | undefined; readonly timeoutMs: number },
): Promise<DeadlineOutcome<T>> {
  if (signal?.aborted === true) return { kind: 'aborted' };
  const own = new AbortController();
  const stopped = Promise.withResolvers<DeadlineOutcome<T>>();
  const onAbort = (): void => stopped.resolve({ kind: 'aborted' });
  const timer = setTimeout(() => stopped.resolve({ kind: 'late' }), Math.min(timeoutMs, MAX_TIMER_MS));
  signal?.addEventListener('abort', onAbort, { once: true });
  const done = work(own.signal).then((value): DeadlineOutcome<T> => ({ kind: 'done', value }));
  try {
    return await Promise.race([stopped.promise, done]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
    own.abort();
  }
}
