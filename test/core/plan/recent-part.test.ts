import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import type { ConversationMessage } from '../../../src/core/message.ts';
import { planConversation, type PlanSettings } from '../../../src/core/plan/plan.ts';
import { findGroups, groupInputOf, wholeGroupBoundaries } from '../../../src/core/tool-groups.ts';
import { entriesOf, planOf, planSettings, viewOf } from '../../support/entries.ts';
import { answering, calling, conversations, messages } from '../../support/messages.ts';

/** A message of so many tokens. */
const sized = (role: 'user' | 'assistant', tokens: number): Partial<ConversationMessage> => ({
  role,
  content: 'x'.repeat(tokens * 4),
});

/** A round of tool work: a call, and a result of so many tokens. */
const round = (id: string, tokens: number): readonly Partial<ConversationMessage>[] => [
  calling(id),
  { ...answering(id), content: 'y'.repeat(tokens * 4) },
];

function boundaryOf(said: readonly Partial<ConversationMessage>[], settings: Partial<PlanSettings>): number | null {
  const plan = planOf(entriesOf(messages(...said)), settings);
  return plan.kind === 'compact' ? plan.boundary : null;
}

const sumOf = (said: readonly { readonly tokens?: number }[]): number =>
  said.reduce((sum, { tokens = 0 }) => sum + tokens, 0);

const older = [sized('user', 5000), sized('assistant', 5000)];

test('the recent part grows to the farthest beginning of a request within its tokens', () => {
  const turns = [1, 2, 3].flatMap((turn) => [sized('user', 10), ...round(`a${turn}`, 100), ...round(`b${turn}`, 100)]);
  assert.equal(boundaryOf([...older, ...turns], { keepRecent: 2 }), older.length);
  assert.equal(boundaryOf([...older, ...turns], { keepRecent: 2, keepRecentTokens: 500 }), older.length + 5);
  assert.equal(boundaryOf([...older, ...turns], { keepRecent: 2, keepRecentTokens: 300 }), older.length + 10);
});

test('a request that would take the recent part beyond its tokens is too far: whole groups within them stay', () => {
  const work = Array.from({ length: 40 }, (_, at) => round(`c${at}`, 100)).flat();
  const said = [...older, sized('user', 10), ...work];
  assert.equal(boundaryOf(said, { keepRecent: 5, keepRecentTokens: 1000 }), said.length - 20);
  assert.equal(boundaryOf(said, { keepRecent: 5, keepRecentTokens: 0 }), said.length - 6);
});

test('of a short conversation most is compacted all the same', () => {
  const work = Array.from({ length: 40 }, (_, at) => round(`c${at}`, 100)).flat();
  const boundary = boundaryOf([sized('user', 10), ...work], { keepRecent: 5, keepRecentTokens: 8000 }) ?? 0;
  assert.ok(boundary > 0.7 * work.length, `${boundary} of ${work.length}`);
  const talk = Array.from({ length: 10 }, () => [sized('user', 20), sized('assistant', 200)]).flat();
  assert.equal(boundaryOf(talk, { keepRecent: 3, keepRecentTokens: 8000 }), 16);
});

test('what counts is tokens: a picture of many bytes, pasted into a request, does not decide', () => {
  const work = Array.from({ length: 40 }, (_, at) => round(`c${at}`, 200)).flat();
  const entries = entriesOf(messages(sized('user', 10), ...work.slice(0, 8), sized('user', 10), ...work.slice(8)));
  const pasted = entries.map((entry, at) => (at === 9 ? { ...entry, length: 1_700_000 } : entry));
  assert.deepEqual(planOf(pasted, { keepRecentTokens: 1000 }), planOf(entries, { keepRecentTokens: 1000 }));
});

test('keepRecent 0, where something must stay, keeps no more than keepRecent 1', () => {
  const work = Array.from({ length: 40 }, (_, at) => round(`c${at}`, 500)).flat();
  const view = viewOf(entriesOf(messages(...older, sized('user', 10), ...work, sized('assistant', 10))));
  const boundary = (keepRecent: number): number => {
    const settings = { ...planSettings, keepRecent };
    const plan = planConversation({ view, settings, lastStays: true, cutProblem: () => null });
    return plan.kind === 'compact' ? plan.boundary : -1;
  };
  assert.equal(boundary(0), view.messages.length - 1);
  assert.ok(boundary(0) >= boundary(1));
});

const chosen = fc.record({
  said: conversations,
  keepRecent: fc.nat({ max: 8 }),
  keepRecentTokens: fc.nat({ max: 300 }),
  targetTokens: fc.option(fc.nat({ max: 600 })),
  lastStays: fc.boolean(),
  /** Lines before which the format allows no cut. */
  barred: fc.func(fc.boolean()),
});

test('the recent part begins at a legal cut, parts no group, and takes no more tokens than it may', () => {
  fc.assert(
    fc.property(chosen, ({ said, lastStays, barred, ...limits }) => {
      const entries = entriesOf(said);
      const cutProblem = (line: number): string | null => (barred(line) ? 'not here' : null);
      const plan = (more: Partial<PlanSettings>): ReturnType<typeof planConversation> =>
        planConversation({
          view: viewOf(entries),
          settings: { ...planSettings, ...limits, ...more },
          lastStays,
          cutProblem,
        });
      const grown = plan({});
      const least = plan({ keepRecentTokens: 0 });
      if (grown.kind !== 'compact') return;
      const { boundary } = grown;
      const isWhole = wholeGroupBoundaries(findGroups(said.map(groupInputOf)));
      assert.ok(boundary === said.length || (cutProblem(boundary + 1) === null && isWhole(boundary)));
      assert.ok(said.length - boundary >= limits.keepRecent);
      if (least.kind !== 'compact' || boundary === least.boundary) return;
      assert.ok(boundary < least.boundary);
      const recent = sumOf(entries.slice(boundary));
      const most = Math.min(limits.keepRecentTokens, (limits.targetTokens ?? Number.POSITIVE_INFINITY) / 4);
      // Messages without a word join whatever the limit is.
      assert.ok(recent <= most || recent === sumOf(entries.slice(least.boundary)), `${recent} of ${most}`);
      if (entries[boundary]?.isPrompt === true) return;
      const isNearer = (at: number): boolean =>
        at > boundary && at <= least.boundary && entries[at]?.isPrompt === true && cutProblem(at + 1) === null;
      assert.ok(!entries.some((_, at) => isNearer(at) && isWhole(at)));
    }),
  );
});
