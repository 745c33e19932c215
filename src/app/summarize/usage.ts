import type { ModelUsage } from '../../core/model-request.ts';
import type { Count } from '../../core/units.ts';
import type { ModelCosts, Price } from '../../ports/model.ts';

/** What summaries have cost: calls of a model, whether answered or failed, and tokens as its service counts them. */
export type Usage = Omit<ModelCosts, 'cost' | 'listedOn'> & {
  /** Summaries that were paid for earlier and are reused. */
  readonly reused: Count;
  /** Calls that repeat a failed or rejected one. */
  readonly retries: Count;
  /** @minimum 0 */
  readonly waitedMs: number;
};

export type PricedUsage = Usage & ModelCosts;

/** Adds up what calls have cost, whatever becomes of their answers. */
export type Meter = { readonly add: (usage: Usage) => void; readonly total: () => Usage };

export function createMeter(): Meter {
  const state = { total: NO_USAGE };
  return {
    add: (usage) => {
      state.total = addUsage(state.total, usage);
    },
    total: () => state.total,
  };
}

export const NO_USAGE: Usage = {
  calls: 0,
  inputTokens: 0,
  cachedInputTokens: 0,
  outputTokens: 0,
  reused: 0,
  retries: 0,
  waitedMs: 0,
};

/** What one answer cost. */
export function usageOf({
  input_tokens: input,
  output_tokens: output,
  cached_input_tokens: cached = 0,
}: ModelUsage): Usage {
  return { ...NO_USAGE, calls: 1, inputTokens: input, outputTokens: output, cachedInputTokens: cached };
}

export function addUsage(a: Usage, b: Partial<Usage>): Usage {
  return {
    calls: a.calls + (b.calls ?? 0),
    inputTokens: a.inputTokens + (b.inputTokens ?? 0),
    cachedInputTokens: a.cachedInputTokens + (b.cachedInputTokens ?? 0),
    outputTokens: a.outputTokens + (b.outputTokens ?? 0),
    reused: a.reused + (b.reused ?? 0),
    retries: a.retries + (b.retries ?? 0),
    waitedMs: a.waitedMs + (b.waitedMs ?? 0),
  };
}

const MILLION = 1_000_000;

/** Tokens that a service had cached are counted at the full price: what they cost less differs from service to service. */
export function costOf(
  { inputTokens, outputTokens }: Pick<Usage, 'inputTokens' | 'outputTokens'>,
  price: Price | undefined,
): number | null {
  return price === undefined ? null : (inputTokens * price.input + outputTokens * price.output) / MILLION;
}

export function priced(usage: Usage, price: Price | undefined): PricedUsage {
  const listedOn = price?.listedOn;
  return { ...usage, cost: costOf(usage, price), ...(listedOn !== undefined && { listedOn }) };
}

/** An unknown cost is not counted. */
export function addPriced(sum: ModelCosts | undefined, usage: PricedUsage): PricedUsage {
  if (sum === undefined) return usage;
  const cost = usage.cost === null ? sum.cost : (sum.cost ?? 0) + usage.cost;
  return { ...sum, ...usage, ...addUsage(usage, sum), cost };
}
