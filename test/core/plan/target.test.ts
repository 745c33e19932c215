import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import type { ConversationMessage } from '../../../src/core/message.ts';
import {
  type Candidate,
  chooseRetained,
  type ConversationPlan,
  type PlanSettings,
} from '../../../src/core/plan/plan.ts';
import { entriesOf, planOf } from '../../support/entries.ts';
import { conversations, messages } from '../../support/messages.ts';

type Compact = Extract<ConversationPlan, { kind: 'compact' }>;

function compactPlan(said: readonly ConversationMessage[], settings: Partial<PlanSettings>): Compact {
  const plan = planOf(entriesOf(said), settings);
  if (plan.kind !== 'compact') throw new Error(JSON.stringify(plan));
  return plan;
}

/** A request of so many tokens, which scores less than the answer that follows. */
const turn = (tokens: number): readonly Partial<ConversationMessage>[] => [
  { role: 'user', content: 'x'.repeat(tokens * 4) },
  { role: 'assistant', content: `an error? a bug? ${'y'.repeat(400)}` },
];

const kept = ({ retained, boundary }: Compact, said: readonly ConversationMessage[]): readonly number[] =>
  [...said.keys()].filter((index) => index >= boundary || retained.has(index));

test('under a target the newest requests survive before answers that score more', () => {
  const said = messages(...Array.from({ length: 20 }, () => turn(50)).flat());
  const settings = { keepRecent: 2, targetTokens: 1000, clipTokens: () => 100, keepRecentTokens: 0 };
  const plan = compactPlan(said, settings);
  const requests = [...plan.retained].filter((index) => said[index]?.role === 'user');
  assert.deepEqual(requests, [28, 30, 32, 34, 36]);
});

test('a request larger than a quarter of the target is no reason to let the others go', () => {
  const said = messages(...turn(50), ...turn(50), ...turn(5000), ...turn(50), ...turn(50));
  const plan = compactPlan(said, { keepRecent: 2, targetTokens: 1000, clipTokens: () => 100, keepRecentTokens: 0 });
  const requests = [...plan.retained].filter((index) => said[index]?.role === 'user');
  assert.deepEqual(requests, [0, 2, 6]);
});

test('where even the requests do not fit, the oldest go first', () => {
  const said = messages(...Array.from({ length: 4 }, () => turn(50)).flat(), ...turn(600));
  const settings = { keepRecent: 2, targetTokens: 1000, clipTokens: () => 260, keepRecentTokens: 0 };
  assert.deepEqual([...compactPlan(said, settings).retained], []);
  const more = compactPlan(said, { ...settings, clipTokens: () => 200 });
  assert.deepEqual([...more.retained], [6]);
});

test('a target wins over the tokens of the recent part, and not over its messages', () => {
  const said = messages(
    ...Array.from({ length: 60 }, () => [{ role: 'assistant' as const, content: 'z'.repeat(400) }]).flat(),
  );
  const recent = (targetTokens: number | null): number =>
    said.length - compactPlan(said, { keepRecent: 5, targetTokens, clipTokens: () => 100 }).boundary;
  assert.deepEqual([recent(null), recent(4000), recent(2000), recent(400)], [15, 10, 5, 5]);
});

const cases = fc.record({
  said: conversations,
  keepRecent: fc.nat({ max: 6 }),
  keepRecentTokens: fc.nat({ max: 300 }),
  clip: fc.nat({ max: 60 }),
  targets: fc.tuple(fc.nat({ max: 1500 }), fc.nat({ max: 1500 })).map(([a, b]) => [Math.min(a, b), Math.max(a, b)]),
});

test('a larger target never has a shorter recent part', () => {
  fc.assert(
    fc.property(cases, ({ said, clip, targets, ...limits }) => {
      const boundaries = targets.map((targetTokens) => {
        const plan = planOf(entriesOf(said), { ...limits, targetTokens, clipTokens: () => clip });
        return plan.kind === 'compact' ? plan.boundary : null;
      });
      const [small = null, large = null] = boundaries;
      if (small !== null && large !== null) assert.ok(large <= small);
    }),
  );
});

const candidates = fc.array(
  fc.record({
    score: fc.nat({ max: 20 }),
    tokens: fc.integer({ min: 1, max: 50 }),
    isFixed: fc.nat({ max: 9 }).map((die) => die === 0),
    isRequest: fc.boolean(),
  }),
  { maxLength: 30 },
);

const targets = fc.tuple(candidates, fc.nat({ max: 900 }), fc.nat({ max: 900 })).map(([facts, room, more]) => {
  const older = facts.map((one, at) => ({ ...one, members: [at] }));
  const fixed = older.reduce((sum, { isFixed, tokens }) => sum + (isFixed ? tokens : 0), 0);
  const low = Math.max(200, fixed + 210) + room; // each has room by itself
  return { older, low, high: low + more };
});

function keptOf(older: readonly Candidate[], targetTokens: number): ReadonlySet<number> {
  const unchangedTokens = Number.POSITIVE_INFINITY;
  return chooseRetained({ candidates: older, fixedTokens: 100, unchangedTokens, targetTokens, clipTokens: () => 60 });
}

test('a larger target keeps all answers that a smaller one keeps', () => {
  fc.assert(
    fc.property(targets, ({ older, low, high }) => {
      const answers = older.map((one) => ({ ...one, isRequest: false }));
      const many = keptOf(answers, high);
      for (const index of keptOf(answers, low)) assert.ok(many.has(index), `${index} of ${older.length}`);
    }),
  );
});

test('a larger target keeps as many tokens as a smaller one, up to one group that has no room', () => {
  fc.assert(
    fc.property(targets, ({ older, low, high }) => {
      const tokens = (target: number): number =>
        [...keptOf(older, target)].reduce((sum, index) => sum + (older[index]?.tokens ?? 0), 0);
      assert.ok(tokens(high) >= tokens(low) - Math.max(0, ...older.map((one) => one.tokens)));
    }),
  );
});

test('a group that would not fit even alone drives nothing out', () => {
  const one = (score: number, tokens: number, at: number) => ({
    members: [at],
    score,
    tokens,
    isFixed: false,
    isRequest: false,
  });
  const retained = chooseRetained({
    candidates: [one(1, 100, 0), one(9, 5000, 1), one(2, 100, 2)],
    fixedTokens: 100,
    unchangedTokens: 5300,
    targetTokens: 500,
    clipTokens: () => 100,
  });
  assert.deepEqual([...retained], [0, 2]);
});

test('the result fits the target, or nothing is left that could go', () => {
  fc.assert(
    fc.property(cases, ({ said, clip, targets: [targetTokens = 0], ...limits }) => {
      const entries = entriesOf(said);
      const plan = planOf(entries, { ...limits, targetTokens, clipTokens: () => clip });
      if (plan.kind !== 'compact') return;
      const tokens = kept(plan, said).reduce((sum, index) => sum + (entries[index]?.tokens ?? 0), clip);
      const latest = entries.findLastIndex(({ isPrompt }) => isPrompt === true);
      const isBare = plan.retained.size === (limits.keepRecent > 0 && latest >= 0 && latest < plan.boundary ? 1 : 0);
      assert.ok(tokens <= targetTokens || isBare, `${tokens} of ${targetTokens}`);
    }),
  );
});
