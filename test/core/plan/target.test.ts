import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import type { ConversationMessage } from '../../../src/core/message.ts';
import type { ConversationPlan, PlanSettings } from '../../../src/core/plan/plan.ts';
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

const kept = ({ survivors, boundary }: Compact, said: readonly ConversationMessage[]): readonly number[] =>
  [...said.keys()].filter((index) => index >= boundary || survivors.has(index));

test('under a target the newest requests survive before answers that score more', () => {
  const said = messages(...Array.from({ length: 20 }, () => turn(50)).flat());
  const settings = { keepRecent: 2, targetTokens: 1000, clipTokens: () => 100, keepRecentTokens: 0 };
  const plan = compactPlan(said, settings);
  const requests = [...plan.survivors].filter((index) => said[index]?.role === 'user');
  assert.deepEqual(requests, [28, 30, 32, 34, 36]);
});

test('a request larger than a quarter of the target is no reason to let the others go', () => {
  const said = messages(...turn(50), ...turn(50), ...turn(5000), ...turn(50), ...turn(50));
  const plan = compactPlan(said, { keepRecent: 2, targetTokens: 1000, clipTokens: () => 100, keepRecentTokens: 0 });
  const requests = [...plan.survivors].filter((index) => said[index]?.role === 'user');
  assert.deepEqual(requests, [0, 2, 6]);
});

test('where even the requests do not fit, the oldest go first', () => {
  const said = messages(...Array.from({ length: 4 }, () => turn(50)).flat(), ...turn(600));
  const settings = { keepRecent: 2, targetTokens: 1000, clipTokens: () => 260, keepRecentTokens: 0 };
  assert.deepEqual([...compactPlan(said, settings).survivors], []);
  const more = compactPlan(said, { ...settings, clipTokens: () => 200 });
  assert.deepEqual([...more.survivors], [6]);
});

test('a target wins over the tokens of the recent part, and not over its messages', () => {
  const said = messages(
    ...Array.from({ length: 60 }, () => [{ role: 'assistant' as const, content: 'z'.repeat(400) }]).flat(),
  );
  const recent = (targetTokens: number | null): number =>
    said.length - compactPlan(said, { keepRecent: 5, targetTokens, clipTokens: () => 100 }).boundary;
  assert.deepEqual([recent(null), recent(4000), recent(2000), recent(400)], [18, 10, 5, 5]);
});

const cases = fc.record({
  said: conversations,
  keepRecent: fc.nat({ max: 6 }),
  keepRecentTokens: fc.nat({ max: 300 }),
  clip: fc.nat({ max: 60 }),
  targets: fc.tuple(fc.nat({ max: 1500 }), fc.nat({ max: 1500 })).map(([a, b]) => [Math.min(a, b), Math.max(a, b)]),
});

test('a larger target never has a shorter recent part, and with the same one never fewer survivors', () => {
  fc.assert(
    fc.property(cases, ({ said, clip, targets: [low = 0, high = 0], ...limits }) => {
      const entries = entriesOf(said);
      // One request larger than the smaller quarter could push others out: those are another case (above).
      fc.pre(entries.every(({ tokens = 0, isPrompt }) => isPrompt !== true || tokens <= low / 4));
      const plan = (targetTokens: number): ConversationPlan =>
        planOf(entries, { ...limits, targetTokens, clipTokens: () => clip });
      const small = plan(low);
      const large = plan(high);
      if (small.kind !== 'compact' || large.kind !== 'compact') return;
      assert.ok(large.boundary <= small.boundary);
      if (large.boundary !== small.boundary) return;
      const staying = new Set(kept(large, said));
      for (const index of kept(small, said)) assert.ok(staying.has(index), `${index} of ${said.length}`);
    }),
  );
});

test('the result fits the target, or nothing is left that could go', () => {
  fc.assert(
    fc.property(cases, ({ said, clip, targets: [targetTokens = 0], ...limits }) => {
      const entries = entriesOf(said);
      const plan = planOf(entries, { ...limits, targetTokens, clipTokens: () => clip });
      if (plan.kind !== 'compact') return;
      const tokens = kept(plan, said).reduce((sum, index) => sum + (entries[index]?.tokens ?? 0), clip);
      const latest = entries.findLastIndex(({ isPrompt }) => isPrompt === true);
      const isBare = plan.survivors.size === (limits.keepRecent > 0 && latest >= 0 && latest < plan.boundary ? 1 : 0);
      assert.ok(tokens <= targetTokens || isBare, `${tokens} of ${targetTokens}`);
    }),
  );
});
