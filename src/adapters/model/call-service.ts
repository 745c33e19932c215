import { ModelError } from '../../core/model-request.ts';
import { type ServiceFailure, failureBehind } from './service-failure.ts';
import { type Service, serviceError } from './service.ts';
import { type Classify, toModelError } from './translate.ts';

/** For requests without a limit; the default of the SDKs. */
const DEFAULT_TIMEOUT_MS = 600_000;

type CallLimits = {
  readonly timeoutMs: number | undefined;
  readonly signal: AbortSignal | undefined;
  /** What to try if it takes longer. */
  readonly lateAdvice?: string;
};

/**
 * Makes one call within its time limit. Rejects with a `ModelError` for failures of the service; errors of this program
 * pass through.
 */
export async function callService<T>(
  { service, classify }: { readonly service: Service; readonly classify: Classify },
  limits: CallLimits,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { timeoutMs = DEFAULT_TIMEOUT_MS, signal, lateAdvice = 'compaction_timeout allows more' } = limits;
  try {
    const outcome = await withDeadline(work, { signal, timeoutMs });
    if (outcome.kind === 'done') return outcome.value;
    if (outcome.kind === 'aborted') throw new ModelError('api_error', 'it was interrupted', { retryable: false });
    const limit = `did not complete its answer within ${timeoutMs / 1000} s`;
    throw serviceError(service, limit, { code: 'timeout', retryable: true, advice: lateAdvice });
  } catch (error) {
    const failure = failureBehind(error);
    throw failure === null ? error : toModelError(service, failure, classify);
  }
}

/**
 * Asks again if a failure shows that the service takes requests only in another form, and keeps what it learned in
 * `state`. `adapt` returns the changes to `used`, or null, and must run out of changes.
 */
export async function askAdapting<Form extends object, T>(
  state: { form: Form },
  ask: (form: Form) => Promise<T>,
  adapt: (used: Form, failure: ServiceFailure) => Partial<Form> | null,
): Promise<T> {
  for (;;) {
    const used = state.form;
    try {
      return await ask(used);
    } catch (error) {
      const failure = failureBehind(error);
      const change = failure === null ? null : adapt(used, failure);
      if (change === null) throw error;
      state.form = { ...state.form, ...change };
    }
  }
}

type DeadlineOutcome<T> =
  | { readonly kind: 'done'; readonly value: T }
  | { readonly kind: 'late' }
  | { readonly kind: 'aborted' };

/** The longest delay of a timer. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * Runs `work` until it is done, `timeoutMs` have passed or `signal` aborts, and waits no longer: the signal passed to
 * `work` is aborted, and its late result is ignored. Errors of `work` pass through.
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
