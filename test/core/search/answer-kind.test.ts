import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countToldKinds, readAnswerKinds } from '../../../src/core/search/answer-kind.ts';

for (const [query, kinds] of [
  ['Who painted the keel?', ['person']],
  ['Where did the boat land?', ['place']],
  ['Which coastal town did they sail to?', ['place']],
  ['How many oars were lost?', ['number']],
  ['What is the name of the book about tides?', ['person', 'title']],
  ['Why was the mast replaced?', ['reason']],
  ['the mast was replaced', []],
  ['', []],
] as const) {
  test(`${JSON.stringify(query)} asks for ${kinds.join(' and ') || 'no kind of answer'}`, () => {
    assert.deepEqual(readAnswerKinds(query), kinds);
  });
}

for (const [kind, yes, no] of [
  ['person', 'it was painted by Odile', 'It was painted again'],
  ['person', 'my sister painted it', 'nobody painted it'],
  ['place', 'we landed in Brest', 'we landed in the evening'],
  ['number', 'we lost three', 'we lost some'],
  ['title', 'I read "The Long Tide" there', 'I read it there'],
  ['reason', 'because it was rotten', 'it was rotten'],
] as const) {
  test(`"${yes}" tells a ${kind}, and "${no}" does not`, () => {
    assert.equal(countToldKinds(yes, [kind]), 1);
    assert.equal(countToldKinds(no, [kind]), 0);
  });
}

test('only the kinds that are asked for count', () => {
  assert.equal(countToldKinds('we lost three in Brest', ['number', 'place', 'reason']), 2);
  assert.equal(countToldKinds('we lost three in Brest', []), 0);
});

test('a query and a text without end take no time', () => {
  assert.deepEqual(readAnswerKinds('what '.repeat(200_000)), []);
  assert.equal(countToldKinds(`"${'“'.repeat(1_000_000)}`, ['title']), 0);
});
