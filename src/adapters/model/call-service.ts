import { ModelError } from '../../core/model-request.ts';
import { type Fault, faultBehind } from './fault.ts';
import { type Service, serviceError } from './service.ts';
import { type Classify, translateFault } from './translate.ts';

/** For requests that name no limit; the SDKs' own. */
const DEFAULT_TIMEOUT_MS = 600_000;

type CallLimits = {
  readonly timeoutMs: number | undefined;
  readonly signal: AbortSignal | undefined;
  /** What to try where it takes longer. */
  readonly lateAdvice?: string;
};

/** One call within its time. Rejects with a `ModelError` for what the service did; an error of the program stays what it is. */
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
    const limit = `gave no whole answer within ${timeoutMs / 1000} s`;
    throw serviceError(service, limit, { code: 'timeout', retryable: true, advice: lateAdvice });
  } catch (error) {
    const fault = faultBehind(error);
    throw fault === null ? error : translateFault(service, fault, classify);
  }
}

/**
 * Asks, and asks again where a fault shows that the service takes requests only in another form. What was learned is kept in
 * `state`; `learn` gives what must be otherwise than in `used`, or null, and must run out of changes.
 */
export async function askAdapting<Form extends object, T>(
  state: { form: Form },
  ask: (form: Form) => Promise<T>,
  learn: (used: Form, fault: Fault) => Partial<Form> | null,
): Promise<T> {
  for (;;) {
    const used = state.form;
    try {
      return await ask(used);
    } catch (error) {
      const fault = faultBehind(error);
      const change = fault === null ? null : learn(used, fault);
      if (change === null) throw error;
      state.form = { ...state.form, ...change };
    }
  }
}

type DeadlineOutcome<T> =
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
