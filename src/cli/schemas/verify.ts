import { z } from 'zod';
import type { VerifyReport } from '../../app/contract/reports.ts';
import { count, sha256 } from './parts.ts';

const problem = z.strictObject({
  kind: z.enum([
    'changed-line',
    'missing-batch',
    'changed-batch',
    'hole',
    'parted-group',
    'damaged-archive',
    'wrong-count',
    'wrong-hash',
    'broken-chain',
  ]),
  line: z.int().positive().optional().describe('of the compacted file'),
  message: z.string(),
});

/** What `compact verify --json` prints, one line a file. */
export const verifyReportSchema = z.strictObject({
  schema: z.literal('compact/verify@1'),
  file: z.string(),
  format: z.string(),
  result: z.enum(['verified', 'failed']),
  cycles: count,
  lines: z.strictObject({ kept: count, archived: count, appended: count }),
  batches: count,
  original: z.strictObject({ sha256, bytes: count }),
  archive: z.string(),
  problems: z.array(problem),
  isStillCompacted: z
    .boolean()
    .optional()
    .describe(
      'what is proven to be restorable is compacted still: the producer wrote it anew after an earlier compaction',
    ),
}) satisfies z.ZodType<VerifyReport>;
