import type { CachedSummary, SummaryCache } from '../../../ports/archive.ts';
import { hashColumn, readInteger, readText, readTime, type Row, timeColumn } from '../rows.ts';
import type { Query, Sql } from '../sql/query.ts';
import type { BatchRecord, BatchRecords } from '../../../ports/batch.ts';
import type { Choices } from '../../../ports/retention.ts';

const FIND_SUMMARY = 'SELECT * FROM summaries WHERE request_sha256 = :request';
const FORGET_SUMMARY = 'DELETE FROM summaries WHERE request_sha256 = :request';
const KEEP_SUMMARY = `
INSERT INTO summaries (request_sha256, provider, model, text, input_tokens, cached_input_tokens, output_tokens, created_at_ms)
VALUES (:request, :provider, :model, :text, :input, :cached, :output, :createdAtMs) ON CONFLICT DO NOTHING RETURNING created_at_ms`;

export function createSummaryCache({ query, transaction }: Sql): SummaryCache {
  const keepAll: SummaryCache['keepAll'] = (summaries) =>
    transaction('write', async (change) => {
      for (const { request, summary } of summaries) {
        // A later answer replaces an earlier one.
        await change(FORGET_SUMMARY, { request: hashColumn(request) });
        await keepSummary(change, hashColumn(request), summary);
      }
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

const LIST = 'SELECT * FROM batch_records WHERE kind = :kind AND key > :after ORDER BY key LIMIT :limit';
const LIST_IN_STATE =
  'SELECT * FROM batch_records WHERE kind = :kind AND state = :state AND key > :after ORDER BY key LIMIT :limit';
const FIND = 'SELECT * FROM batch_records WHERE kind = :kind AND key = :key';
const ADD = `
INSERT INTO batch_records (kind, key, state, value) VALUES (:kind, :key, :state, :value)
ON CONFLICT DO NOTHING RETURNING kind`;
const CHANGE = `
UPDATE batch_records SET state = :state, value = :value WHERE kind = :kind AND key = :key AND state = :from
RETURNING kind`;

/** Rolls a transaction back: a record is not in the state in which it should be. */
class OutdatedChangeError extends Error {}

export function createProviderBatches({ query, transaction }: Sql): BatchRecords {
  return {
    list: async (kind, { state, ...page }) => {
      const rows = await (state === null
        ? query(LIST, { kind, ...page })
        : query(LIST_IN_STATE, { kind, state, ...page }));
      return rows.map(toRecord);
    },
    find: async (kind, keys) => (await Promise.all(keys.map((key) => query(FIND, { kind, key })))).flat().map(toRecord),
    change: async (changes) => {
      try {
        await transaction('write', async (change) => {
          for (const { from, ...one } of changes) {
            const done = await change(from === null ? ADD : CHANGE, from === null ? one : { ...one, from });
            if (done.length === 0) throw new OutdatedChangeError();
          }
        });
        return true;
      } catch (error) {
        if (error instanceof OutdatedChangeError) return false;
        throw error;
      }
    },
  };
}

function toRecord(row: Row): BatchRecord {
  const kind = readText(row, 'kind');
  return {
    kind: kind === 'file' || kind === 'batch' ? kind : 'request',
    key: readText(row, 'key'),
    state: readText(row, 'state'),
    value: readText(row, 'value'),
  };
}

/** The earlier of two equal ones stays. */
export const ADD_CHOICE = `
INSERT INTO choices (kind, conversation_id, path, text, chosen_at_ms) VALUES (:kind, :conversationId, :path, :text, :at)
ON CONFLICT (kind, conversation_id, path, text) DO NOTHING RETURNING conversation_id`;
const LIST_CHOICES = 'SELECT * FROM choices ORDER BY kind, conversation_id, path, text';
const REMOVE_CHOICE =
  'DELETE FROM choices WHERE kind = :kind AND conversation_id = :conversationId AND path = :path AND text = :text';

export function createChoices(sql: Sql): Choices {
  return {
    list: async () =>
      (await sql.query(LIST_CHOICES)).map((row) => ({
        kind: readText(row, 'kind') === 'pin' ? 'pin' : 'drop-rule',
        conversationId: readText(row, 'conversation_id'),
        path: readText(row, 'path'),
        text: readText(row, 'text'),
        chosenAt: readTime(row, 'chosen_at_ms') ?? new Date(0),
      })),
    add: ({ kind, conversationId, path, text, chosenAt }) =>
      sql.transaction('write', async (query) => {
        const added = await query(ADD_CHOICE, { kind, conversationId, path, text, at: timeColumn(chosenAt) });
        return added.length > 0;
      }),
    remove: ({ kind, conversationId, path, text }) =>
      sql.transaction(
        'write',
        async (query) => void (await query(REMOVE_CHOICE, { kind, conversationId, path, text })),
      ),
  };
}
