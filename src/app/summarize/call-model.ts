import { ModelError } from '../../core/model-error.ts';
import type { ModelRequest, ModelResponse } from '../../core/model-request.ts';
import { estimateTokensByBytes } from '../../core/tokens.ts';
import type { ModelProvider } from '../../ports/model.ts';
import type { Runtime } from '../../ports/runtime.ts';
import type { RateLimiter } from './rate-limit.ts';
import { addUsage, type Meter, NO_USAGE, type Usage } from './usage.ts';

export type CallDeps = {
  readonly model: ModelProvider;
  readonly runtime: Pick<Runtime, 'sleep' | 'yieldToEvents' | 'random'>;
  readonly signal?: AbortSignal;
  readonly limiter?: RateLimiter;
  /** Told in a sentence that there is something to wait for, and how long. */
  readonly notice?: (sentence: string) => void;
  readonly meter?: Meter;
};

export type Called =
  | { readonly kind: 'response'; readonly response: ModelResponse; readonly usage: Usage }
  /** `usage` counts what was tried in vain. */
  | { readonly kind: 'error'; readonly error: ModelError; readonly usage: Usage };

const FIRST_BACKOFF_MS = 1000;
/** Shorter waits are nobody's concern. */
const TOLD_WAIT_MS = 5000;
const MAX_JITTER = 0.25;
/** A service that asks for more is asked again before that, or given up. */
const MAX_WAIT_MS = 60_000;

/** One request with the one retry policy: what may succeed later is tried again `maxRetries` times, after what its service asks for or twice as long each time. */
export async function callModel(deps: CallDeps, request: ModelRequest, options: CallOptions): Promise<Called> {
  const called = await callUntilDone(deps, request, options);
  deps.meter?.add(called.usage);
  return called;
}

type CallOptions = { readonly maxRetries: number; readonly retriesTimeouts: boolean };

async function callUntilDone(
  deps: CallDeps,
  request: ModelRequest,
  { maxRetries, retriesTimeouts }: CallOptions,
): Promise<Called> {
  let usage = NO_USAGE;
  for (let failed = 0; ; failed += 1) {
    const called = await callOnce(deps, request);
    usage = addUsage(usage, { ...called.usage, calls: 1, retries: failed === 0 ? 0 : 1 });
    if (called.kind === 'response') return { ...called, usage };
    const { error } = called;
    const isForSize = error.code === 'context_length' || (error.code === 'timeout' && !retriesTimeouts);
    if (isForSize || !error.retryable || failed >= maxRetries || deps.signal?.aborted === true) {
      return { ...called, usage };
    }
    const waitMs = backoffMs(deps, failed, error.retryAfterMs);
    deps.notice?.(`${error.message}; trying again in ${Math.ceil(waitMs / 1000)} s (${failed + 1} of ${maxRetries})`);
    usage = addUsage(usage, { waitedMs: waitMs });
    await deps.runtime.sleep(waitMs, deps.signal);
  }
}

/** Up to a quarter longer by chance, so that many that failed together do not come back together; never less than was asked for. */
export function backoffMs(
  { runtime }: { readonly runtime: Pick<Runtime, 'random'> },
  failed: number,
  retryAfterMs: number | undefined,
): number {
  const ownMs = FIRST_BACKOFF_MS * 2 ** failed * (1 + MAX_JITTER * runtime.random());
  return Math.min(MAX_WAIT_MS, Math.max(ownMs, retryAfterMs ?? 0));
}

async function callOnce({ model, signal, limiter, notice }: CallDeps, request: ModelRequest): Promise<Called> {
  const expected = { inputTokens: expectedTokens(request), outputTokens: request.max_tokens };
  const onWait = (ms: number): void => {
    if (ms >= TOLD_WAIT_MS) notice?.(`waiting ${Math.ceil(ms / 1000)} s, as the configured limits say`);
  };
  const waitedMs = (await limiter?.take(expected, { onWait, ...(signal === undefined ? {} : { signal }) })) ?? 0;
  const usage = { ...NO_USAGE, waitedMs };
  if (signal?.aborted === true) return { kind: 'error', error: interrupted(), usage };
  try {
    const response = await model.complete(request, signal);
    const { input_tokens: inputTokens, output_tokens: outputTokens, cached_input_tokens: cached = 0 } = response.usage;
    limiter?.giveBack({
      inputTokens: expected.inputTokens - inputTokens,
      outputTokens: expected.outputTokens - outputTokens,
    });
    return {
      kind: 'response',
      response,
      usage: addUsage(usage, { inputTokens, outputTokens, cachedInputTokens: cached }),
    };
  } catch (error) {
    return { kind: 'error', error: asModelError(error), usage };
  }
}

function interrupted(): ModelError {
  return new ModelError('api_error', 'it was interrupted', { retryable: false });
}

/** Tokens that a request has, as estimated. */
export function expectedTokens({ system = '', messages }: ModelRequest): number {
  const texts = messages.flatMap(({ content }) =>
    typeof content === 'string' ? [content] : content.map(({ text }) => text),
  );
  return [system, ...texts].reduce((sum, text) => sum + estimateTokensByBytes(text), 0);
}

/** A provider promises ModelErrors; what else it throws is a failure for good, said in its words. */
function asModelError(error: unknown): ModelError {
  if (error instanceof ModelError) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new ModelError('api_error', message, { retryable: false, cause: error });
}
