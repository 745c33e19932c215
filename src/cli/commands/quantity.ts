import { err, ok } from '../../core/result.ts';
import type { Result } from '../../core/result.ts';

const BYTES: ReadonlyMap<string, number> = new Map([
  ['', 1],
  ['b', 1],
  ['kb', 1e3],
  ['mb', 1e6],
  ['gb', 1e9],
  ['tb', 1e12],
  ['kib', 2 ** 10],
  ['mib', 2 ** 20],
  ['gib', 2 ** 30],
  ['tib', 2 ** 40],
]);

/** '5MB' or '1.5 GiB' as bytes: 1 kB is 1,000, 1 KiB is 1,024; in any case, and a number alone is bytes. */
export function parseBytes(text: string): Result<number, string> {
  const [, digits = '', unit = ''] = /^(\d+(?:\.\d+)?) ?([a-z]*)$/i.exec(text) ?? [];
  const factor = BYTES.get(unit.toLowerCase());
  if (digits === '' || factor === undefined) {
    return err('It must be a size: 500000, 500kB, 5MB, 1.5GB, 5MiB.');
  }
  return ok(Number(digits) * factor);
}

const HOUR_MS = 3_600_000;
/** A month is 30 days here and a year 365. */
const TIMES_MS: ReadonlyMap<string, number> = new Map([
  ['h', HOUR_MS],
  ['d', 24 * HOUR_MS],
  ['w', 7 * 24 * HOUR_MS],
  ['mo', 30 * 24 * HOUR_MS],
  ['y', 365 * 24 * HOUR_MS],
]);

/** '12h', '30d', '2w', '6mo', '1y' as milliseconds. */
export function parseAge(text: string): Result<number, string> {
  const [, digits = '', unit = ''] = /^(\d+(?:\.\d+)?) ?([a-z]+)$/.exec(text) ?? [];
  if (unit === 'm') return err(`${text} could be minutes or months: months are ${digits}mo.`);
  const factor = TIMES_MS.get(unit);
  return digits === '' || factor === undefined
    ? err('It must be an age: 12h, 30d, 2w, 6mo, 1y.')
    : ok(Number(digits) * factor);
}
