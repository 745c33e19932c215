import { z } from 'zod';
import type { ScoreReport } from '../../app/contract/reports.ts';
import { count } from './parts.ts';

const row = z.strictObject({
  index: count.describe('by position in its conversation, from 0'),
  id: z.string(),
  role: z.string(),
  score: z.number(),
  terms: z.array(z.strictObject({ name: z.string(), value: z.number() })).describe('their values sum to the score'),
  fate: z.enum(['kept', 'survives', 'goes']),
  hasRule: z.literal(true).optional().describe('a person states a standing rule in it'),
  line: z.int().positive(),
  conversation: z.string(),
});

/** What `compact score --json` prints, one line a transcript. */
export const scoreReportSchema = z.strictObject({
  schema: z.literal('compact/score@1'),
  file: z.string(),
  format: z.string(),
  messages: z.array(row),
}) satisfies z.ZodType<ScoreReport>;
