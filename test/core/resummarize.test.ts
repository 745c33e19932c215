import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SummaryBatch } from '../../src/core/batch.ts';
import { joinBatches, planResummarize, shouldResummarize } from '../../src/core/resummarize.ts';

const clip = { clipFirst: 2, clipLast: 2 };
const at = (hour: number) => new Date(Date.UTC(2026, 2, 1, hour));
const batch = (known: Partial<SummaryBatch>): SummaryBatch => ({
  content: 'text',
  depth: 0,
  startTime: null,
  endTime: null,
  messageCount: 1,
  ...known,
});

test('A3: batches are summarized together when two more than the clip-archive shows are exceeded', () => {
  assert.deepEqual(
    [0, 6, 7, 8].map((count) => shouldResummarize(count, clip)),
    [false, false, true, true],
  );
});

test('A3: nothing is planned before it is due', () => {
  assert.equal(planResummarize([1, 2, 3, 4, 5, 6], clip), null);
});

test('A3: all but the last ones become one', () => {
  assert.deepEqual(planResummarize([1, 2, 3, 4, 5, 6, 7], clip), { merge: [1, 2, 3, 4, 5], keep: [6, 7] });
});

test('A3: where no last ones are shown, all become one', () => {
  assert.deepEqual(planResummarize([1, 2, 3], { clipFirst: 0, clipLast: 0 }), { merge: [1, 2, 3], keep: [] });
});

test('A3: the joined batch is one deeper than the deepest and spans their times, counts and indexes', () => {
  const batches = [
    batch({ depth: 2, startTime: at(9), endTime: at(12), messageCount: 40, firstIndex: 21, lastIndex: 60 }),
    batch({ depth: 0, startTime: at(8), endTime: at(10), messageCount: 20, firstIndex: 1, lastIndex: 30 }),
  ];
  assert.deepEqual(joinBatches(batches, 'both'), {
    content: 'both',
    depth: 3,
    startTime: at(8),
    endTime: at(12),
    messageCount: 60,
    firstIndex: 1,
    lastIndex: 60,
  });
});

test('A3: times that only some batches have are the times of the joined one', () => {
  const joined = joinBatches([batch({ startTime: at(9), endTime: at(10) }), batch({})], 'both');
  assert.deepEqual([joined.startTime, joined.endTime], [at(9), at(10)]);
});

test('A3: indexes that only some batches have are left out of the joined one', () => {
  assert.deepEqual(
    joinBatches([batch({ firstIndex: 1, lastIndex: 20 }), batch({})], 'both'),
    batch({ content: 'both', depth: 1, messageCount: 2 }),
  );
});
