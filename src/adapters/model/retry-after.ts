/**
 * How long a service asks to wait: `retry-after-ms`, or `retry-after` in seconds or as a date (RFC 9110, 10.2.3). Undefined where it
 * says nothing that can be read; a date that is over means at once.
 */
export function readRetryAfterMs(headers: Headers, now: Date): number | undefined {
  const ms = readAmount(headers.get('retry-after-ms'));
  if (ms !== undefined) return Math.ceil(ms);
  const value = headers.get('retry-after');
  const seconds = readAmount(value);
  if (seconds !== undefined) return Math.ceil(seconds * 1000);
  const time = value === null || !/[a-z]/i.test(value) ? Number.NaN : Date.parse(value);
  return Number.isNaN(time) ? undefined : Math.max(0, time - now.getTime());
}

function readAmount(value: string | null): number | undefined {
  return value !== null && /^\s*\d+(?:\.\d+)?\s*$/.test(value) ? Number(value) : undefined;
}
