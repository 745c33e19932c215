import { z } from 'zod';
import type { ArchiveListReport } from '../../app/contract/archive-reports.ts';
import { beforeAfter, count, sha256 } from './parts.ts';

const compaction = z.strictObject({
  at: z.iso.datetime(),
  file: z.string(),
  output: z.string().nullable().describe('null: standard output'),
  format: z.string(),
  conversations: z.array(z.strictObject({ id: z.string(), cycle: count })),
  lines: z.strictObject({ archived: count, total: count }),
  bytes: beforeAfter,
  sha256: sha256.describe('of the file before'),
});

/** What `compact archive list --json` prints. */
export const archiveListReportSchema = z.strictObject({
  schema: z.literal('compact/archive-list@1'),
  archive: z.string().nullable().describe('null: there is none'),
  compactions: z.array(compaction).describe('newest first'),
}) satisfies z.ZodType<ArchiveListReport>;
