import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readIsoTime, readMilliseconds, readSeconds } from '../../../src/adapters/transcript/time.ts';

test('an ISO time is read with its offset', () => {
  assert.deepEqual(readIsoTime('2026-03-01T10:00:00.250Z'), new Date('2026-03-01T10:00:00.250Z'));
  assert.deepEqual(readIsoTime('2026-03-01T12:00+02:00'), new Date('2026-03-01T10:00:00Z'));
});

test('text that says no offset, or no time that there is, is no time', () => {
  for (const value of ['2026-03-01T10:00:00', '2026-03-01', '2026-13-41T10:00:00Z', 'now', '', 1772359200000, null]) {
    assert.equal(readIsoTime(value), null);
  }
});

test('numbers are read in the unit that is asked for, and numbers beyond all dates are no time', () => {
  assert.deepEqual(readSeconds(1772359200.25), new Date('2026-03-01T10:00:00.250Z'));
  assert.deepEqual(readMilliseconds(1772359200000), new Date('2026-03-01T10:00:00Z'));
  assert.deepEqual([readSeconds(1e300), readMilliseconds(1e300), readSeconds('1772359200')], [null, null, null]);
});
