import { z } from 'zod';
import type { ArchiveStatsReport } from '../../app/contract/archive-reports.ts';
import { count, time } from './parts.ts';

/** What `compact archive stats --json` prints. */
export const archiveStatsReportSchema = z.strictObject({
  schema: z.literal('compact/archive-stats@1'),
  archive: z.string().nullable().describe('null: there is none'),
  compactions: count,
  prepared: count.describe('begun, and neither confirmed nor taken back yet; not counted elsewhere'),
  conversations: count,
  batches: count,
  lines: count,
  messages: count,
  bytes: z.strictObject({
    original: count,
    packed: count,
    file: count,
    share: z.number().nonnegative().nullable().describe('of the file in the original'),
  }),
  vectors: z
    .strictObject({ provider: z.string(), model: z.string(), dimensions: count, done: count, total: count })
    .nullable()
    .describe('for search by meaning: how many messages and batches have one; null: none has'),
  oldest: time,
  newest: time,
  formats: z.array(z.strictObject({ format: z.string(), compactions: count, lines: count, bytes: count })),
}) satisfies z.ZodType<ArchiveStatsReport>;
