import { z } from 'zod';
import type { ScanReport } from '../../app/survey/scan-file.ts';
import { beforeAfter, count, time } from './parts.ts';

/** What `compact scan --json` prints, one line a transcript. */
export const scanReportSchema = z.strictObject({
  schema: z.literal('compact/scan@1'),
  file: z.string(),
  format: z.string(),
  project: z.string().nullable().describe('the folder that was worked in, else the name that its producer gave it'),
  at: time.describe('of the last message; null: the last ones have no time'),
  modified: z.iso.datetime().describe('the last write to the file'),
  bytes: count,
  conversations: count,
  messages: count,
  tokens: beforeAfter.extend({ by: z.string() }).describe('`after`: about what a compaction would leave'),
  saving: count.describe('tokens, about'),
  reason: z
    .enum(['too-short', 'under-limit', 'nothing-gained', 'nothing-new', 'no-legal-cut', 'in-use'])
    .optional()
    .describe('why nothing would be done'),
}) satisfies z.ZodType<ScanReport>;
