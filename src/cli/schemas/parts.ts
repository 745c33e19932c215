import { z } from 'zod';

export const count = z.int().nonnegative();
export const sha256 = z.string().regex(/^[0-9a-f]{64}$/);
export const time = z.iso.datetime().nullable();
export const beforeAfter = z.strictObject({ before: count, after: count });
