import type { Json } from '../../../ports/codec.ts';

/** ISO 8601, and what databases make of it: a space for the T, `+00` for the offset. */
const ISO_TIME = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(:\d\d)?(?:[.,](\d+))?\s?(Z|[+-]\d\d(?::?\d\d)?)?)?$/i;

/** Seconds up to here (the year 5138), milliseconds beyond. */
const MAX_SECONDS = 1e11;

/** A time as text, or as a number of seconds or milliseconds since 1970; null where it is neither. Text without an offset is UTC. */
export function parseTime(value: Json | undefined): Date | null {
  if (typeof value === 'number') return validDate(Math.abs(value) < MAX_SECONDS ? value * 1000 : value);
  if (typeof value !== 'string') return null;
  const match = ISO_TIME.exec(value.trim());
  if (match === null) return null;
  const [, day = '', minutes = '00:00', seconds = ':00', fraction = '', offset = 'Z'] = match;
  return validDate(
    Date.parse(`${day}T${minutes}${seconds}.${fraction.slice(0, 3).padEnd(3, '0')}${fullOffset(offset)}`),
  );
}

/** `+02` and `+0200` as `+02:00`. */
function fullOffset(offset: string): string {
  if (offset.length === 1) return 'Z';
  return `${offset.slice(0, 3)}:${offset.length === 3 ? '00' : offset.slice(-2)}`;
}

function validDate(ms: number): Date | null {
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? null : date;
}
