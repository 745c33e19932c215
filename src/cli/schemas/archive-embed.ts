import { z } from 'zod';
import type { ArchiveEmbedReport } from '../../app/search/embeddings/embed-archive.ts';
import { count } from './parts.ts';

/** What `compact archive embed --json` prints. */
export const archiveEmbedReportSchema = z.strictObject({
  schema: z.literal('compact/archive-embed@1'),
  archive: z.string().nullable().describe('null: there is none'),
  result: z.enum(['complete', 'partial', 'interrupted']),
  provider: z.string(),
  model: z.string(),
  dimensions: count.nullable().describe('numbers in a vector; null: there is none'),
  embedded: count.describe('messages and summaries that got their vector now'),
  missing: count.describe('those that have none still'),
  dropped: count.describe('vectors of another model that were dropped'),
  error: z.string().optional().describe('what was in the way'),
}) satisfies z.ZodType<ArchiveEmbedReport>;
