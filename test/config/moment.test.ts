import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseSince, parseUntil } from '../../src/config/quantity.ts';

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
