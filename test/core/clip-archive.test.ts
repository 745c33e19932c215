import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SummaryBatch } from '../../src/core/batch.ts';
import {
  buildClipArchive,
  clipArchiveBody,
  hasQuotationNotice,
  parseClipArchiveHead,
  QUOTATION_NOTICE,
} from '../../src/core/clip-archive.ts';
import { isClipArchiveText } from '../../src/core/split.ts';

const clip = { clipFirst: 1, clipLast: 1 };
const timed: SummaryBatch = {
  content: 'They chose tea.',
  depth: 1,
  startTime: new Date('2026-03-01T09:00:00.000Z'),
  endTime: new Date('2026-03-01T10:30:00.000Z'),
  messageCount: 20,
};
const untimed = (content: string, firstIndex?: number, lastIndex?: number): SummaryBatch => ({
  content,
  depth: 0,
  startTime: null,
  endTime: null,
  messageCount: 20,
  ...(firstIndex === undefined ? {} : { firstIndex }),
  ...(lastIndex === undefined ? {} : { lastIndex }),
});
const four = [timed, untimed('two', 21, 40), untimed('three', 41, 60), untimed('four\nlines', 61, 80)];

test('the first and the last batches are shown under their heads, and what is between them is counted', () => {
  assert.equal(
    buildClipArchive(four, clip, 80, 2),
    `[Context Summary — 80 messages compressed across 2 compaction cycles]
## Earliest context
[Batch 1 — depth 1, 2026-03-01T09:00:00.000Z to 2026-03-01T10:30:00.000Z]
They chose tea.

[... 2 earlier summaries omitted, searchable via memory_read ...]

## Recent context
[Batch 4 — depth 0, messages 61 to 80]
four
lines`,
  );
});

test('where all batches are shown there are no heads and nothing is omitted', () => {
  assert.equal(
    buildClipArchive([untimed('one', 1, 20), untimed('two', 21, 40)], clip, 40),
    `[Context Summary — 40 messages compressed across 1 compaction cycle]
[Batch 1 — depth 0, messages 1 to 20]
one

[Batch 2 — depth 0, messages 21 to 40]
two`,
  );
});

test('a batch without times and without indexes shows its depth', () => {
  assert.equal(
    buildClipArchive([untimed('one')], clip, 1),
    '[Context Summary — 1 messages compressed across 1 compaction cycle]\n[Batch 1 — depth 0]\none',
  );
});

test('a batch with half of its times shows its messages', () => {
  assert.match(
    buildClipArchive([{ ...untimed('one', 1, 20), endTime: timed.endTime }], clip, 20),
    /^\[Batch 1 — depth 0, messages 1 to 20\]$/m,
  );
});

test('a date that is none does not count as a time', () => {
  assert.match(buildClipArchive([{ ...timed, endTime: new Date(Number.NaN) }], clip, 20), /^\[Batch 1 — depth 1\]$/m);
});

test('with no first batches to show there is no section for them', () => {
  assert.equal(
    buildClipArchive(four, { clipFirst: 0, clipLast: 1 }, 80, 2),
    `[Context Summary — 80 messages compressed across 2 compaction cycles]
[... 3 earlier summaries omitted, searchable via memory_read ...]

## Recent context
[Batch 4 — depth 0, messages 61 to 80]
four
lines`,
  );
});

test('with no last batches to show there is no section for them, and a blank line parts those of one section', () => {
  assert.equal(
    buildClipArchive(four, { clipFirst: 2, clipLast: 0 }, 80, 2),
    `[Context Summary — 80 messages compressed across 2 compaction cycles]
## Earliest context
[Batch 1 — depth 1, 2026-03-01T09:00:00.000Z to 2026-03-01T10:30:00.000Z]
They chose tea.

[Batch 2 — depth 0, messages 21 to 40]
two

[... 2 earlier summaries omitted, searchable via memory_read ...]`,
  );
});

test('messages kept word for word stand after the batches, and the way to the archive comes last', () => {
  assert.equal(
    buildClipArchive([untimed('one', 1, 20)], clip, 20, 1, {
      keptWordForWord: [
        { role: 'user', at: timed.startTime, text: 'Never use\ncoffee.' },
        { role: 'assistant', name: 'Ada\nB', at: null, text: 'Agreed.' },
      ],
      archiveLine: '[Archive: look further with `compact search`]',
    }),
    `[Context Summary — 20 messages compressed across 1 compaction cycle]
[Batch 1 — depth 0, messages 1 to 20]
one

## Kept word for word
[user, 2026-03-01T09:00:00.000Z]
Never use
coffee.

[assistant Ada B]
Agreed.

[Archive: look further with \`compact search\`]`,
  );
});

test('with nothing kept word for word there is no section for it', () => {
  assert.equal(
    buildClipArchive([], clip, 0, 1, { keptWordForWord: [] }),
    '[Context Summary — 0 messages compressed across 1 compaction cycle]',
  );
});

test('a clip-archive is known as one by its text, and its head reads back', () => {
  const text = buildClipArchive(four, clip, 80, 3);
  assert.equal(isClipArchiveText(text), true);
  assert.deepEqual(parseClipArchiveHead(text), { messages: 80, cycles: 3 });
});

test('the head of one cycle reads back', () => {
  assert.deepEqual(parseClipArchiveHead(buildClipArchive([], clip, 7)), { messages: 7, cycles: 1 });
});

test('the notice stands in the second line, and the body below it', () => {
  const head = '[Context Summary — 20 messages compressed across 1 compaction cycle]';
  const text = buildClipArchive([untimed('one')], clip, 20, 1, { notice: QUOTATION_NOTICE });
  assert.equal(text, `${head}\n${QUOTATION_NOTICE}\n[Batch 1 — depth 0]\none`);
  assert.deepEqual([text, text.replace(`${QUOTATION_NOTICE}\n`, '')].map(clipArchiveBody), [
    '[Batch 1 — depth 0]\none',
    '[Batch 1 — depth 0]\none',
  ]);
  assert.deepEqual([head, `${head}\n${QUOTATION_NOTICE}`].map(clipArchiveBody), [null, null]);
  assert.deepEqual([text, head, `x\n${QUOTATION_NOTICE}`].map(hasQuotationNotice), [true, false, false]);
});

test('text with another first line has no head', () => {
  const texts = [
    '',
    'hello',
    '[Context Summary — some messages]',
    '\n[Context Summary — 7 messages compressed across 1 compaction cycle]',
    '[Context Summary — 7 messages compressed across 1 compaction cycle] and more',
    `[Context Summary — ${'9'.repeat(30)} messages compressed across 1 compaction cycle]`,
  ];
  assert.deepEqual(
    texts.map(parseClipArchiveHead),
    texts.map(() => null),
  );
});
