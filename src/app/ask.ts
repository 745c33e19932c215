import { ModelError } from '../core/model-error.ts';
import type { ModelRequest, ModelResponse, ModelUsage } from '../core/model-request.ts';
import { checkSummary } from '../core/summary-check.ts';
import type { ModelProvider } from '../ports/model.ts';
import type { Runtime } from '../ports/runtime.ts';

export type AskDeps = {
  readonly model: ModelProvider;
  readonly runtime: Pick<Runtime, 'sleep' | 'yieldToEvents'>;
  readonly signal?: AbortSignal;
};

export type AskOptions = {
  /** Of what is to be summarized, for the check that a summary is shorter than its source (L4). */
  readonly inputTokens: number;
  readonly maxRetries: number;
  /** What takes too long, or more room than there is, may be asked for in halves; else the same is asked again. */
  readonly canHalve: boolean;
  /** How often that was done already: the wait doubles each time. */
  readonly halvings: number;
};

/** smaller: the same request will not do, half of it may. */
export type Answer =
  | { readonly kind: 'summary'; readonly text: string; readonly usage: ModelUsage; readonly calls: number }
  | { readonly kind: 'smaller' | 'failed'; readonly message: string; readonly calls: number };

const FIRST_BACKOFF_MS = 1000;

/** One summary, checked (L4), with its retries: a failed call and a bad summary are tried again, `maxRetries` times each. */
export async function askForSummary(deps: AskDeps, request: ModelRequest, options: AskOptions): Promise<Answer> {
  let failedCalls = 0;
  let badSummaries = 0;
  for (let calls = 1; ; calls += 1) {
    const called = await call(deps, request);
    if (called.kind === 'error') {
      const { error } = called;
      if (error.code === 'context_length') return { kind: 'smaller', message: error.message, calls };
      if (error.code === 'timeout' && options.canHalve) {
        await deps.runtime.sleep(FIRST_BACKOFF_MS * 2 ** options.halvings, deps.signal);
        return { kind: 'smaller', message: error.message, calls };
      }
      if (!error.retryable || failedCalls >= options.maxRetries || deps.signal?.aborted === true) {
        return { kind: 'failed', message: error.message, calls };
      }
      await deps.runtime.sleep(FIRST_BACKOFF_MS * 2 ** failedCalls, deps.signal);
      failedCalls += 1;
      continue;
    }
    const { response } = called;
    const text = response.content.map((block) => block.text).join('');
    const check = checkSummary({
      text,
      stopReason: response.stop_reason,
      inputTokens: options.inputTokens,
      isVerbatim: deps.model.isVerbatim === true,
    });
    if (check.ok) return { kind: 'summary', text, usage: response.usage, calls };
    if (check.problem === 'cut-off' && options.canHalve) return { kind: 'smaller', message: check.message, calls };
    if (badSummaries >= options.maxRetries) return { kind: 'failed', message: check.message, calls };
    badSummaries += 1;
  }
}

async function call(
  { model, signal }: AskDeps,
  request: ModelRequest,
): Promise<{ kind: 'response'; response: ModelResponse } | { kind: 'error'; error: ModelError }> {
  try {
    return { kind: 'response', response: await model.complete(request, signal) };
  } catch (error) {
    return { kind: 'error', error: asModelError(error) };
  }
}

/** A provider promises ModelErrors; what else it throws is a failure for good, said in its words. */
function asModelError(error: unknown): ModelError {
  if (error instanceof ModelError) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new ModelError('api_error', message, { retryable: false, cause: error });
}
