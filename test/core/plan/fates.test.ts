import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { planLines } from '../../../src/core/plan/fates.ts';
import type { LineOutcome } from '../../../src/core/plan/fates.ts';
import type { Entry } from '../../../src/core/transcript.ts';
import { entryOf, planOf, viewOf } from '../../support/entries.ts';
import { conversations, message, talk } from '../../support/messages.ts';

const meta = (line: number, pin?: string): Entry => ({
  line,
  start: 0,
  length: 10,
  kind: 'meta',
  ...(pin === undefined ? {} : { pin }),
});
const blank = (line: number): Entry => ({ line, start: 0, length: 1, kind: 'blank' });
const instruction = (line: number): Entry => ({
  ...entryOf(message({ role: 'system' }), line),
  kind: 'instruction',
  isPrompt: false,
});
const said = (count: number, from: number): readonly Entry[] => talk(count).map((one, at) => entryOf(one, from + at));

function fates(
  entries: readonly Entry[],
  keepRecent: number,
  isChain = false,
): { kinds: string; insertBefore: number | null } {
  const plan = planOf(entries, { keepRecent });
  assert.equal(plan.kind, 'compact');
  const planned = planLines([{ view: viewOf(entries), plan }], [], {
    lineCount: entries.length,
    isChain,
  });
  const letter = ({ kind }: LineOutcome): string => kind.slice(0, 2);
  return { kinds: planned.outcomes.map(letter).join(' '), insertBefore: planned.insertBefore[0] ?? null };
}

test('P8: leading instructions stay first, the clip-archive goes after them', () => {
  assert.deepEqual(fates([instruction(1), ...said(6, 2)], 2), { kinds: 'ke su su su su ke ke', insertBefore: 6 });
});

test('P8: a later instruction survives in its place, after the clip-archive', () => {
  const entries = [...said(4, 1), instruction(5), ...said(4, 6)];
  assert.deepEqual(fates(entries, 2), { kinds: 'su su su su ke su su ke ke', insertBefore: 5 });
});

test('the latest of each kind of meta record stays, earlier ones are marked', () => {
  const entries = [meta(1, 'title'), meta(2, 'mode'), meta(3, 'title'), meta(4), ...said(6, 5)];
  assert.deepEqual(fates(entries, 2), { kinds: 'ma ke ke ma su su su su ke ke', insertBefore: 9 });
});

test('lines in the kept range stay whatever they are', () => {
  const entries = [...said(4, 1), ...said(2, 5), blank(7), meta(8)];
  assert.deepEqual(fates(entries, 2), { kinds: 'su su su su ke ke ke ke', insertBefore: 5 });
});

test('with nothing kept the clip-archive stands after the last line that went', () => {
  assert.deepEqual(fates(said(4, 1), 0), { kinds: 'su su su su', insertBefore: 5 });
});

test('in a chain of parents a survivor leaves its line and stands in the clip-archive', () => {
  const tail = talk(6).map((one, at) => ({ ...entryOf({ ...one, role: 'assistant' }, at + 2), isPrompt: false }));
  const entries = [entryOf(message(), 1), ...tail];
  assert.equal(fates(entries, 2, true).kinds, 'su su su su su ke ke');
  assert.deepEqual(
    planLines([{ view: viewOf(entries), plan: planOf(entries, { keepRecent: 2 }) as never }], [], {
      lineCount: 7,
      isChain: true,
    }).outcomes[0],
    {
      kind: 'survived',
      conversation: 0,
    },
  );
});

test('a blank line between the rows of two conversations stays unless it stands before all that is kept', () => {
  const first = said(4, 1);
  const second = said(4, 6);
  const plans = [first, second].map((entries) => ({
    view: viewOf(entries),
    plan: planOf(entries, { keepRecent: 2 }) as never,
  }));
  const kinds = (line: number): string =>
    planLines(plans, [blank(line)], { lineCount: 12, isChain: false }).outcomes[line - 1]?.kind ?? '';
  assert.deepEqual([kinds(2), kinds(5)], ['marked', 'kept']);
});

test('every line has one outcome, and every message that goes is named by its index', () => {
  fc.assert(
    fc.property(conversations, fc.nat({ max: 8 }), fc.boolean(), (history, keepRecent, isChain) => {
      const entries = history.map((one, at) => entryOf(one, at + 1));
      const plan = planOf(entries, { keepRecent });
      if (plan.kind === 'skip') return;
      const { outcomes } = planLines([{ view: viewOf(entries), plan }], [], { lineCount: entries.length, isChain });
      const going = outcomes.flatMap((one) => (one.kind === 'summarized' ? [one.index] : []));
      assert.deepEqual(
        going.sort((a, b) => a - b),
        plan.chunks.flat().sort((a, b) => a - b),
      );
      assert.equal(outcomes.length, entries.length);
    }),
  );
});
