import { z } from 'zod';
import type { CompactReport, FailedReport, FailureKind, PassedReport } from '../../app/contract/reports.ts';
import { batch, beforeAfter, count, sha256 } from './parts.ts';

const cost = z.number().nonnegative().nullable().describe('by the configured prices; null: the model has none');

const block = z.strictObject({ type: z.literal('text'), text: z.string() });

const request = z.strictObject({
  system: z.string().optional(),
  messages: z.array(
    z.strictObject({ role: z.enum(['user', 'assistant', 'system']), content: z.union([z.string(), z.array(block)]) }),
  ),
  model: z.string(),
  max_tokens: count,
  temperature: z.number().optional(),
});

const conversation = z.strictObject({
  id: z.string(),
  cycles: count,
  messages: beforeAfter,
  tokens: z.strictObject({ before: count, after: count, by: z.string().describe('how tokens were estimated') }),
  batches: z.array(batch).describe('the live batches that the clip-archive speaks of, oldest first'),
});

const usage = z.strictObject({
  calls: count,
  inputTokens: count,
  cachedInputTokens: count.describe('of the tokens in, those that the service had cached'),
  outputTokens: count,
  reused: count.describe('summaries that were paid before'),
  retries: count,
  waitedMs: z.number().nonnegative(),
  cost,
});

const doneSchema = z.strictObject({
  schema: z.literal('compact/report@1'),
  file: z.string(),
  format: z.string(),
  result: z.enum(['compacted', 'planned', 'skipped']),
  reason: z.enum(['too-short', 'under-limit', 'nothing-gained', 'nothing-new', 'no-legal-cut', 'in-use']).optional(),
  notes: z.array(z.string()).describe('sentences for people'),
  output: z.string().nullable().describe('null: nothing was written; "-": standard output'),
  sha256: z.strictObject({ before: sha256, after: sha256.nullable() }),
  bytes: z.strictObject({ before: count, after: count.nullable() }),
  conversations: z.array(conversation),
  ledger: z
    .strictObject({ kept: count, summarized: count, other: count, total: count })
    .describe('lines of the input; each is exactly one of the three'),
  archive: z.string().nullable().describe('null: nothing was stored'),
  plan: z
    .strictObject({
      chunks: count,
      requests: count,
      tokensIn: count.describe('estimate'),
      tokensOut: count.describe('estimate'),
      cost,
      asked: z
        .array(
          z.strictObject({
            conversation: z.string(),
            messages: count,
            tokensIn: count.describe('estimate'),
            request: request.nullable().describe('null: it waits for the summary before it'),
          }),
        )
        .optional()
        .describe('of a model, chunk after chunk'),
    })
    .optional()
    .describe('of a dry run: what would be asked'),
  preview: z
    .array(z.strictObject({ conversation: z.string(), text: z.string() }))
    .optional()
    .describe('the clip-archives as they would be written'),
  usage: usage.optional(),
  retention: z
    .strictObject({
      kept: count,
      total: count,
      batches: z.array(z.strictObject({ label: z.string(), kept: count, total: count, lost: z.array(z.string()) })),
    })
    .optional()
    .describe('of the salient facts'),
}) satisfies z.ZodType<CompactReport>;

const failureKind = z.enum([
  'not-found',
  'not-a-file',
  'denied',
  'no-space',
  'foreign-leftover',
  'held',
  'io',
  'damaged',
  'no-room',
  'unpacks-too-large',
  'unfinished',
  'no-match',
  'bad-line',
  'not-a-transcript',
  'unknown-format',
  'mixed-formats',
  'no-messages',
  'no-text',
  'output-exists',
  'source-changed',
  'in-use',
  'not-compacted',
  'not-in-archive',
  'written-anew',
  'altered',
  'no-summary',
  'low-retention',
  'archive-cannot-open',
  'archive-not-ours',
  'archive-newer',
  'archive-damaged',
  'archive-busy',
  'archive-no-space',
  'bug',
]) satisfies z.ZodType<FailureKind>;

const failedSchema = z.strictObject({
  schema: z.literal('compact/report@1'),
  file: z.string(),
  result: z.literal('failed'),
  error: z.strictObject({ kind: failureKind, message: z.string().describe('for people') }),
  usage: usage.optional().describe('spent in vain'),
}) satisfies z.ZodType<FailedReport>;

const passedSchema = z.strictObject({
  schema: z.literal('compact/report@1'),
  file: z.string(),
  result: z.literal('skipped'),
  reason: z
    .enum(['no-messages', 'no-text', 'not-a-transcript', 'unknown-format', 'mixed-formats', 'bad-line'])
    .describe('not named itself, and no conversation that can be read is in it'),
  notes: z.array(z.string()),
}) satisfies z.ZodType<PassedReport>;

/** What `compact --json` prints, one line a transcript. */
export const compactReportSchema = z.union([doneSchema, passedSchema, failedSchema]);
