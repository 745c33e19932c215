import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseSince, parseUntil } from '../../../src/cli/commands/parse-time.ts';

for (const [text, since, until] of [
  ['2026-03-02', '2026-03-02T00:00:00.000Z', '2026-03-03T00:00:00.000Z'],
  ['2026-03-02T09:30', '2026-03-02T09:30:00.000Z', '2026-03-02T09:30:00.000Z'],
  ['2026-03-02 09:30:15.5z', '2026-03-02T09:30:15.500Z', '2026-03-02T09:30:15.500Z'],
  ['2026-03-02T09:30+02:00', '2026-03-02T07:30:00.000Z', '2026-03-02T07:30:00.000Z'],
] as const) {
  test(`${text} is a time; a day counts whole`, () => {
    const told = [parseSince(text), parseUntil(text)].map((read) => read.ok && new Date(read.value).toISOString());
    assert.deepEqual(told, [since, until]);
  });
}

for (const text of ['', 'yesterday', '2026-02-30', '2026-13-01', '2026-03-02T25:00', '1772409600']) {
  test(`${JSON.stringify(text)} is no time`, () => {
    assert.equal(parseSince(text).ok, false);
  });
}
