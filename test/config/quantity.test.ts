import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  parseAge,
  parseAmount,
  parseBytes,
  parseCount,
  parseCountOrZero,
  parseDuration,
  parseSaving,
  parseShare,
  parseSince,
  parseUntil,
} from '../../src/config/quantity.ts';
import { ok } from '../../src/core/result.ts';

test('a number may be grouped, and thousands and millions may be shortened', () => {
  const texts = ['1', '30000', '30_000', '1_000_000', '70,264', '30k', '30 K', '1.5M', '1.1k', '.5k', '2G', ' 7 '];
  const counts = [1, 30_000, 30_000, 1_000_000, 70_264, 30_000, 30_000, 1_500_000, 1100, 500, 2_000_000_000, 7];
  assert.deepEqual(
    texts.map(parseCount),
    counts.map((one) => ok(one)),
  );
  assert.deepEqual(parseCountOrZero('0'), ok(0));
});

test('money has no currency, and the time that a file is idle counts minutes as m', () => {
  const amounts = ['5', '5.00', '0', '.5', '1,000.25'].map(parseAmount);
  assert.deepEqual(
    amounts,
    [5, 5, 0, 0.5, 1000.25].map((one) => ok(one)),
  );
  for (const wrong of ['', '$5', '5 USD', '-1', '5k', '1e3']) assert.equal(parseAmount(wrong).ok, false, wrong);
  const times = ['90s', '10m', '10min', '2h', '1 d'].map(parseDuration);
  assert.deepEqual(
    times,
    [90_000, 600_000, 600_000, 7_200_000, 86_400_000].map((one) => ok(one)),
  );
  for (const wrong of ['', '10', '3mo', '-1m', 'm']) assert.equal(parseDuration(wrong).ok, false, wrong);
});

test('what is no whole number is refused with what is accepted', () => {
  const wrong = '0|-1|1.5|1.0005k|1e3|0x10|k|1_|_1|1,00|1,5M|30kk|5MB|99999999999999999999|';
  for (const text of wrong.split('|')) {
    const expected = { ok: false, error: 'It must be a whole number of 1 or more: 30000, 100_000, 30k, 1.5M.' };
    assert.deepEqual(parseCount(text), expected, text);
  }
  assert.equal(parseCountOrZero('-1').ok, false);
});

test('a size is a number of bytes, with decimal and binary units in any case', () => {
  const sizes = ['0', '12', '12B', '5kB', '5KB', '5k', '1.5MB', '1.5M', '2 GB', '500_000', '1KiB', '3mib', '1GiB'];
  const bytes = [0, 12, 12, 5000, 5000, 5000, 1_500_000, 1_500_000, 2e9, 500_000, 1024, 3_145_728, 1_073_741_824];
  assert.deepEqual(
    sizes.map(parseBytes),
    bytes.map((one) => ok(one)),
  );
});

test('what is no size, no age or no share is refused', () => {
  for (const text of ['', '5X', '-5MB', 'MB', '1e3', '0x10', '5 MB 2', 'constructor']) {
    assert.equal(parseBytes(text).ok, false, text);
  }
  for (const text of ['', '30', '5m', '-5d', 'd', '1e3d', '30D', '5constructor', '5 dayss']) {
    assert.equal(parseAge(text).ok, false, text);
  }
  for (const text of ['', '90', '101%', '-1', '1e-1', '1.5']) assert.equal(parseShare(text).ok, false, text);
});

test('an age is minutes, hours, days, weeks, months of 30 days or years of 365', () => {
  const hours = ['30min', '12h', '30d', '30 days', '2w', '1 week', '6mo', '1y', '1.5d', '1_000h'].map(parseAge);
  assert.deepEqual(
    hours,
    [0.5, 12, 720, 720, 336, 168, 4320, 8760, 36, 1000].map((one) => ok(one * 3_600_000)),
  );
});

test('m could be minutes or months, so it has to be said', () => {
  assert.deepEqual(parseAge('30m'), { ok: false, error: '30m could be minutes or months: write 30min or 30mo.' });
});

const NOW = Date.parse('2026-03-09T15:20:00Z');

for (const [text, since, until] of [
  ['2026-03-02', '2026-03-02T00:00:00.000Z', '2026-03-03T00:00:00.000Z'],
  ['yesterday', '2026-03-08T00:00:00.000Z', '2026-03-09T00:00:00.000Z'],
  ['Today', '2026-03-09T00:00:00.000Z', '2026-03-10T00:00:00.000Z'],
  ['2026-03-02T09:30', '2026-03-02T09:30:00.000Z', '2026-03-02T09:30:00.000Z'],
  ['2026-03-02 09:30:15.5z', '2026-03-02T09:30:15.500Z', '2026-03-02T09:30:15.500Z'],
  ['2026-03-02T09:30+02:00', '2026-03-02T07:30:00.000Z', '2026-03-02T07:30:00.000Z'],
  ['7d', '2026-03-02T15:20:00.000Z', '2026-03-02T15:20:00.000Z'],
  ['2 hours ago', '2026-03-09T13:20:00.000Z', '2026-03-09T13:20:00.000Z'],
  ['1.5d', '2026-03-08T03:20:00.000Z', '2026-03-08T03:20:00.000Z'],
] as const) {
  test(`${text} is a time; a day counts whole`, () => {
    const told = [parseSince, parseUntil].map((parse) => {
      const read = parse(text, NOW);
      return read.ok && new Date(read.value).toISOString();
    });
    assert.deepEqual(told, [since, until]);
  });
}

const ACCEPTED =
  'It must be a day (2026-03-02, yesterday), a time (2026-03-02T09:30Z) or an age (12h, 7d, 2w, 6mo, 1y).';

for (const text of ['', 'tomorrow', '2026-02-30', '2026-13-01', '2026-03-02T25:00', '1772409600', 'd', '7', 'ago']) {
  test(`${JSON.stringify(text)} is no time, and it is said what is one`, () => {
    assert.deepEqual(parseSince(text, NOW), { ok: false, error: ACCEPTED });
  });
}

test('months and minutes are not guessed', () => {
  const error = '30m could be minutes or months: write 30min or 30mo.';
  assert.deepEqual(parseSince('30m', NOW), { ok: false, error });
});

test('a saving is a share of the tokens or a size on disk', () => {
  assert.deepEqual(
    ['20%', '0.2', '0', '500kB', '1MB', '5000'].map(parseSaving),
    [0.2, 0.2, 0, 500_000, 1_000_000, 5000].map((one) => ok(one)),
  );
  for (const text of ['100%', '150%', '-1', 'much', '']) assert.equal(parseSaving(text).ok, false, text);
});
