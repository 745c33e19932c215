import { z } from 'zod';
import type { ShowReport } from '../../app/contract/archive-reports.ts';
import { batch, count, sha256, time } from './parts.ts';

const common = {
  schema: z.literal('compact/show@1'),
  show: z.string(),
  file: z.string(),
  format: z.string(),
  archivedAt: z.iso.datetime(),
  sha256,
  text: z.string(),
};

const shownBatch = z.strictObject({
  kind: z.literal('batch'),
  ...batch.shape,
  conversation: z.string(),
  cycle: count,
  indices: z.strictObject({ first: count, last: count }).nullable(),
  isLive: z.boolean().describe('a clip-archive speaks of it still'),
  sources: z.array(batch).describe('the batches that it was made from; none: it was made from messages'),
  replacedBy: z.array(z.string()),
  ...common,
});

const shownMessage = z.strictObject({
  kind: z.literal('message'),
  id: z.string().nullable(),
  label: z.string().nullable().describe('the batch that it was summarized in'),
  conversation: z.string().nullable(),
  role: z.string().nullable().describe('null: the line is no message'),
  name: z.string().nullable(),
  at: time,
  index: z.int().positive().nullable(),
  line: z.int().positive(),
  original: z
    .strictObject({ encoding: z.enum(['utf-8', 'base64']), data: z.string() })
    .describe('the line as it stood, its ending included'),
  ...common,
});

const { text: _text, ...whole } = common;
const shownCompaction = z.strictObject({
  kind: z.literal('compaction'),
  ...whole,
  output: z.string().nullable(),
  conversations: z.array(z.strictObject({ id: z.string(), cycle: count })),
  lines: z.strictObject({ archived: count, total: count }),
  batches: z.array(batch).describe('all that its clip-archives speak of, oldest first'),
});

/** What `compact show --json` prints; with --messages, one a line. */
export const showReportSchema = z.discriminatedUnion('kind', [
  shownBatch,
  shownMessage,
  shownCompaction,
]) satisfies z.ZodType<ShowReport>;
