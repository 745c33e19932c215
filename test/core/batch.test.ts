import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { formatBatch, parseBatchMetadata, type SummaryBatch, timeSpanOf } from '../../src/core/batch.ts';
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
