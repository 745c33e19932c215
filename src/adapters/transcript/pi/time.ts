import type { Json } from '../../../ports/codec.ts';
import { readIsoTime, readMilliseconds } from '../time.ts';

/** The time of an entry (ISO 8601) or of a message (milliseconds since 1970); null where there is none. */
export function readTime(value: Json | undefined): Date | null {
  return readIsoTime(value) ?? readMilliseconds(value);
}
