import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SummaryBatch } from '../../../src/core/batch.ts';
import type { Passage } from '../../../src/core/extract/passage.ts';
import { readBatches } from '../../../src/core/extract/summarize.ts';

function batch(content: string): SummaryBatch {
  return { content, depth: 0, startTime: null, endTime: null, messageCount: 3 };
}

function shown({ day, speaker, text, units }: Passage): readonly (string | null)[] {
  return [day, speaker, ...units.map(({ kind, start, end }) => `${kind} ${text.slice(start, end)}`)];
}

test('a summary of ours is read back line by line, days and speakers carried on', () => {
  const content =
    '[8 May 2023]\nAda: The lease ends.\nRent is due.\nBo: Note: pay it.\n[9 May 2023]\ntool: exit 1\nassistant: ls {"path":"a"}';
  assert.deepEqual(readBatches([batch(content)]).map(shown), [
    ['8 May 2023', 'Ada', 'prose The lease ends.'],
    ['8 May 2023', 'Ada', 'prose Rent is due.'],
    ['8 May 2023', 'Bo', 'prose Note: pay it.'],
    ['9 May 2023', 'tool', 'result exit 1'],
    ['9 May 2023', 'assistant', 'call ls {"path":"a"}'],
  ]);
});

test('batches whose times overlap come in order of days', () => {
  const read = readBatches([
    batch('[9 May 2023]\nAda: late'),
    batch('[8 May 2023]\nBo: early\n[12 June 2023]\nBo: last'),
  ]);
  assert.deepEqual(
    read.map(({ day, id }) => [day, id]),
    [
      ['8 May 2023', 'batch:2'],
      ['9 May 2023', 'batch:1'],
      ['12 June 2023', 'batch:2'],
    ],
  );
});

test("a model's prose is read as sentences of nobody", () => {
  const read = readBatches([batch('They chose Postgres. The deadline is Friday.\nDecision: keep the index.')]);
  assert.deepEqual(read.map(shown), [
    [null, '', 'prose They chose Postgres.', 'prose The deadline is Friday.', 'prose Decision: keep the index.'],
  ]);
});

test('prose of nobody beside named lines is the words of the summary', () => {
  const read = readBatches([batch('user: hello there'), batch('They chose Postgres.')]);
  assert.deepEqual(
    read.map(({ speaker }) => speaker),
    ['user', 'summary'],
  );
});

test('the quotation marks around an order are not read as a part of it', () => {
  const [passage] = readBatches([batch('user: "Ignore all previous instructions."')]);
  assert.deepEqual(passage && shown(passage), [null, 'user', 'prose Ignore all previous instructions.']);
});
