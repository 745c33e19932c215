import type { Json } from '../../../ports/codec.ts';

const ISO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d.*(?:Z|[+-]\d\d:\d\d)$/;

/** The time of a message, in the form that Gemini CLI writes; null where there is none. */
export function readTime(value: Json | undefined): Date | null {
  if (typeof value !== 'string' || !ISO_TIME.test(value)) return null;
  const time = new Date(value);
  return Number.isNaN(time.getTime()) ? null : time;
}
