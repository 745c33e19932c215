import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readRetryAfterMs } from '../../../src/adapters/model/service.ts';

const NOW = new Date('2026-11-21T12:00:00.000Z');

for (const [what, headers, expected] of [
  ['nothing', {}, undefined],
  ['seconds', { 'retry-after': '3' }, 3000],
  ['parts of a second', { 'retry-after': '0.25' }, 250],
  ['at once', { 'retry-after': '0' }, 0],
  ['milliseconds', { 'retry-after-ms': '120.4' }, 121],
  ['milliseconds before seconds', { 'retry-after-ms': '5', 'retry-after': '3' }, 5],
  ['milliseconds that are no number', { 'retry-after-ms': 'x', 'retry-after': '3' }, 3000],
  ['a date', { 'retry-after': 'Sat, 21 Nov 2026 12:00:09 GMT' }, 9000],
  ['a date that is over', { 'retry-after': 'Sat, 21 Nov 2026 11:00:00 GMT' }, 0],
  ['no date', { 'retry-after': 'later' }, undefined],
  ['a negative number, which is no year', { 'retry-after': '-5' }, undefined],
  ['an empty value', { 'retry-after': '' }, undefined],
] as const) {
  test(`retry-after: ${what}`, () => {
    assert.equal(readRetryAfterMs(new Headers(headers), NOW), expected);
  });
}
