import type { ModelRequest, ModelUsage } from '../../core/model-request.ts';
import type { SummaryCache } from '../../ports/archive.ts';
import type { Runtime } from '../../ports/runtime.ts';

/** The summaries of one provider that were paid before, by request. */
export type PaidSummaries = {
  readonly find: (request: ModelRequest) => string | null;
  readonly keep: (request: ModelRequest, summary: { readonly text: string; readonly usage: ModelUsage }) => void;
  /** Whether it came to nothing before where half of it did: to ask for it again would cost, and could end otherwise. */
  readonly isHalved: (request: ModelRequest) => boolean;
  readonly keepHalved: (request: ModelRequest) => void;
  /** Waits until nobody else of this run asks for the same: what they got need not be paid again. */
  readonly exclusively: <T>(request: ModelRequest, ask: () => Promise<T>) => Promise<T>;
};

/** Requests that are under way, by key; the end of each. */
export type InFlight = Map<string, Promise<void>>;

const HALVED = 'halved';
const NOTHING_USED: ModelUsage = { input_tokens: 0, output_tokens: 0 };

/**
 * `provider` and `scope` (all else that an answer depends on: whether secrets are masked, and how) are in the key with the request; its time
 * limit and the source that is never sent are not.
 */
export function createPaidSummaries(
  cache: SummaryCache,
  runtime: Pick<Runtime, 'sha256' | 'now'>,
  {
    provider,
    scope,
    inFlight = new Map(),
  }: { readonly provider: string; readonly scope: string; readonly inFlight?: InFlight },
): PaidSummaries {
  const keyOf = ({ system, messages, model, max_tokens, temperature }: ModelRequest, ...kind: readonly string[]) =>
    runtime.sha256(JSON.stringify([provider, scope, { system, messages, model, max_tokens, temperature }, ...kind]));
  return {
    find: (request) => cache.find(keyOf(request))?.text ?? null,
    keep: (request, { text, usage }) =>
      cache.keep(keyOf(request), { provider, model: request.model, text, usage, createdAt: runtime.now() }),
    isHalved: (request) => cache.find(keyOf(request, HALVED)) !== null,
    exclusively: async (request, ask) => {
      const key = keyOf(request);
      for (let other = inFlight.get(key); other !== undefined; other = inFlight.get(key)) await other;
      const end = Promise.withResolvers<void>();
      inFlight.set(key, end.promise);
      try {
        return await ask();
      } finally {
        inFlight.delete(key);
        end.resolve();
      }
    },
    keepHalved: (request) =>
      cache.keep(keyOf(request, HALVED), {
        provider,
        model: request.model,
        text: '',
        usage: NOTHING_USED,
        createdAt: runtime.now(),
      }),
  };
}
