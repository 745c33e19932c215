import type { z } from 'zod';
import { ServiceFault } from './fault.ts';

/** A value that a service sent, checked; what it has beyond the schema is let be. `what` names it in the error. */
export function checked<T extends z.ZodType>(schema: T, value: unknown, what: string): z.infer<T> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const path = parsed.error.issues[0]?.path.join('.') ?? '';
  throw new ServiceFault({ kind: 'shape', what: path === '' ? what : `${what}.${path}` });
}
