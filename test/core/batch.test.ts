import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import {
  formatBatch,
  joinBatches,
  parseBatchMetadata,
  planResummarize,
  shouldResummarize,
  type SummaryBatch,
  timeSpanOf,
} from '../../src/core/batch.ts';
import { oddTexts } from '../support/messages.ts';

const nine = new Date('2026-03-01T09:00:00.000Z');
const ten = new Date('2026-03-01T10:00:00.000Z');
const batch: SummaryBatch = { content: 'They chose\ntea.', depth: 1, startTime: nine, endTime: ten, messageCount: 20 };
const unknown = { depth: 0, startTime: null, endTime: null, messageCount: 0 };

test('a batch as one text begins with a line that tells of it', () => {
  assert.equal(
    formatBatch(batch),
    '[depth:1|start:2026-03-01T09:00:00.000Z|end:2026-03-01T10:00:00.000Z|count:20]\nThey chose\ntea.',
  );
});

test('times that are not known are left empty', () => {
  assert.equal(
    formatBatch({ ...batch, startTime: null, endTime: new Date(Number.NaN) }),
    '[depth:1|start:|end:|count:20]\nThey chose\ntea.',
  );
});

test('the text of a batch read back is the batch', () => {
  const times = fc.option(fc.date({ noInvalidDate: true }), { nil: null });
  fc.assert(
    fc.property(
      fc.oneof(oddTexts, fc.constant(formatBatch(batch))),
      fc.nat(),
      times,
      times,
      fc.nat(),
      (content, depth, startTime, endTime, messageCount) => {
        const metadata = { depth, startTime, endTime, messageCount };
        assert.deepEqual(parseBatchMetadata(formatBatch({ content, ...metadata })), {
          metadata,
          cleanContent: content,
        });
      },
    ),
  );
});

for (const [oddity, text] of [
  ['no first line', 'They chose tea.'],
  ['an empty text', ''],
  ['a count that is missing', '[depth:1|start:|end:]\ntext'],
  ['a depth that is no number', '[depth:x|start:|end:|count:1]\ntext'],
  ['a negative count', '[depth:1|start:|end:|count:-1]\ntext'],
  ['a count beyond all numbers', `[depth:1|start:|end:|count:${'9'.repeat(30)}]\ntext`],
  ['a time that is none', '[depth:1|start:yesterday|end:|count:1]\ntext'],
  ['a day that is in no calendar', '[depth:1|start:2026-13-45T00:00:00.000Z|end:|count:1]\ntext'],
  ['a first line that is not at the start', ' [depth:1|start:|end:|count:1]\ntext'],
  ['a first line that goes on', '[depth:1|start:|end:|count:1] text'],
] as const) {
  test(`malformed text is left untouched: ${oddity}`, () => {
    assert.deepEqual(parseBatchMetadata(text), { metadata: unknown, cleanContent: text });
  });
}

test('a span is from the earliest to the latest time, wherever they stand', () => {
  assert.deepEqual(timeSpanOf([ten, null, nine, new Date(Number.NaN)]), { startTime: nine, endTime: ten });
});

test('without times there is no span', () => {
  assert.deepEqual(timeSpanOf([null, null]), { startTime: null, endTime: null });
});

const clip = { clipFirst: 2, clipLast: 2 };
const at = (hour: number) => new Date(Date.UTC(2026, 2, 1, hour));
const makeBatch = (known: Partial<SummaryBatch>): SummaryBatch => ({
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
    makeBatch({ depth: 2, startTime: at(9), endTime: at(12), messageCount: 40, firstIndex: 21, lastIndex: 60 }),
    makeBatch({ depth: 0, startTime: at(8), endTime: at(10), messageCount: 20, firstIndex: 1, lastIndex: 30 }),
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
  const joined = joinBatches([makeBatch({ startTime: at(9), endTime: at(10) }), makeBatch({})], 'both');
  assert.deepEqual([joined.startTime, joined.endTime], [at(9), at(10)]);
});

test('A3: indexes that only some batches have are left out of the joined one', () => {
  assert.deepEqual(
    joinBatches([makeBatch({ firstIndex: 1, lastIndex: 20 }), makeBatch({})], 'both'),
    makeBatch({ content: 'both', depth: 1, messageCount: 2 }),
  );
});
