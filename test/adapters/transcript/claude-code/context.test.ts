import assert from 'node:assert/strict';
import test from 'node:test';
import * as fc from 'fast-check';
import type { Entry } from '../../../../src/core/transcript.ts';
import type { CutProblem, Json } from '../../../../src/ports/codec.ts';
import { assistantRecord, legalLines, readFixture, readRecords, record, userRecord } from './records.ts';
import { sessions } from './sessions.ts';
import { runsOf } from '../../../support/runs.ts';

/** The prior summary's line and the stale lines. */
function contextOf(values: readonly Json[]): { readonly prior: number | null; readonly stale: readonly number[] } {
  const { session, entries } = readRecords(values);
  const view = session.readContext(entries);
  return { prior: view.priorLine, stale: entries.filter(view.isStale).map(({ line }) => line) };
}

const boundary = (metadata: Json = {}): Json =>
  record('system', { subtype: 'compact_boundary', uuid: 'b', compactMetadata: metadata });
const summary = (text: string): Json => userRecord(text, { isCompactSummary: true });
const said = (uuid: string): Json => userRecord(uuid, { uuid });

test('a session that was never compacted is in context, whole', () => {
  assert.deepEqual(contextOf(readFixture('session.jsonl')), { prior: null, stale: [] });
});

test('what stands before the last boundary is stale, the summary after it is the prior one', () => {
  assert.deepEqual(contextOf(readFixture('producer-compaction.jsonl')), { prior: 6, stale: [1, 2, 3, 4] });
});

test('the preserved segment stays in context though it stands before the boundary', () => {
  assert.deepEqual(contextOf(readFixture('preserved-segment.jsonl')), { prior: 6, stale: [1, 2] });
});

test('messages of a side thread are stale wherever they stand', () => {
  assert.deepEqual(contextOf(readFixture('side-thread-inline.jsonl')), { prior: null, stale: [3, 4] });
});

test('of two compactions the last decides, and the older summary is stale', () => {
  assert.deepEqual(
    contextOf([said('1'), boundary(), summary('one'), said('4'), boundary(), summary('two'), said('7')]),
    {
      prior: 6,
      stale: [1, 3, 4],
    },
  );
});

test('of three compactions, one without metadata, the last decides, and the messages that it lists stay in context', () => {
  // Lines 14 and 15 are listed; a microcompact boundary stands at line 13.
  assert.deepEqual(contextOf(readFixture('three-compactions.jsonl')), {
    prior: 17,
    stale: [3, 4, 6, 7, 8, 10, 11, 12],
  });
});

test('messages between a boundary and its summary are in context', () => {
  assert.deepEqual(contextOf([said('1'), boundary(), said('3'), summary('one')]), { prior: 4, stale: [1] });
});

test('a summary that lost its boundary ends the context before it all the same', () => {
  assert.deepEqual(contextOf([said('1'), summary('one'), said('3')]), { prior: 2, stale: [1] });
  assert.deepEqual(contextOf([boundary(), summary('one'), said('3'), summary('two')]), { prior: 4, stale: [2, 3] });
});

test('a boundary that lost its summary leaves the older one as the prior summary', () => {
  assert.deepEqual(contextOf([boundary(), summary('one'), said('3'), boundary(), said('5')]), { prior: 2, stale: [3] });
});

test('a preserved segment that is not in the file, or runs backwards, preserves nothing', () => {
  const kept = (headUuid: string, tailUuid: string): Json =>
    boundary({ preservedSegment: { headUuid, anchorUuid: 's', tailUuid } });
  assert.deepEqual(contextOf([said('1'), said('2'), kept('1', 'gone'), summary('s')]).stale, [1, 2]);
  assert.deepEqual(contextOf([said('1'), said('2'), kept('2', '1'), summary('s')]).stale, [1, 2]);
  assert.deepEqual(contextOf([said('1'), said('2'), kept('2', '2'), summary('s')]).stale, [1]);
});

test('records that are no messages are never stale', () => {
  assert.deepEqual(contextOf([record('system', { uuid: 'x' }), { type: 'mode' }, boundary(), summary('s')]).stale, []);
});

test("a subagent's own compaction leaves the conversation in context", () => {
  const side = { isSidechain: true };
  const records = [
    said('1'),
    record('system', { subtype: 'compact_boundary', uuid: 'b', ...side }),
    userRecord('continued', { isCompactSummary: true, ...side }),
    assistantRecord('done', { uuid: '4' }),
  ];
  assert.deepEqual(contextOf(records), { prior: null, stale: [3] });
});

test("in a subagent's own file its thread is the conversation, and its compaction counts", () => {
  const side = { isSidechain: true };
  const records = [
    userRecord('1', { uuid: '1', ...side }),
    record('system', { subtype: 'compact_boundary', uuid: 'b', ...side }),
    userRecord('continued', { isCompactSummary: true, uuid: 's', parentUuid: 'b', ...side }),
    assistantRecord('done', { uuid: '4', parentUuid: 's', ...side }),
  ];
  assert.deepEqual(contextOf(records), { prior: 3, stale: [1] });
  assert.deepEqual(contextOf(readFixture('subagent-file.jsonl')), { prior: null, stale: [] });
});

function isBoundary(value: Json | undefined): boolean {
  return Object(value).subtype === 'compact_boundary';
}

/** The rule, word for word, by looking at everything for every line. */
function isLegalByTheRule(values: readonly Json[], entries: readonly Entry[], line: number): boolean {
  const chained = entries.filter((entry) => entry.recordId !== undefined && entry.parentId !== undefined);
  const isSaid = ({ kind }: Entry): boolean => kind === 'message' || kind === 'summary';
  const hasMain = entries.some((entry) => isSaid(entry) && entry.isSide !== true);
  const isOwn = (entry: Entry): boolean => !hasMain || entry.isSide !== true;
  const main = chained.filter(isOwn);
  const head = main.find((entry) => entry.line === line && entry.kind === 'message');
  const parent = head?.parentId;
  if (typeof parent !== 'string') return false;
  const isMarker = (entry: Entry): boolean =>
    isOwn(entry) && (isBoundary(values[entry.line - 1]) || entry.kind === 'summary');
  if (entries.some((entry) => isMarker(entry) && entry.line >= line)) return false;

  const holderOf = (id: string): Entry | undefined => chained.findLast((entry) => entry.recordId === id);
  const walk: Entry[] = [];
  let step = main.findLast((entry) => entry.kind === 'message');
  while (step !== undefined && !walk.includes(step)) {
    walk.push(step);
    step = typeof step.parentId === 'string' ? holderOf(step.parentId) : undefined;
  }
  const isKept = (entry: Entry | undefined): boolean => entry !== undefined && entry.line >= line;
  const left = walk.findIndex((entry) => typeof entry.parentId === 'string' && !isKept(holderOf(entry.parentId)));
  if (left === -1 || walk.slice(0, left + 1).some((entry) => !isKept(entry)) || walk[left] !== head) return false;

  const outside = new Set<string>();
  for (const entry of main.filter(isKept)) {
    if (typeof entry.parentId !== 'string' || isKept(holderOf(entry.parentId))) continue;
    if (holderOf(entry.parentId) !== undefined || walk.includes(entry)) outside.add(entry.parentId);
  }
  const hangingOnParent = chained.filter((entry) => isKept(entry) && entry.parentId === parent);
  return outside.size === 1 && outside.has(parent) && hangingOnParent.length === 1;
}

test('a cut is legal exactly where the rule says so, in any session', () => {
  fc.assert(
    fc.property(sessions, (values) => {
      const { session, entries } = readRecords(values);
      const problemAt = session.legalCuts(entries);
      const answered = entries.map(({ line }) => problemAt(line) === null);
      assert.deepEqual(
        answered,
        entries.map(({ line }) => isLegalByTheRule(values, entries, line)),
      );
    }),
    { numRuns: runsOf(2000) },
  );
});

test('a simple chain may be cut anywhere but at its root', () => {
  const values = ['a', 'b', 'c'].map((uuid, index) =>
    userRecord('x', { uuid, parentUuid: ['a', 'b'][index - 1] ?? null }),
  );
  assert.deepEqual(legalLines(values), [2, 3]);
});

test('a sentence says why a line is no cut', () => {
  const { session, entries } = readRecords([userRecord('x', { uuid: 'a' }), { type: 'mode' }]);
  const problemAt = session.legalCuts(entries);
  assert.deepEqual([1, 2, 3].map(problemAt), [
    'the record has no parent that the summary could replace',
    'there is no message of the main thread',
    'there is no record of this conversation',
  ]);
});

function problemsOf(values: readonly Json[]): readonly CutProblem[] {
  const { session, entries } = readRecords(values);
  return entries.map(({ line }) => session.legalCuts(entries)(line));
}

test('a sentence says what a cut would break', () => {
  const said = (uuid: string, parentUuid: string | null): Json => userRecord('x', { uuid, parentUuid });
  const broken: readonly (readonly [readonly Json[], number, string])[] = [
    [readFixture('producer-compaction.jsonl'), 2, "it is before the conversation's last compaction"],
    [readFixture('forward-parent.jsonl'), 3, "the record's parent is kept too"],
    [
      [said('a', null), said('b', 'a'), said('c', null), said('d', 'c')],
      2,
      'the chain of parents ends within the kept part',
    ],
    [readFixture('rewound-branch.jsonl'), 4, 'the chain of parents leaves the kept part through another record'],
    [
      [said('a', null), said('b', 'a'), record('system', { uuid: 'c', parentUuid: 'a' })],
      2,
      'another kept record has the same parent',
    ],
    [
      [said('a', null), said('b', 'a'), said('c', 'b'), record('system', { uuid: 'd', parentUuid: 'a' })],
      3,
      'kept records have other parents that would be gone',
    ],
  ];
  for (const [values, line, problem] of broken) assert.equal(problemsOf(values)[line - 1], problem);
});

test('no cut stands before the last compaction, of the client or ours', () => {
  assert.deepEqual(legalLines(readFixture('producer-compaction.jsonl')), [7, 8, 9, 10, 11, 12, 13]);
});

test('a part that hangs on the end of a preserved segment may be cut off it', () => {
  assert.deepEqual(legalLines(readFixture('preserved-segment.jsonl')), [7, 8, 9, 10]);
});

test("a subagent's own file is cut like any other", () => {
  const all = Array.from({ length: 22 }, (_, index) => index + 1);
  assert.deepEqual(legalLines(readFixture('subagent-file.jsonl')), all.slice(1));
});

test('a rewound branch is no place for a cut, and none may leave it beside the kept part', () => {
  // Line 3 begins the branch that was given up; line 5 begins anew from line 2.
  assert.deepEqual(legalLines(readFixture('rewound-branch.jsonl')), [2, 5, 6, 7, 8]);
});

test('where a person went back and said nothing since, the thread ends there, and no cut stands behind it', () => {
  // The last line names line 4 as the one that they went back to.
  const values = readFixture('rewound-at-the-end.jsonl');
  assert.deepEqual(legalLines(values), [2, 3, 4]);
  const goneOn = userRecord('Mend it.', { uuid: 'new', parentUuid: String(Object(values[3]).uuid) });
  assert.deepEqual(legalLines([...values, goneOn]), [2, 3, 4, 10]);
});

test('no cut parts parallel results from their calls', () => {
  const lines = legalLines(readFixture('split-answer-not-contiguous.jsonl'));
  assert.deepEqual(
    lines.filter((line) => line > 2 && line < 9),
    [],
  );
});

test('records that lead to a missing parent may be cut where the chain leads through', () => {
  assert.deepEqual(legalLines(readFixture('dangling-parent.jsonl')), [1, 2, 3, 4]);
});

test('a parent that stands later in the file is inside', () => {
  // Line 3 names line 4 as its parent.
  assert.deepEqual(legalLines(readFixture('forward-parent.jsonl')), [2, 5, 6, 7]);
});

test('a result that stands before its call is not parted from it', () => {
  // Line 2 is the result of line 3.
  assert.deepEqual(legalLines(readFixture('result-before-call.jsonl')), [4, 5, 6, 7, 8]);
});

test('of several compactions the last is the one that no cut stands before, however the kept part hangs on it', () => {
  assert.deepEqual(legalLines(readFixture('three-compactions.jsonl')), [18, 19, 20, 21, 22, 23, 24, 25]);
});

test('an error row that the client wrote behind the thread does not end it', () => {
  // The row at the end hangs on line 3: nothing after line 3 can be cut off from it.
  assert.deepEqual(legalLines(readFixture('api-error-tip.jsonl')), [3]);
});

test('progress records are links of the chain like others', () => {
  assert.deepEqual(legalLines(readFixture('progress-in-chain.jsonl')), [2, 5, 6, 8, 9]);
});

test('where ids stand twice, the copy that counts is the last', () => {
  // Lines 5 and 6 repeat lines 3 and 4.
  assert.deepEqual(legalLines(readFixture('duplicate-uuids.jsonl')), [2, 5, 6, 7, 8]);
});

test('a circle of parents may be cut open, but not kept', () => {
  const values = [userRecord('x', { uuid: 'a', parentUuid: 'b' }), userRecord('x', { uuid: 'b', parentUuid: 'a' })];
  assert.deepEqual(legalLines(values), [2]);
});

test('a hundred thousand records are answered for in one pass', () => {
  const values = Array.from({ length: 100_000 }, (_, index) =>
    index % 2 === 0
      ? userRecord('x', { uuid: `${index}`, parentUuid: index === 0 ? null : `${index - 1}` })
      : record('progress', { uuid: `${index}`, parentUuid: `${index - 1}` }),
  );
  assert.equal(legalLines(values).length, 49_999);
});
