import { z } from 'zod';
import type { SearchReport } from '../../app/contract/archive-reports.ts';
import { count, time } from './parts.ts';

const common = {
  show: z.string().describe('what compact show takes'),
  file: z.string(),
  score: z.number().nullable().describe('the higher the better; null with --newest'),
  text: z.string().describe('an excerpt around the words found'),
  marks: z.array(z.strictObject({ start: count, end: count })).describe('those words, in UTF-16 units of the text'),
};

const message = z.strictObject({
  kind: z.literal('message'),
  id: z.string().describe('its own in the transcript, else line:N'),
  label: z.string().nullable().describe('the batch that it was summarized in'),
  conversation: z.string().nullable(),
  role: z.string(),
  name: z.string().nullable(),
  at: time,
  index: z.int().positive().nullable().describe("from 1, over the conversation's life"),
  line: z.int().positive(),
  ...common,
});

const batch = z.strictObject({
  kind: z.literal('batch'),
  id: z.string(),
  label: z.string(),
  conversation: z.string(),
  depth: count,
  count,
  start: time,
  at: time,
  ...common,
});

/** What `compact search --json` prints, and `compact search -` for each line that it reads. */
export const searchReportSchema = z.strictObject({
  schema: z.literal('compact/search@1'),
  query: z.string(),
  hits: z.array(z.discriminatedUnion('kind', [message, batch])).describe('best first'),
  archive: z.string().nullable().describe('null: there is none'),
  error: z.string().optional().describe('why there is no answer, where one query among many failed'),
}) satisfies z.ZodType<SearchReport>;
