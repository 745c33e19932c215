import type { CachedSummary, SummaryCache } from '../../../ports/archive.ts';
import { hashColumn, readInteger, readText, readTime, type Row, timeColumn } from '../rows.ts';
import type { Query, Sql } from '../sql/query.ts';

const FIND_SUMMARY = 'SELECT * FROM summaries WHERE request_sha256 = :request';
const KEEP_SUMMARY = `
INSERT INTO summaries (request_sha256, provider, model, text, input_tokens, cached_input_tokens, output_tokens, created_at_ms)
VALUES (:request, :provider, :model, :text, :input, :cached, :output, :createdAtMs) ON CONFLICT DO NOTHING RETURNING created_at_ms`;

export function createSummaryCache({ query, transaction }: Sql): SummaryCache {
  const keepAll: SummaryCache['keepAll'] = (summaries) =>
    transaction('write', async (change) => {
      for (const { request, summary } of summaries) await keepSummary(change, hashColumn(request), summary);
    });
  return {
    find: async (requestSha256) => {
      const [row] = await query(FIND_SUMMARY, { request: hashColumn(requestSha256) });
      return row === undefined ? null : toSummary(row);
    },
    keep: (request, summary) => keepAll([{ request, summary }]),
    keepAll,
  };
}

/** Says whether it is new. */
export async function keepSummary(
  query: Query,
  request: Uint8Array,
  { provider, model, text, usage, createdAt }: CachedSummary,
): Promise<boolean> {
  const kept = await query(KEEP_SUMMARY, {
    request,
    provider,
    model,
    text,
    input: usage.input_tokens,
    cached: usage.cached_input_tokens ?? 0,
    output: usage.output_tokens,
    createdAtMs: timeColumn(createdAt),
  });
  return kept.length > 0;
}

export function toSummary(row: Row): CachedSummary {
  return {
    provider: readText(row, 'provider'),
    model: readText(row, 'model'),
    text: readText(row, 'text'),
    usage: {
      input_tokens: readInteger(row, 'input_tokens'),
      cached_input_tokens: readInteger(row, 'cached_input_tokens'),
      output_tokens: readInteger(row, 'output_tokens'),
    },
    createdAt: readTime(row, 'created_at_ms') ?? new Date(Number.NaN),
  };
}
