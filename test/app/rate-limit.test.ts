import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRateLimiter, type RateLimits, type Spending } from '../../src/app/summarize/limits.ts';

/** A clock that a sleep sets forward. */
function fakeClock(): {
  readonly now: () => Date;
  readonly sleep: (ms: number) => Promise<void>;
  readonly ms: () => number;
} {
  const state = { ms: 0 };
  return {
    now: () => new Date(state.ms),
    sleep: async (ms) => {
      state.ms += ms;
    },
    ms: () => state.ms,
  };
}

const NONE: RateLimits = { requestsPerMinute: null, inputTokensPerMinute: null, outputTokensPerMinute: null };
const small: Spending = { inputTokens: 100, outputTokens: 10 };

async function timesOf(limits: Partial<RateLimits>, spendings: readonly Spending[]): Promise<readonly number[]> {
  const clock = fakeClock();
  const limiter = createRateLimiter(clock, { ...NONE, ...limits });
  const times: number[] = [];
  for (const spending of spendings) {
    await limiter.take(spending);
    times.push(clock.ms());
  }
  return times;
}

test('without limits nothing waits', async () => {
  assert.deepEqual(await timesOf({}, [small, small, small]), [0, 0, 0]);
});

test('a minute’s requests may leave at once, the others as the minute goes on', async () => {
  assert.deepEqual(await timesOf({ requestsPerMinute: 2 }, [small, small, small, small]), [0, 0, 30_000, 60_000]);
});

test('tokens count by their own limits, and the one that is short decides', async () => {
  assert.deepEqual(await timesOf({ inputTokensPerMinute: 100, requestsPerMinute: 100 }, [small, small]), [0, 60_000]);
  assert.deepEqual(
    await timesOf({ inputTokensPerMinute: 1e6, outputTokensPerMinute: 20 }, [small, small, small]),
    [0, 0, 30_000],
  );
});

test('a request that is larger than a minute’s worth leaves when nothing of the minute was used, and is paid off after', async () => {
  const huge = { inputTokens: 300, outputTokens: 0 };
  assert.deepEqual(await timesOf({ inputTokensPerMinute: 100 }, [huge, small]), [0, 180_000]);
});

test('what was expected and not used is there for others', async () => {
  const clock = fakeClock();
  const limiter = createRateLimiter(clock, { ...NONE, outputTokensPerMinute: 1000 });
  await limiter.take({ inputTokens: 0, outputTokens: 1000 });
  limiter.giveBack({ inputTokens: 0, outputTokens: 900 });
  assert.equal(await limiter.take({ inputTokens: 0, outputTokens: 900 }), 0);
  assert.equal(await limiter.take({ inputTokens: 0, outputTokens: 100 }), 6000);
});

test('those that ask at the same time are served in the order in which they asked', async () => {
  const clock = fakeClock();
  const limiter = createRateLimiter(clock, { ...NONE, requestsPerMinute: 1 });
  const order: number[] = [];
  const ask = async (at: number): Promise<void> => {
    await limiter.take(small);
    order.push(at, clock.ms());
  };
  await Promise.all([0, 1, 2].map(ask));
  assert.deepEqual(order, [0, 0, 1, 60_000, 2, 120_000]);
});

test('a clock that goes back fills no bucket and empties none', async () => {
  const state = { ms: 100_000 };
  const limiter = createRateLimiter(
    { now: () => new Date(state.ms), sleep: async (ms) => void (state.ms += ms) },
    { ...NONE, requestsPerMinute: 2 },
  );
  await limiter.take(small);
  state.ms = 0;
  assert.equal(await limiter.take(small), 0);
  assert.equal(await limiter.take(small), 30_000);
});

test('a wait is announced before it begins, and only if there is one', async () => {
  const clock = fakeClock();
  const limiter = createRateLimiter(clock, { ...NONE, requestsPerMinute: 1 });
  const told: (readonly [number, number])[] = [];
  const onWait = (ms: number): void => void told.push([ms, clock.ms()]);
  await limiter.take(small, { onWait });
  await limiter.take(small, { onWait });
  assert.deepEqual(told, [[60_000, 0]]);
});
