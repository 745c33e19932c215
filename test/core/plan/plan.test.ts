import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { type ConversationPlan, describeMissedTarget, planConversation } from '../../../src/core/plan/plan.ts';
import { findGroups, groupInputOf } from '../../../src/core/tool-groups.ts';
import { entriesOf, planOf, planSettings, viewOf } from '../../support/entries.ts';
import { answering, calling, conversations, messages, talk } from '../../support/messages.ts';

type Compact = Extract<ConversationPlan, { kind: 'compact' }>;

function compactPlan(plan: ConversationPlan): Compact {
  assert.equal(plan.kind, 'compact', JSON.stringify(plan));
  return plan;
}

const settings = fc.record({
  keepRecent: fc.nat({ max: 12 }),
  keepRecentTokens: fc.nat({ max: 100 }),
  chunkSize: fc.integer({ min: 1, max: 9 }),
  targetTokens: fc.option(fc.nat({ max: 400 })),
  chunkOrder: fc.constantFrom('importance' as const, 'chronological' as const),
});

test('P7: of chat lines with prompts the cut stands before a prompt, and at least keepRecent messages stay', () => {
  const plan = compactPlan(planOf(entriesOf(talk(21)), { keepRecent: 4 }));
  assert.equal(plan.boundary, 16);
});

test('P7: one prompt and hours of tool work are cut inside the turn, before a whole group, and P6 keeps the prompt', () => {
  const work = Array.from({ length: 30 }, (_, at) => [calling(`c${at}`), answering(`c${at}`)]).flat();
  const entries = entriesOf(messages({ content: 'do it all' }, ...work));
  const plan = compactPlan(planOf(entries, { keepRecent: 5, keepRecentTokens: 0 }));
  assert.equal(plan.boundary, 55);
  assert.deepEqual([...plan.retained], [0]);
});

test('P4: an orphan result is no reason to part a group', () => {
  const said = messages(
    {},
    calling('a', 'b'),
    answering('a'),
    { role: 'assistant' },
    answering('b'),
    {},
    { role: 'assistant' },
  );
  const plan = planOf(entriesOf(said), { keepRecent: 3 });
  assert.equal(compactPlan(plan).boundary, 1);
});

test('P6: with keepRecent 0 nothing stays, not even the latest prompt', () => {
  const plan = compactPlan(planOf(entriesOf(talk(6)), { keepRecent: 0 }));
  assert.deepEqual({ boundary: plan.boundary, retained: [...plan.retained] }, { boundary: 6, retained: [] });
});

test('P7: keepRecent 0 in a chain keeps the last legal turn and says so', () => {
  const view = viewOf(entriesOf(talk(6)));
  const plan = compactPlan(
    planConversation({ view, settings: { ...planSettings, keepRecent: 0 }, lastStays: true, cutProblem: () => null }),
  );
  assert.equal(plan.boundary, 4);
  assert.equal(plan.notes.length, 1);
});

test('P7: where no cut is legal the plan says why and changes nothing', () => {
  const view = viewOf(entriesOf(talk(20)));
  const plan = planConversation({
    view,
    settings: planSettings,
    lastStays: true,
    cutProblem: () => 'its parent is elsewhere',
  });
  assert.deepEqual(plan, { kind: 'skip', reason: 'no-legal-cut', detail: 'its parent is elsewhere' });
});

test('P1: no more messages than stay anyway is nothing to do', () => {
  assert.equal(planOf(entriesOf(talk(5)), { keepRecent: 5 }).kind, 'skip');
});

test('a target lets the lowest-scored groups go first and stops as soon as the result fits', () => {
  const said = messages(
    { content: `an error and a bug to fix? ${'x'.repeat(400)}` },
    { role: 'assistant', content: 'y'.repeat(400) },
    { content: 'z'.repeat(400) },
    { role: 'assistant', content: 'w'.repeat(400) },
    { content: 'last' },
  );
  const plan = compactPlan(planOf(entriesOf(said), { keepRecent: 1, targetTokens: 300, clipTokens: () => 10 }));
  assert.deepEqual([...plan.retained], [0, 2]);
});

test('a target counts the summary that stands there already', () => {
  const said = messages(
    { role: 'system', content: 's'.repeat(1200) },
    ...Array.from({ length: 4 }, () => ({ content: 'x'.repeat(400) })),
  );
  const view = viewOf(entriesOf(said), 1);
  const plan = compactPlan(
    planConversation({
      view,
      settings: { ...planSettings, keepRecent: 1, targetTokens: 450, clipTokens: () => 100 },
      lastStays: false,
      cutProblem: () => null,
    }),
  );
  assert.deepEqual([view.messages.length, [...plan.retained], plan.chunks], [4, [1, 2], [[0]]]);
});

test('a message that would hide a summary before it is the first that goes for a target', () => {
  const entries = entriesOf(talk(9)).map((entry, at) => (at === 5 ? { ...entry, hidesBefore: true } : entry));
  const tokens = entries.reduce((sum, entry) => sum + (entry.tokens ?? 0), 0);
  const plan = compactPlan(planOf(entries, { keepRecent: 2, targetTokens: tokens - 1, clipTokens: () => 0 }));
  assert.deepEqual(plan.chunks, [[5]]);
});

test('C1: inside a chunk messages stand in the order in which they were said', () => {
  fc.assert(
    fc.property(conversations, settings, (said, chosen) => {
      const plan = planOf(entriesOf(said), chosen);
      if (plan.kind === 'skip') return;
      for (const chunk of plan.chunks)
        assert.deepEqual(
          chunk,
          [...chunk].sort((a, b) => a - b),
        );
    }),
  );
});

test('P5: what goes, what survives and what is recent are the history, each message once', () => {
  fc.assert(
    fc.property(conversations, settings, (said, chosen) => {
      const plan = planOf(entriesOf(said), chosen);
      if (plan.kind === 'skip') return;
      const recent = said.slice(plan.boundary).map((_, at) => plan.boundary + at);
      const all = [...plan.chunks.flat(), ...plan.retained, ...recent].sort((a, b) => a - b);
      assert.deepEqual(all, [...said.keys()]);
    }),
  );
});

test('no group is parted for any input, any keep_recent and any target', () => {
  fc.assert(
    fc.property(conversations, settings, (said, chosen) => {
      const plan = planOf(entriesOf(said), chosen);
      if (plan.kind === 'skip') return;
      const going = new Set(plan.chunks.flat());
      for (const [index, first] of findGroups(said.map(groupInputOf)).entries())
        assert.equal(going.has(index), going.has(first));
    }),
  );
});

test('P6: the latest prompt never goes unless keepRecent is 0', () => {
  fc.assert(
    fc.property(conversations, settings, (said, chosen) => {
      const entries = entriesOf(said);
      const plan = planOf(entries, { ...chosen, keepRecent: chosen.keepRecent + 1 });
      if (plan.kind === 'skip') return;
      assert.equal(plan.chunks.flat().includes(entries.findLastIndex((entry) => entry.isPrompt)), false);
    }),
  );
});

test('P1: at least keepRecent messages stay', () => {
  fc.assert(
    fc.property(conversations, settings, (said, chosen) => {
      const plan = planOf(entriesOf(said), chosen);
      if (plan.kind === 'compact') assert.ok(said.length - plan.boundary >= chosen.keepRecent);
    }),
  );
});

test('a pinned message stays with its group, whatever the target, and the others are chosen around it', () => {
  fc.assert(
    fc.property(conversations, settings, fc.nat(), (said, chosen, any) => {
      const entries = entriesOf(said);
      const pin = any % said.length;
      const given = { view: viewOf(entries), settings: { ...planSettings, ...chosen } };
      const plan = planConversation({ ...given, lastStays: false, cutProblem: () => null, pinned: new Set([pin]) });
      if (plan.kind === 'skip') return;
      const groups = findGroups(said.map(groupInputOf));
      const group = [...said.keys()].filter((index) => groups[index] === groups[pin]);
      assert.ok(group.every((index) => index >= plan.boundary || plan.retained.has(index)));
      const plain = planOf(entries, chosen);
      assert.equal(plain.kind === 'compact' && plain.boundary, plan.boundary);
    }),
  );
});

test('a missed target names the pinned messages that stay, and so does a skip', () => {
  const view = viewOf(entriesOf(talk(12)));
  const planWith = (pinned: ReadonlySet<number>) =>
    planConversation({
      view,
      settings: { ...planSettings, keepRecent: 1, keepRecentTokens: 0, targetTokens: 1, clipTokens: () => 0 },
      lastStays: false,
      cutProblem: () => null,
      pinned,
    });
  const given = { tokensAfter: 11, targetTokens: 1, hasPins: true };
  const missed = describeMissedTarget(view, compactPlan(planWith(new Set([0, 1, 2]))), given);
  assert.match(missed ?? '', /missed by 10: the latest request with what is pinned, which stays, has /);
  const detail = 'only what is pinned, or the latest prompt, is older than the recent messages';
  assert.deepEqual(planWith(new Set(Array(12).keys())), { kind: 'skip', reason: 'too-short', detail });
});
