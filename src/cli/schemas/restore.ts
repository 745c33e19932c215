import { z } from 'zod';
import type { RestoreReport } from '../../app/contract/reports.ts';
import { count, sha256 } from './parts.ts';

/** What `compact restore --json` prints. */
export const restoreReportSchema = z.strictObject({
  schema: z.literal('compact/restore@1'),
  file: z.string(),
  output: z.string(),
  cycles: count.describe('how many compactions were undone'),
  bytes: count,
  sha256,
  appendedBytes: count.describe('appended since the compaction, and carried along'),
  notes: z.array(z.string()).optional().describe('sentences for people; only where there are some'),
  isStillCompacted: z
    .literal(true)
    .optional()
    .describe('all were undone, and what came out begins with a summary that another program wrote'),
}) satisfies z.ZodType<RestoreReport>;
