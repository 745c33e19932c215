import type { ModelRequest, ModelUsage } from '../../core/model-request.ts';
import type { SummaryCache } from '../../ports/archive.ts';
import type { Runtime } from '../../ports/runtime.ts';

/** Remembers the summaries that were paid for at one provider, by request. */
export type PaidSummaries = {
  /** Identifies a request: sha256, hex. */
  readonly keyOf: (request: ModelRequest) => string;
  readonly find: (request: ModelRequest) => Promise<string | null>;
  readonly keep: (
    request: ModelRequest,
    summary: { readonly text: string; readonly usage: ModelUsage },
  ) => Promise<void>;
  /** Whether the request failed before and its halves succeeded: asking for it again would cost, and could end differently. */
  readonly isHalved: (request: ModelRequest) => Promise<boolean>;
  readonly keepHalved: (request: ModelRequest) => Promise<void>;
  /** Waits until no other call in this run asks for the same, so that it is not paid twice. */
  readonly exclusively: <T>(request: ModelRequest, ask: () => Promise<T>) => Promise<T>;
};

/** The key under which a service's summaries are remembered. `scope`: whatever else an answer depends on, such as masking. */
export type PaidAs = {
  readonly provider: string;
  readonly scope: string;
  /** Whether the model is asked again for what it was paid for in an earlier run. */
  readonly asksAgain?: boolean;
};

/** Running requests by key, with a promise for the end of each. */
export type InFlight = Map<string, Promise<void>>;

const HALVED = 'halved';
const NOTHING_USED: ModelUsage = { input_tokens: 0, output_tokens: 0 };

/**
 * The key contains `provider`, `scope` and the request, but not its time limit or the source, which is never sent.
 */
export function createPaidSummaries(
  cache: SummaryCache,
  runtime: Pick<Runtime, 'sha256' | 'now'>,
  { provider, scope, asksAgain = false, inFlight = new Map() }: PaidAs & { inFlight?: InFlight },
): PaidSummaries {
  /** What was answered since this was created: one run pays for a request only once. */
  const answered = new Set<string>();
  const find = async (key: string) => (asksAgain && !answered.has(key) ? null : await cache.find(key));
  const keep: SummaryCache['keep'] = async (key, summary) => {
    await cache.keep(key, summary);
    answered.add(key);
  };
  const keyOf = ({ system, messages, model, max_tokens, temperature }: ModelRequest, ...kind: readonly string[]) =>
    runtime.sha256(JSON.stringify([provider, scope, { system, messages, model, max_tokens, temperature }, ...kind]));
  return {
    keyOf: (request) => keyOf(request),
    find: async (request) => (await find(keyOf(request)))?.text ?? null,
    keep: (request, { text, usage }) =>
      keep(keyOf(request), { provider, model: request.model, text, usage, createdAt: runtime.now() }),
    isHalved: async (request) => (await find(keyOf(request, HALVED))) !== null,
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
      keep(keyOf(request, HALVED), {
        provider,
        model: request.model,
        text: '',
        usage: NOTHING_USED,
        createdAt: runtime.now(),
      }),
  };
}
