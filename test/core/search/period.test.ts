import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isToldOf, readPeriod } from '../../../src/core/search/period.ts';

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

test('a message from a period or the week after it is told of it, an earlier or later one is not', () => {
  const may = { year: 2023, month: 4, day: null };
  const told = ['2023-04-30', '2023-05-01', '2023-05-31', '2023-06-07', '2023-06-09', '2022-05-10'];
  assert.deepEqual(
    told.map((day) => isToldOf(may, at(day))),
    [false, true, true, true, false, false],
  );
  assert.ok(isToldOf({ year: 2023, month: 4, day: 31 }, at('2023-06-06')));
  assert.ok(isToldOf({ year: 2023, month: null, day: null }, at('2023-12-31')));
});

test('without a year it is that month of any year, and the week after New Year belongs to December', () => {
  const december = { year: null, month: 11, day: null };
  assert.ok(isToldOf(december, at('2021-12-10')));
  assert.ok(isToldOf(december, at('2022-01-03')));
  assert.ok(!isToldOf(december, at('2022-02-03')));
});

test('a message without a time is told of none', () => {
  assert.ok(!isToldOf({ year: 2023, month: null, day: null }, null));
});
