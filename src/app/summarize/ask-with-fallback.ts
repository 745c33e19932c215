import type { ModelRequest } from '../../core/model-request.ts';
import type { ModelProvider } from '../../ports/model.ts';
import { type Answer, type AskDeps, askForSummary, type AskOptions } from './ask.ts';
import { addUsage } from './usage.ts';

export type FallbackDeps = AskDeps & {
  /** Who summarizes where the model cannot; undefined: nobody. */
  readonly fallback?: ModelProvider;
};

export type SummaryAnswer =
  | (Extract<Answer, { readonly kind: 'summary' }> & { readonly isFallback: boolean })
  | Exclude<Answer, { readonly kind: 'summary' }>;

/** As `askForSummary`; where the model fails for good, and halves will not do either, the fallback is asked. */
export async function askWithFallback(
  deps: FallbackDeps,
  request: ModelRequest,
  options: AskOptions,
): Promise<SummaryAnswer> {
  const answer = await askForSummary(deps, request, options);
  if (answer.kind === 'summary') return { ...answer, isFallback: false };
  const { fallback, paid: _paid, limiter: _limiter, meter: _meter, ...others } = deps;
  const mayBeHalved = answer.kind === 'smaller' && options.canHalve;
  if (fallback === undefined || mayBeHalved || deps.signal?.aborted === true) return answer;
  deps.notice?.(`${answer.message}: summarized offline instead`);
  const second = await askForSummary({ ...others, model: fallback }, request, { ...options, canHalve: false });
  const usage = addUsage(answer.usage, { ...second.usage, calls: 0 });
  return second.kind === 'summary' ? { ...second, usage, isFallback: true } : { ...second, usage };
}
