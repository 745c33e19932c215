import type { Json } from '../../../ports/codec.ts';

const ISO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d.*(?:Z|[+-]\d\d:\d\d)$/;

/** The time of an entry (ISO 8601) or of a message (milliseconds since 1970); null where there is none. */
export function readTime(value: Json | undefined): Date | null {
  const isTime = typeof value === 'number' || (typeof value === 'string' && ISO_TIME.test(value));
  const time = isTime ? new Date(value) : null;
  return time === null || Number.isNaN(time.getTime()) ? null : time;
}
