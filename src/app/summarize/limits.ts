import type { Price } from '../../ports/model.ts';
import type { Runtime } from '../../ports/runtime.ts';
import { costOf } from './usage.ts';

/** What a service allows per minute; null: no limit. */
export type RateLimits = {
  readonly requestsPerMinute: number | null;
  readonly inputTokensPerMinute: number | null;
  readonly outputTokensPerMinute: number | null;
};

export type Spending = { readonly inputTokens: number; readonly outputTokens: number };

/** `onWait` is called before each wait. */
type Waiting = { readonly signal?: AbortSignal; readonly onWait?: (ms: number) => void };

/** Enforces the limits of a service for everything that runs at the same time. */
export type RateLimiter = {
  /** Waits its turn until there is room for a request; gives the milliseconds waited. */
  readonly take: (expected: Spending, how?: Waiting) => Promise<number>;
  /** Returns what was reserved and not used. */
  readonly giveBack: (unused: Spending) => void;
};

/** Token buckets that hold a minute's worth. A request larger than a bucket goes out when the bucket is full. */
export function createRateLimiter(runtime: Pick<Runtime, 'now' | 'sleep'>, limits: RateLimits): RateLimiter {
  const requests = createBucket(runtime, limits.requestsPerMinute);
  const input = createBucket(runtime, limits.inputTokensPerMinute);
  const output = createBucket(runtime, limits.outputTokensPerMinute);
  const line = { last: Promise.resolve() };
  const wait = async ({ inputTokens, outputTokens }: Spending, { signal, onWait }: Waiting = {}): Promise<number> => {
    const ms = Math.max(requests.msUntil(1), input.msUntil(inputTokens), output.msUntil(outputTokens));
    if (ms > 0) {
      onWait?.(ms);
      await runtime.sleep(ms, signal);
    }
    requests.spend(1);
    input.spend(inputTokens);
    output.spend(outputTokens);
    return ms;
  };
  return {
    take: (expected, how) => {
      const turn = line.last.then(() => wait(expected, how));
      line.last = turn.then(() => undefined);
      return turn;
    },
    giveBack: ({ inputTokens, outputTokens }) => {
      input.spend(-inputTokens);
      output.spend(-outputTokens);
    },
  };
}

const MINUTE_MS = 60_000;

function createBucket(runtime: Pick<Runtime, 'now'>, perMinute: number | null) {
  if (perMinute === null) return { msUntil: () => 0, spend: () => undefined };
  const state = { level: perMinute, atMs: runtime.now().getTime() };
  const fill = (): void => {
    const nowMs = runtime.now().getTime();
    state.level = Math.min(perMinute, state.level + (Math.max(0, nowMs - state.atMs) * perMinute) / MINUTE_MS);
    state.atMs = nowMs;
  };
  return {
    msUntil: (amount: number) => {
      fill();
      const missing = Math.min(amount, perMinute) - state.level;
      return missing <= 0 ? 0 : Math.ceil((missing * MINUTE_MS) / perMinute);
    },
    spend: (amount: number) => {
      fill();
      state.level = Math.min(perMinute, state.level - amount);
    },
  };
}

/** Stops calling a model after too many failed compactions in a row (L6). */
export type Breaker = {
  readonly isOpen: () => boolean;
  readonly record: (outcome: 'success' | 'failure') => void;
};

export function createBreaker(maxConsecutiveFailures: number): Breaker {
  let failures = 0;
  return {
    isOpen: () => failures >= maxConsecutiveFailures,
    record: (outcome) => {
      failures = outcome === 'success' ? 0 : failures + 1;
    },
  };
}

/** What a run spends at most. */
export type Budget = {
  /** Reserves what a call may cost. It waits for the other calls if their real costs decide. Null: there is room; else why there is none, and never will be. */
  readonly reserve: (expected: Spending) => Promise<Refusal | null>;
  /** Ends a call: what it used instead of what was reserved. */
  readonly settle: (expected: Spending, used: Spending) => void;
};

type Refusal = { readonly limit: number; readonly spent: number; readonly next: number };

/** For everything that runs at the same time. Once it has refused a call, it refuses all: a smaller one would only delay the end of the run. */
export function createBudget(limit: number, price: Price): Budget {
  const state: { spent: number; reserved: number; calls: number; refusal: Refusal | null } = {
    spent: 0,
    reserved: 0,
    calls: 0,
    refusal: null,
  };
  const waiting: (() => void)[] = [];
  const cost = (spending: Spending): number => costOf(spending, price) ?? 0;
  return {
    reserve: async (expected) => {
      const next = cost(expected);
      while (state.refusal === null && state.spent + state.reserved + next > limit) {
        if (state.calls === 0) state.refusal = { limit, spent: state.spent, next };
        else await new Promise<void>((resolve) => waiting.push(resolve));
      }
      if (state.refusal !== null) return state.refusal;
      state.calls += 1;
      state.reserved += next;
      return null;
    },
    settle: (expected, used) => {
      state.calls -= 1;
      // Sums of fractions drift.
      state.reserved = state.calls === 0 ? 0 : state.reserved - cost(expected);
      state.spent += cost(used);
      for (const wake of waiting.splice(0)) wake();
    },
  };
}
