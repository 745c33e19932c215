import type Database from 'better-sqlite3';
import type { CachedSummary } from '../../ports/archive.ts';
import { guard } from './failure.ts';
import type { SchemaGuard } from './identity.ts';
import { hashColumn, readInteger, readText, readTime, type Row, textColumn, timeColumn } from './rows.ts';
import type { SyncArchive } from './sync-archive.ts';

const FIND_SUMMARY = 'SELECT * FROM summaries WHERE request_sha256 = ?';
const KEEP_SUMMARY = `
INSERT INTO summaries (request_sha256, provider, model, text, input_tokens, cached_input_tokens, output_tokens, created_at_ms)
VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`;

export function createSummaryCache(
  db: Database.Database,
  { path, checkSchema }: { readonly path: string; readonly checkSchema: SchemaGuard },
): SyncArchive['summaries'] {
  const find = db.prepare<[Uint8Array], Row>(FIND_SUMMARY);
  const insert = db.prepare(KEEP_SUMMARY);
  const keepAll = db.transaction((summaries: Parameters<SyncArchive['summaries']['keepAll']>[0]): void => {
    checkSchema();
    for (const { request, summary } of summaries) {
      const { provider, model, text, usage, createdAt } = summary;
      insert.run(
        hashColumn(request),
        provider,
        textColumn(model),
        textColumn(text),
        usage.input_tokens,
        usage.cached_input_tokens ?? 0,
        usage.output_tokens,
        timeColumn(createdAt),
      );
    }
  });
  return {
    find: (requestSha256) =>
      guard(path, () => {
        const row = find.get(hashColumn(requestSha256));
        return row === undefined ? null : toSummary(row);
      }),
    keep: (request, summary) => guard(path, () => keepAll.immediate([{ request, summary }])),
    keepAll: (summaries) => guard(path, () => keepAll.immediate(summaries)),
  };
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
