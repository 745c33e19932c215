import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import {
  findGroups,
  type GroupInput,
  groupInputOf,
  moveBackToWholeGroups,
  wholeGroupBoundaries,
} from '../../src/core/tool-groups.ts';
import { answering, calling, conversations, message, toolCall } from '../support/messages.ts';

const none: GroupInput = { calls: [], results: [] };
const call = (...calls: readonly string[]): GroupInput => ({ calls, results: [] });
const result = (...results: readonly string[]): GroupInput => ({ calls: [], results });
const conversationGroups = conversations.map((all) => findGroups(all.map(groupInputOf)));

const answer: GroupInput = { ...none, groupKey: 'answer' };
const GROUPINGS: readonly (readonly [string, readonly GroupInput[], readonly number[]])[] = [
  ['items without calls or results stand alone', [none, none, none], [0, 1, 2]],
  [
    'parallel calls stand with all of their results, in any order',
    [none, call('a', 'b'), result('b'), none, result('a'), none],
    [0, 1, 1, 3, 1, 5],
  ],
  ['one record with the results of several calls joins them', [call('a'), call('b'), result('a', 'b')], [0, 0, 0]],
  ['a result without a call stands alone', [call('a'), result('x'), result('a')], [0, 1, 0]],
  ['a call without a result stands alone', [call('a'), none, call('b')], [0, 1, 2]],
  ['a second result of the same call joins it', [call('a'), result('a'), none, result('a')], [0, 0, 2, 0]],
  ['an id that is used again does not join its calls', [call('a'), result('a'), call('a'), result('a')], [0, 0, 2, 2]],
  ['a result belongs to the latest call with its id', [call('a'), call('a'), result('a')], [0, 1, 1]],
  ['a result that stands before its call belongs to it', [result('a'), none, result('a'), call('a')], [0, 1, 0, 0]],
  [
    'an early result is an orphan where the next call with its id has a result of its own',
    [result('a'), call('a'), result('a')],
    [0, 1, 1],
  ],
  [
    'an early result belongs to the first call that follows, though its id is used again and answered then',
    [result('a'), call('a'), call('a'), result('a')],
    [0, 0, 2, 2],
  ],
  [
    'a record that makes a call and holds its result leaves an earlier call with the id alone',
    [call('a'), { calls: ['a'], results: ['a'] }],
    [0, 1],
  ],
  ['a call that a record names twice is one call', [result('a'), call('a', 'a'), result('a')], [0, 1, 1]],
  [
    'items of one key are one group, wherever they stand',
    [none, answer, none, { ...call('a'), groupKey: 'answer' }, result('a')],
    [0, 1, 2, 1, 1],
  ],
  [
    'ids that are names of object members are ids',
    [result('constructor'), call('__proto__'), result('__proto__')],
    [0, 1, 1],
  ],
];

for (const [what, items, groups] of GROUPINGS) test(`P4: ${what}`, () => assert.deepEqual(findGroups(items), groups));

test('the calls and results of a message are found in its lists and in its parts', () => {
  const parts = [
    { kind: 'call', id: 'a', name: 'look', arguments: '' },
    { kind: 'result', callId: 'b', text: '', isError: false },
  ] as const;
  assert.deepEqual(
    [
      message({ parts }),
      message(calling('c', 'd')),
      message(answering('e')),
      message(answering('f', 'g')),
      message(),
    ].map(groupInputOf),
    [
      { calls: ['a'], results: ['b'] },
      { calls: ['c', 'd'], results: [] },
      { calls: [], results: ['e'] },
      { calls: [], results: ['f', 'g'] },
      { calls: [], results: [] },
    ],
  );
  assert.deepEqual(groupInputOf(message({ tool_calls: [toolCall('z')], tool_call_id: 'y' })), {
    calls: ['z'],
    results: ['y'],
  });
});

test('a boundary outside the items is the nearest end, one between two of them the earlier', () => {
  assert.deepEqual(
    [-3, 9, 1.5, Infinity, -Infinity].map((at) => moveBackToWholeGroups([0, 1], at)),
    [0, 2, 1, 2, 0],
  );
});

test('P4: no group has members on both sides of a moved boundary, and no later boundary would do', () => {
  const parts = (groups: readonly number[], at: number): boolean =>
    groups.some((group, index) => index < at && groups.some((other, later) => later >= at && other === group));
  fc.assert(
    fc.property(conversationGroups, fc.nat({ max: 60 }), (groups, at) => {
      const wanted = Math.min(at, groups.length);
      const best = Array.from({ length: wanted + 1 }, (_, index) => wanted - index).find((cut) => !parts(groups, cut));
      assert.equal(moveBackToWholeGroups(groups, at), best);
    }),
  );
});

test('P4: telling whether a boundary is whole agrees with moving it', () => {
  fc.assert(
    fc.property(conversationGroups, (groups) => {
      const isWhole = wholeGroupBoundaries(groups);
      const boundaries = Array.from({ length: groups.length + 1 }, (_, at) => at);
      assert.deepEqual(
        boundaries.map(isWhole),
        boundaries.map((at) => moveBackToWholeGroups(groups, at) === at),
      );
    }),
  );
});

test('P4: where the ids are unique, a call and its results are one group whatever their order', () => {
  const shuffled = fc.uniqueArray(fc.string(), { maxLength: 8 }).chain((ids) =>
    fc.shuffledSubarray(
      ids.flatMap((id) => [call(id), result(id), result(id)]),
      { minLength: ids.length * 3 },
    ),
  );
  fc.assert(
    fc.property(shuffled, (items) => {
      const groups = findGroups(items);
      const calls = new Map(items.flatMap((item, index) => (item.calls ?? []).map((id) => [id, index] as const)));
      for (const [index, item] of items.entries()) {
        for (const id of item.results ?? []) {
          const at = calls.get(id) ?? -1;
          const isOrphan =
            index < at && items.some((other, later) => later > at && other.results?.includes(id) === true);
          assert.equal(groups[index] === groups[at], !isOrphan);
        }
      }
    }),
  );
});

test('a conversation of 200,000 calls in one chain is grouped at once', () => {
  const items = Array.from({ length: 200_000 }, (_, index): GroupInput => ({
    calls: [`${index}`],
    results: [`${index - 1}`],
  }));
  const groups = findGroups(items);
  assert.deepEqual([new Set(groups).size, moveBackToWholeGroups(groups, 199_999)], [1, 0]);
});
