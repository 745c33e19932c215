import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseAge, parseBytes } from '../../../src/cli/commands/quantity.ts';
import { ok } from '../../../src/core/result.ts';

test('a size is a number of bytes, with decimal and binary units in any case', () => {
  const sizes = ['0', '12', '12B', '5kB', '5KB', '1.5MB', '2 GB', '1KiB', '3mib', '1GiB'];
  const bytes = [0, 12, 12, 5000, 5000, 1_500_000, 2_000_000_000, 1024, 3_145_728, 1_073_741_824];
  assert.deepEqual(
    sizes.map(parseBytes),
    bytes.map((one) => ok(one)),
  );
});

test('what is no size, or no age, is refused', () => {
  for (const text of ['', '5X', '-5MB', 'MB', '1e3', '0x10', '5 MB 2', 'constructor']) {
    assert.equal(parseBytes(text).ok, false, text);
  }
  for (const text of ['', '30', '5m', '-5d', 'd', '1e3d', '30D', '5constructor']) {
    assert.equal(parseAge(text).ok, false, text);
  }
});

test('an age is hours, days, weeks, months of 30 days or years of 365', () => {
  const hours = ['12h', '30d', '2w', '6mo', '1y', '1.5d'].map(parseAge);
  assert.deepEqual(
    hours,
    [12, 720, 336, 4320, 8760, 36].map((one) => ok(one * 3_600_000)),
  );
});
