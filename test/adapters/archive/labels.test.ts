import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assert as assertProperty, constant, oneof, property, string, uuid } from 'fast-check';
import { messageIdColumn, readMessageId, textColumn } from '../../../src/adapters/archive/rows.ts';
import { buildLabel } from '../../../src/adapters/archive/store/compactions.ts';
import { makeUnique } from '../../../src/adapters/archive/store/rows.ts';
import { batchDraft } from './drafts.ts';

const PLACE = { conversationId: 'harbor', cycle: 2 };

const { firstIndex: _first, lastIndex: _last, ...unplaced } = batchDraft({ endTime: null });
const LABELS = {
  'the end of the batch': [{ batch: batchDraft() }, 'harbor-2026-03-01T09:30:00.000Z'],
  'the messages where there is no time': [
    { batch: batchDraft({ endTime: null, firstIndex: 21, lastIndex: 40 }) },
    'harbor-messages-21-40',
  ],
  'the messages where a time is none': [
    { batch: batchDraft({ endTime: new Date('never'), firstIndex: 21, lastIndex: 40 }) },
    'harbor-messages-21-40',
  ],
  'the cycle where there are neither times nor indices': [{ batch: unplaced }, 'harbor-cycle-2-1'],
} as const;

for (const [what, [input, end]] of Object.entries(LABELS))
  test(`a label names the conversation and ${what}`, () => {
    assert.equal(buildLabel(input.batch, { ...PLACE, ...input }, 0), `compaction-batch-${end}`);
  });

test('a label that thousands share is numbered without asking for each of them', () => {
  const asked: string[] = [];
  const isTaken = (label: string): boolean => {
    asked.push(label);
    return label === 'x' || Number(label.slice(2)) <= 5000;
  };
  assert.equal(makeUnique('x', isTaken), 'x-5001');
  assert.ok(asked.length < 30, `asked ${asked.length} times`);
});

test('every id of a message comes back from its column, and another id has another column', () => {
  const plain = oneof(
    uuid(),
    uuid().map((id) => id.toUpperCase()),
    string({ unit: 'binary' }),
    constant('\u0002'),
  );
  const id = oneof(
    plain,
    plain.map(messageIdColumn),
    plain.map((one) => `\u0002${one}`),
    string({ unit: 'grapheme' }),
  );
  assertProperty(
    property(id, id, (one, other) => {
      assert.equal(readMessageId({ id: textColumn(messageIdColumn(one)) }, 'id'), one);
      assert.equal(messageIdColumn(one) === messageIdColumn(other), one === other);
    }),
  );
});
