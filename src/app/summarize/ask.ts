import { ModelError, type ModelRequest, type ModelResponse } from '../../core/model-request.ts';
import { addFeedback } from '../../core/prompt.ts';
import { checkSummary, type SummaryCheck } from '../../core/summary-check.ts';
import { estimateTokensByBytes } from '../../core/tokens.ts';
import type { ModelProvider } from '../../ports/model.ts';
import type { Runtime } from '../../ports/runtime.ts';
import { stop } from '../contract/failure.ts';
import type { Budget, RateLimiter, Spending } from './limits.ts';
import type { PaidSummaries } from './paid-summaries.ts';
import { addUsage, type Meter, NO_USAGE, type Usage, usageOf } from './usage.ts';

export type FallbackDeps = AskDeps & {
  /** Summarizes when the model cannot; undefined: nothing does. */
  readonly fallback?: ModelProvider;
};

export type SummaryAnswer =
  | (Extract<Answer, { readonly kind: 'summary' }> & { readonly isFallback: boolean })
  | Exclude<Answer, { readonly kind: 'summary' }>;

/** Asks as `askForSummary` does. If the model fails permanently and halving is not possible either, the fallback is asked. */
export async function askWithFallback(
  deps: FallbackDeps,
  request: ModelRequest,
  options: AskOptions,
): Promise<SummaryAnswer> {
  const answer = await askForSummary(deps, request, options);
  if (answer.kind === 'summary') return { ...answer, isFallback: false };
  const { fallback, paid: _paid, limiter: _limiter, budget: _budget, meter: _meter, ...others } = deps;
  const mayBeHalved = answer.kind === 'smaller' && options.canHalve;
  const isFinal = answer.kind === 'deferred' || mayBeHalved || deps.signal?.aborted === true;
  if (fallback === undefined || isFinal) return answer;
  deps.notice?.(`${answer.message}: summarized offline instead`);
  const second = await askForSummary({ ...others, model: fallback }, request, { ...options, canHalve: false });
  const usage = addUsage(answer.usage, { ...second.usage, calls: 0 });
  return second.kind === 'summary' ? { ...second, usage, isFallback: true } : { ...second, usage };
}

type AskDeps = CallDeps & {
  /** Undefined: summaries cost nothing and are not remembered. */
  readonly paid?: PaidSummaries;
};

export type AskOptions = {
  /** Estimated tokens of the source, for the check that a summary is shorter than its source (L4). */
  readonly inputTokens: number;
  readonly maxRetries: number;
  /** Whether a request that takes too long, or is too large, may be split in half; otherwise the same request is repeated. */
  readonly canHalve: boolean;
  /** How often the request was halved already: the wait doubles each time. */
  readonly halvings: number;
  /** How often to ask again after a bad summary; `maxRetries` by default. */
  readonly maxRejections?: number;
};

/** smaller: this request cannot succeed, but half of it may. deferred: its answer comes later, from a batch. */
export type Answer =
  | { readonly kind: 'summary'; readonly text: string; readonly usage: Usage; readonly neededFeedback: boolean }
  | {
      readonly kind: 'smaller' | 'failed' | 'deferred';
      readonly message: string;
      readonly usage: Usage;
      /** The model answered, but not with a summary. */
      readonly wasRejected: boolean;
    };

/**
 * Asks for one summary and checks it (L4). A failed call is repeated; after a bad summary the model is asked again and told what was wrong.
 * Each happens `maxRetries` times at most; after that half of the request may succeed.
 */
export async function askForSummary(deps: AskDeps, request: ModelRequest, options: AskOptions): Promise<Answer> {
  const ask = (): Promise<Answer> => askOnce(deps, request, options);
  return deps.paid === undefined ? ask() : deps.paid.exclusively(request, ask);
}

async function askOnce(deps: AskDeps, request: ModelRequest, options: AskOptions): Promise<Answer> {
  const known = await deps.paid?.find(request);
  if (known !== undefined && known !== null) {
    return { kind: 'summary', text: known, usage: { ...NO_USAGE, reused: 1 }, neededFeedback: false };
  }
  const { canHalve, maxRetries, halvings, maxRejections = maxRetries } = options;
  if (canHalve && (await deps.paid?.isHalved(request)) === true) {
    return { kind: 'smaller', message: 'it was summarized in halves before', usage: NO_USAGE, wasRejected: false };
  }
  let usage = NO_USAGE;
  let repeats = 0;
  let feedback: string | null = null;
  for (let rejected = 0; ; rejected += 1) {
    const called = await callModel(deps, feedback === null ? request : addFeedback(request, feedback), {
      maxRetries: maxRetries - repeats,
      retriesTimeouts: !canHalve,
    });
    deps.meter?.add(called.usage);
    repeats += called.usage.retries;
    usage = addUsage(addUsage(usage, called.usage), { retries: rejected === 0 ? 0 : 1 });
    if (called.kind === 'error') {
      const { code, message } = called.error;
      const failed = { message, usage, wasRejected: false };
      if (code === 'deferred') return { kind: 'deferred', ...failed };
      if (code !== 'context_length' && code !== 'timeout') return { kind: 'failed', ...failed };
      if (!canHalve || deps.signal?.aborted === true)
        return { kind: code === 'timeout' ? 'failed' : 'smaller', ...failed };
      if (code === 'context_length') return { kind: 'smaller', ...failed };
      const waitMs = backoffMs(deps, halvings, undefined);
      deps.notice?.(`${message}; asking for half of it in ${Math.ceil(waitMs / 1000)} s`);
      await deps.runtime.sleep(waitMs, deps.signal);
      return { kind: 'smaller', ...failed, usage: addUsage(usage, { waitedMs: waitMs }) };
    }
    const { content, stop_reason: stopReason } = called.response;
    const text = content.map((block) => block.text).join('');
    const check = checkSummary({
      text,
      stopReason,
      inputTokens: options.inputTokens,
      isVerbatim: deps.model.isVerbatim === true,
    });
    if (check.ok) {
      await deps.paid?.keep(request, { text, usage: called.response.usage });
      return { kind: 'summary', text, usage, neededFeedback: rejected > 0 };
    }
    const isSpent = rejected >= maxRejections || deps.signal?.aborted === true;
    const bad = { message: describeRejected(check, request), usage, wasRejected: true };
    if (canHalve && (isSpent || check.problem === 'cut-off')) return { kind: 'smaller', ...bad };
    if (isSpent) return { kind: 'failed', ...bad };
    feedback = check.message;
  }
}

/** The message for people; the model itself is only told what was wrong. */
function describeRejected({ problem, message }: Extract<SummaryCheck, { ok: false }>, { model }: ModelRequest): string {
  const advice = problem === 'cut-off' ? ': max_summary_tokens allows more' : '';
  return `${message} (${model})${advice}`;
}

type CallDeps = {
  readonly model: ModelProvider;
  readonly runtime: Pick<Runtime, 'sleep' | 'yieldToEvents' | 'random'>;
  readonly signal?: AbortSignal;
  readonly limiter?: RateLimiter;
  readonly budget?: Budget;
  /** Called with a sentence about each wait. */
  readonly notice?: (sentence: string) => void;
  readonly meter?: Meter;
};

type Called =
  | { readonly kind: 'response'; readonly response: ModelResponse; readonly usage: Usage }
  /** `usage` counts the failed calls too. */
  | { readonly kind: 'error'; readonly error: ModelError; readonly usage: Usage };

const FIRST_BACKOFF_MS = 1000;
/** Shorter waits are not reported. */
const TOLD_WAIT_MS = 5000;
const MAX_JITTER = 0.25;
/** The longest wait, even if the service asks for more. */
const MAX_WAIT_MS = 60_000;

/**
 * One request under the only retry policy: a call that may succeed later is repeated up to `maxRetries` times, after the wait that the service
 * asks for, or one that doubles each time.
 */
async function callModel(
  deps: CallDeps,
  request: ModelRequest,
  { maxRetries, retriesTimeouts }: { maxRetries: number; retriesTimeouts: boolean },
): Promise<Called> {
  let usage = NO_USAGE;
  for (let failed = 0; ; failed += 1) {
    const called = await callOnce(deps, request);
    usage = addUsage(usage, { ...called.usage, retries: failed === 0 ? 0 : 1 });
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

/**
 * The wait before a retry: up to a quarter longer at random, so that many failed calls do not come back at once, and never shorter than the
 * service asked for.
 */
export function backoffMs(
  { runtime }: { runtime: Pick<Runtime, 'random'> },
  failed: number,
  retryAfterMs: number | undefined,
): number {
  const ownMs = FIRST_BACKOFF_MS * 2 ** failed * (1 + MAX_JITTER * runtime.random());
  return Math.min(MAX_WAIT_MS, Math.max(ownMs, retryAfterMs ?? 0));
}

/** A call that the budget has no room for ends the use case. */
async function callOnce(deps: CallDeps, request: ModelRequest): Promise<Called> {
  const expected = { inputTokens: expectedTokens(request), outputTokens: request.max_tokens };
  const refused = (await deps.budget?.reserve(expected)) ?? null;
  if (refused !== null) stop({ kind: 'cost-limit', ...refused });
  let used: Spending = { inputTokens: 0, outputTokens: 0 };
  try {
    const called = await callLimited(deps, request, expected);
    // A service may charge for an answer that nobody waited for.
    used = called.kind === 'error' && called.error.code === 'timeout' ? expected : called.usage;
    return called;
  } finally {
    deps.budget?.settle(expected, used);
  }
}

async function callLimited(
  { model, signal, limiter, notice }: CallDeps,
  request: ModelRequest,
  expected: Spending,
): Promise<Called> {
  const onWait = (ms: number): void => {
    if (ms >= TOLD_WAIT_MS) notice?.(`waiting ${Math.ceil(ms / 1000)} s, as the configured limits say`);
  };
  const waitedMs = (await limiter?.take(expected, { onWait, ...(signal === undefined ? {} : { signal }) })) ?? 0;
  const usage = { ...NO_USAGE, calls: 1, waitedMs };
  if (signal?.aborted === true) {
    return { kind: 'error', error: new ModelError('api_error', 'it was interrupted', { retryable: false }), usage };
  }
  try {
    const response = await model.complete(request, signal);
    const used = usageOf(response.usage);
    limiter?.giveBack({
      inputTokens: expected.inputTokens - used.inputTokens,
      outputTokens: expected.outputTokens - used.outputTokens,
    });
    return { kind: 'response', response, usage: { ...used, waitedMs } };
  } catch (error) {
    return { kind: 'error', error: asModelError(error), usage };
  }
}

/** Estimated tokens of a request. */
export function expectedTokens({ system = '', messages }: ModelRequest): number {
  const texts = messages.flatMap(({ content }) =>
    typeof content === 'string' ? [content] : content.map(({ text }) => text),
  );
  return [system, ...texts].reduce((sum, text) => sum + estimateTokensByBytes(text), 0);
}

/** A provider promises ModelErrors. Any other error it throws is treated as permanent, with its own message. */
function asModelError(error: unknown): ModelError {
  if (error instanceof ModelError) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new ModelError('api_error', message, { retryable: false, cause: error });
}
