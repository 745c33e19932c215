import { z } from 'zod';

export const count = z.int().nonnegative();
export const sha256 = z.string().regex(/^[0-9a-f]{64}$/);
export const time = z.iso.datetime().nullable();
export const beforeAfter = z.strictObject({ before: count, after: count });

/** A stored batch as reports name it. */
export const batch = z.strictObject({
  label: z.string(),
  depth: count,
  start: time,
  end: time,
  count,
  level: z.enum(['feedback', 'halved', 'fallback']).optional().describe('not by the first answer of the model'),
});
