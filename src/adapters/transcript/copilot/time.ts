import type { Json } from '../../../ports/codec.ts';

const ISO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/;

/** The time of an event (ISO 8601 with seconds and an offset, as Copilot asks); null where there is none. */
export function readTime(value: Json | undefined): Date | null {
  const time = typeof value === 'string' && ISO_TIME.test(value) ? new Date(value) : null;
  return time === null || Number.isNaN(time.getTime()) ? null : time;
}
