import type { Json } from '../../ports/json.ts';

const ISO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d.*(?:Z|[+-]\d\d:\d\d)$/;

/** An ISO time with its offset, as most producers write it; null for anything else, which would be read in the reader's own time zone. */
export function readIsoTime(value: Json | undefined): Date | null {
  return typeof value === 'string' && ISO_TIME.test(value) ? validDate(new Date(value)) : null;
}

/** A time in seconds since 1970, with a fraction. */
export function readSeconds(value: Json | undefined): Date | null {
  return typeof value === 'number' ? validDate(new Date(value * 1000)) : null;
}

/** A time in milliseconds since 1970. */
export function readMilliseconds(value: Json | undefined): Date | null {
  return typeof value === 'number' ? validDate(new Date(value)) : null;
}

function validDate(date: Date): Date | null {
  return Number.isNaN(date.getTime()) ? null : date;
}
