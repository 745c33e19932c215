import type { ModelRequest } from '../../core/model-request.ts';
import { addFeedback } from '../../core/prompt-feedback.ts';
import { checkSummary, type SummaryCheck } from '../../core/summary-check.ts';
import { backoffMs, type CallDeps, callModel } from './call-model.ts';
import type { PaidSummaries } from './paid-summaries.ts';
import { addUsage, NO_USAGE, type Usage } from './usage.ts';

export type AskDeps = CallDeps & {
  /** Undefined: nothing is remembered (and nothing costs). */
  readonly paid?: PaidSummaries;
};

export type AskOptions = {
  /** Of what is to be summarized, for the check that a summary is shorter than its source (L4). */
  readonly inputTokens: number;
  readonly maxRetries: number;
  /** What takes too long, or more room than there is, may be asked for in halves; else the same is asked again. */
  readonly canHalve: boolean;
  /** How often that was done already: the wait doubles each time. */
  readonly halvings: number;
  /** How often a bad summary is asked for again; by default `maxRetries` times. */
  readonly maxRejections?: number;
};

/** smaller: the same request will not do, half of it may. */
export type Answer =
  | { readonly kind: 'summary'; readonly text: string; readonly usage: Usage; readonly neededFeedback: boolean }
  | {
      readonly kind: 'smaller' | 'failed';
      readonly message: string;
      readonly usage: Usage;
      /** There was an answer, and it was no summary. */
      readonly wasRejected: boolean;
    };

/**
 * One summary, checked (L4). A failed call is repeated, a bad summary asked for again with what was wrong with it, each `maxRetries` times
 * at the most; after that half of the request may do.
 */
export async function askForSummary(deps: AskDeps, request: ModelRequest, options: AskOptions): Promise<Answer> {
  const ask = (): Promise<Answer> => askOnce(deps, request, options);
  return deps.paid === undefined ? ask() : deps.paid.exclusively(request, ask);
}

async function askOnce(deps: AskDeps, request: ModelRequest, options: AskOptions): Promise<Answer> {
  const known = deps.paid?.find(request);
  if (known !== undefined && known !== null) {
    return { kind: 'summary', text: known, usage: { ...NO_USAGE, reused: 1 }, neededFeedback: false };
  }
  const { canHalve, maxRetries, halvings, maxRejections = maxRetries } = options;
  if (canHalve && deps.paid?.isHalved(request) === true) {
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
    repeats += called.usage.retries;
    usage = addUsage(addUsage(usage, called.usage), { retries: rejected === 0 ? 0 : 1 });
    if (called.kind === 'error') {
      const { code, message } = called.error;
      const failed = { message, usage, wasRejected: false };
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
      deps.paid?.keep(request, { text, usage: called.response.usage });
      return { kind: 'summary', text, usage, neededFeedback: rejected > 0 };
    }
    const isSpent = rejected >= maxRejections || deps.signal?.aborted === true;
    const bad = { message: describeRejected(check, request), usage, wasRejected: true };
    if (canHalve && (isSpent || check.problem === 'cut-off')) return { kind: 'smaller', ...bad };
    if (isSpent) return { kind: 'failed', ...bad };
    feedback = check.message;
  }
}

/** For people: the model itself is told no more than what was wrong. */
function describeRejected({ problem, message }: Extract<SummaryCheck, { ok: false }>, { model }: ModelRequest): string {
  const advice = problem === 'cut-off' ? ': max_summary_tokens allows more' : '';
  return `${message} (${model})${advice}`;
}
