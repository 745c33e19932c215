import { z } from 'zod';
import type { ArchiveCheckReport } from '../../app/search/check-archive.ts';
import { count } from './parts.ts';

const problem = z.strictObject({
  kind: z.enum([
    'structure',
    'unreadable',
    'reference',
    'block',
    'wrong-hash',
    'hole',
    'wrong-count',
    'order',
    'search',
  ]),
  message: z.string(),
  files: z.array(z.string()).describe('the transcripts that it touches, from the root'),
});

/** What `compact archive check --json` prints. */
export const archiveCheckReportSchema = z.strictObject({
  schema: z.literal('compact/archive-check@1'),
  archive: z.string(),
  result: z.enum(['sound', 'damaged']),
  compactions: count,
  batches: count,
  lines: count,
  blocks: count,
  bytes: z
    .strictObject({ original: count, packed: count, file: count })
    .describe('of the archived lines; of the archive'),
  prepared: z
    .array(z.strictObject({ files: z.array(z.string()) }))
    .describe('compactions that were begun and neither confirmed nor taken back yet'),
  problems: z.array(problem),
  moreProblems: count.describe('problems beyond those that are listed'),
}) satisfies z.ZodType<ArchiveCheckReport>;
