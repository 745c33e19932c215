import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { type LineOutcome, planLines } from '../../../src/core/plan/line-outcomes.ts';
import { planConversation } from '../../../src/core/plan/plan.ts';
import { viewConversation } from '../../../src/core/plan/view.ts';
import type { Entry } from '../../../src/core/transcript.ts';
import { entryOf, planOf, planSettings, viewOf } from '../../support/entries.ts';
import { conversations, message, talk } from '../../support/messages.ts';

const meta = (line: number, latestKey?: string): Entry => ({
  line,
  start: 0,
  length: 10,
  kind: 'meta',
  ...(latestKey === undefined ? {} : { latestKey }),
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
  const plan = planOf(entries, { keepRecent, keepRecentTokens: 0 });
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

test('the latest of each kind of meta record stays, earlier ones go', () => {
  const entries = [meta(1, 'title'), meta(2, 'mode'), meta(3, 'title'), meta(4), ...said(6, 5)];
  assert.deepEqual(fates(entries, 2), { kinds: 'ot ke ke ot su su su su ke ke', insertBefore: 9 });
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
  assert.equal(fates(entries, 2, true).kinds, 'qu su su su su ke ke');
  assert.deepEqual(
    planLines([{ view: viewOf(entries), plan: planOf(entries, { keepRecent: 2, keepRecentTokens: 0 }) as never }], [], {
      lineCount: 7,
      isChain: true,
    }).outcomes[0],
    {
      kind: 'quoted',
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
  assert.deepEqual([kinds(2), kinds(5)], ['other', 'kept']);
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

const headerAt = (line: number): Entry => ({ line, start: 0, length: 10, kind: 'header' });

/** The outcome of every line where records go with messages (`companions`: line to line) or must go. */
function fatesWith(
  entries: readonly Entry[],
  rules: {
    readonly companions?: Readonly<Record<number, number>>;
    readonly gone?: readonly number[];
    readonly stale?: readonly number[];
    readonly summaryStandsFirst?: boolean;
    readonly retained?: readonly number[];
  },
): { kinds: string; insertBefore: number | null } {
  const { companions = {}, gone = [], stale = [], summaryStandsFirst = false, retained = [] } = rules;
  const view = viewConversation({
    entries,
    priorLine: null,
    isStale: ({ line }) => stale.includes(line),
    carried: [],
    keepSystem: true,
    anchorOf: ({ line }) => companions[line] ?? null,
    mustDrop: ({ line }) => gone.includes(line),
  });
  const plan = planConversation({
    view,
    settings: { ...planSettings, keepRecent: 2 },
    lastStays: false,
    cutProblem: () => null,
  });
  assert.ok(plan.kind === 'compact');
  const chosen = { ...plan, retained: new Set([...plan.retained, ...retained]) };
  const { outcomes, insertBefore } = planLines([{ view, plan: chosen }], [], {
    lineCount: entries.length,
    isChain: false,
    summaryStandsFirst,
  });
  return { kinds: outcomes.map(({ kind }) => kind.slice(0, 2)).join(' '), insertBefore: insertBefore[0] ?? null };
}

test('a header stays, and the summary stands after it though nothing else is kept before the cut', () => {
  const entries = [headerAt(1), ...said(4, 2), ...said(2, 6)];
  assert.deepEqual(fatesWith(entries, { summaryStandsFirst: true }), {
    kinds: 'ke su su su su ke ke',
    insertBefore: 6,
  });
  assert.deepEqual(fates([...said(4, 1), headerAt(5)], 0), { kinds: 'su su su su ke', insertBefore: 6 });
});

test('where something that is said stays before a late header, the summary does not hide it', () => {
  const entries = [instruction(1), ...said(4, 2), headerAt(6), ...said(2, 7)];
  assert.deepEqual(fatesWith(entries, { summaryStandsFirst: true }), {
    kinds: 'ke su su su su ke ke ke',
    insertBefore: 1,
  });
});

test('where the producer forgets what stands before a summary, it stands before leading instructions', () => {
  const entries = [headerAt(1), meta(2), instruction(3), ...said(6, 4)];
  assert.deepEqual(fatesWith(entries, { summaryStandsFirst: true }), {
    kinds: 'ke ot ke su su su su ke ke',
    insertBefore: 3,
  });
});

test('a record that goes with a message has its fate, on either side of the cut', () => {
  const entries = [meta(1), ...said(4, 2), meta(6), meta(7), ...said(2, 8), meta(10)];
  assert.deepEqual(
    fatesWith(entries, { companions: { 1: 8, 6: 8, 7: 5, 10: 4 } }).kinds,
    'ke su su su su ke ot ke ke ot',
  );
});

test('the first line that stays may be a record that goes with the first kept message', () => {
  const entries = [headerAt(1), ...said(4, 2), meta(6), ...said(2, 7)];
  assert.equal(fatesWith(entries, { companions: { 6: 7 }, summaryStandsFirst: true }).insertBefore, 6);
});

test('what goes with a survivor survives, what goes with the others does not', () => {
  const entries = [meta(1), ...said(4, 2), meta(6), ...said(2, 7)];
  assert.equal(fatesWith(entries, { companions: { 1: 2, 6: 3 }, retained: [0] }).kinds, 'ke ke su su su ot ke ke');
});

test('what goes with a stale message goes with it, before that message too', () => {
  const entries = [meta(1), ...said(1, 2), ...said(6, 3)];
  assert.equal(fatesWith(entries, { companions: { 1: 2 }, stale: [2] }).kinds, 'ot ot su su su su ke ke');
});

test('what must go goes from the kept part, and is not the latest of its kind', () => {
  const entries = [meta(1, 'mode'), ...said(4, 2), meta(6), ...said(2, 7), meta(9, 'mode')];
  assert.equal(fatesWith(entries, { gone: [6, 9] }).kinds, 'ke su su su su ot ke ke ot');
});

test('a stale instruction does not stay', () => {
  const entries = [instruction(1), ...said(6, 2)];
  assert.equal(fatesWith(entries, { stale: [1] }).kinds, 'ot su su su su ke ke');
});

test('where the last element of a list goes the summary stands at the end of the list: nothing may follow a comma', () => {
  const entries = said(6, 2).map((entry): Entry => ({ ...entry, list: 1 }));
  const frame: Entry = { line: 1, start: 0, length: 1, kind: 'header', list: 1 };
  const all = [frame, ...entries, { ...frame, line: 8 }];
  const rules = { priorLine: null, isStale: () => false, carried: [], keepSystem: true };
  const view = viewConversation({ entries: all, ...rules });
  const reversed = viewConversation({ entries: all, ...rules, orderOf: ({ line }) => -line });
  const insertBefore = (one: typeof view): number | null => {
    const settings = { ...planSettings, keepRecent: 2 };
    const plan = planConversation({ view: one, settings, lastStays: true, cutProblem: () => null });
    assert.equal(plan.kind, 'compact');
    return planLines([{ view: one, plan }], [], { lineCount: all.length, isChain: true }).insertBefore[0] ?? null;
  };
  assert.deepEqual([insertBefore(view), insertBefore(reversed)], [6, 8]);
});
