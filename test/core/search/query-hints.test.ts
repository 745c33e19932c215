import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  countAnsweredKinds,
  isFromPeriod,
  readAnswerKinds,
  readPeriod,
  readPhrases,
  readTraits,
  sharePhrases,
} from '../../../src/core/search/query-hints.ts';

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
    assert.equal(countAnsweredKinds(yes, [kind]), 1);
    assert.equal(countAnsweredKinds(no, [kind]), 0);
  });
}

test('only the kinds that are asked for count', () => {
  assert.equal(countAnsweredKinds('we lost three in Brest', ['number', 'place', 'reason']), 2);
  assert.equal(countAnsweredKinds('we lost three in Brest', []), 0);
});

test('a query and a text without end take no time', () => {
  assert.deepEqual(readAnswerKinds('what '.repeat(200_000)), []);
  assert.equal(countAnsweredKinds(`"${'“'.repeat(1_000_000)}`, ['title']), 0);
});

for (const [query, period] of [
  ['What broke on 8 May, 2023?', [2023, 4, 8]],
  ['What broke on the 8th of May?', [null, 4, 8]],
  ['What broke on May 8th 2023?', [2023, 4, 8]],
  ['What broke in May 2023?', [2023, 4, null]],
  ['In March, what broke?', [null, 2, null]],
  ['What broke in 2022?', [2022, null, null]],
  ['what broke on 2023-05-08', [2023, 4, 8]],
  ['what broke in 2023-05', [2023, 4, null]],
  ['May I ask what broke?', null],
  ['the March of the crew', null],
  ['it may break in may', null],
  ['2000 lines of code', null],
  ['', null],
] as const) {
  test(`the time that ${JSON.stringify(query)} names`, () => {
    const [year, month, day] = period ?? [];
    assert.deepEqual(readPeriod(query), period === null ? null : { year, month, day });
  });
}

const at = (text: string): Date => new Date(`${text}T12:00:00Z`);

test('a message from a period or the week after it is answer of it, an earlier or later one is not', () => {
  const may = { year: 2023, month: 4, day: null };
  const answer = ['2023-04-30', '2023-05-01', '2023-05-31', '2023-06-07', '2023-06-09', '2022-05-10'];
  assert.deepEqual(
    answer.map((day) => isFromPeriod(may, at(day))),
    [false, true, true, true, false, false],
  );
  assert.ok(isFromPeriod({ year: 2023, month: 4, day: 31 }, at('2023-06-06')));
  assert.ok(isFromPeriod({ year: 2023, month: null, day: null }, at('2023-12-31')));
});

test('without a year it is that month of any year, and the week after New Year belongs to December', () => {
  const december = { year: null, month: 11, day: null };
  assert.ok(isFromPeriod(december, at('2021-12-10')));
  assert.ok(isFromPeriod(december, at('2022-01-03')));
  assert.ok(!isFromPeriod(december, at('2022-02-03')));
});

test('a message without a time is answer of none', () => {
  assert.ok(!isFromPeriod({ year: 2023, month: null, day: null }, null));
});

for (const [query, phrases] of [
  ['where is src/app/keel.ts', ['src app keel ts']],
  ['who said "the green boat"?', ['the green boat']],
  ["Ada's boat, can't", []],
  ['“green boat” a_b', ['green boat']],
  ['"unclosed boat', []],
  ['', []],
] as const) {
  test(`the phrases of ${JSON.stringify(query)}`, () => {
    assert.deepEqual(readPhrases(query), phrases);
  });
}

test('a text holds a phrase where its words stand together, whatever stands between them', () => {
  const phrases = ['green boat', 'src app'];
  const shares = ['The GREEN-boat', 'boat green', 'green boats', 'src/app and green boat'].map((text) =>
    sharePhrases(text, phrases),
  );
  assert.deepEqual(shares, [0.5, 0, 0, 1]);
});

for (const [text, isQuestion] of [
  ['Shall we?', true],
  ['Shall we? ', true],
  ['"Shall we?"', true],
  ['Shall we? [image: a boat]', true],
  ['行きますか？', true],
  ['Shall we? I think so.', false],
  ['see a?b=c', false],
  ['', false],
] as const) {
  test(`${JSON.stringify(text)} ${isQuestion ? 'ends' : 'does not end'} as a question`, () => {
    assert.equal(readTraits(text).isQuestion, isQuestion);
  });
}

for (const [text, mentionsTime] of [
  ['we met yesterday', true],
  ['on Tuesday', true],
  ['the 3rd try', true],
  ['in 1998', true],
  ['at 9:30', true],
  ['3月に', true],
  ['the Monte Carlo method', false],
  ['port 8080', false],
] as const) {
  test(`${JSON.stringify(text)} ${mentionsTime ? 'says' : 'does not say'} when`, () => {
    assert.equal(readTraits(text).mentionsTime, mentionsTime);
  });
}

test('a text of megabytes costs what its ends cost', () => {
  assert.deepEqual(readTraits(`${'x '.repeat(1_000_000)}yesterday?${'['.repeat(300)}`), {
    isQuestion: false,
    mentionsTime: false,
  });
});
