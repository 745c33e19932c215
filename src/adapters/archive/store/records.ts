import type { CachedSummary, SummaryCache } from '../../../ports/archive.ts';
import { hashColumn, readFields, readInteger, readMoment, readText, type Row, timeColumn } from '../rows.ts';
import type { Query, Sql } from '../sql/query.ts';
import type { BatchRecord, BatchRecords } from '../../../ports/batch.ts';
import type { Choice, Choices } from '../../../ports/retention.ts';

const FIND_SUMMARY = 'SELECT * FROM summaries WHERE request_sha256 = :request';
const FORGET_SUMMARY = 'DELETE FROM summaries WHERE request_sha256 = :request';
const KEEP_SUMMARY = `
INSERT INTO summaries (request_sha256, provider, model, text, input_tokens, cached_input_tokens, output_tokens, created_at_ms)
VALUES (:request, :provider, :model, :text, :input_tokens, :cached_input_tokens, :output_tokens, :createdAtMs) ON CONFLICT DO NOTHING RETURNING created_at_ms`;

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
  { usage: { cached_input_tokens = 0, ...usage }, createdAt, ...summary }: CachedSummary,
): Promise<boolean> {
  const values = { ...summary, request, ...usage, cached_input_tokens, createdAtMs: timeColumn(createdAt) };
  return (await query(KEEP_SUMMARY, values)).length > 0;
}

export function toSummary(row: Row): CachedSummary {
  const usage = { input_tokens: readInteger, cached_input_tokens: readInteger, output_tokens: readInteger };
  return {
    ...readFields(row, { provider: readText, model: readText, text: readText }),
    usage: readFields(row, usage),
    createdAt: readMoment(row, 'created_at'),
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
    ...readFields(row, { key: readText, state: readText, value: readText }),
  };
}

const ADD_CHOICE = `
INSERT INTO choices (kind, conversation_id, path, text, chosen_at_ms) VALUES (:kind, :conversationId, :path, :text, :at)
ON CONFLICT (kind, conversation_id, path, text) DO NOTHING RETURNING conversation_id`;
const LIST_CHOICES = 'SELECT * FROM choices ORDER BY kind, conversation_id, path, text';
const REMOVE_CHOICE =
  'DELETE FROM choices WHERE kind = :kind AND conversation_id = :conversationId AND path = :path AND text = :text';

/** Says whether it is new: the earlier of two equal ones stays. */
export async function addChoice(query: Query, { chosenAt, ...choice }: Choice): Promise<boolean> {
  return (await query(ADD_CHOICE, { ...choice, at: timeColumn(chosenAt) })).length > 0;
}

export function createChoices(sql: Sql): Choices {
  return {
    list: async () =>
      (await sql.query(LIST_CHOICES)).map((row) => ({
        kind: readText(row, 'kind') === 'pin' ? 'pin' : 'drop-rule',
        ...readFields(row, { conversationId: readText, path: readText, text: readText, chosenAt: readMoment }),
      })),
    add: (choice) => sql.transaction('write', (query) => addChoice(query, choice)),
    remove: (choice) => sql.transaction('write', async (query) => void (await query(REMOVE_CHOICE, { ...choice }))),
  };
}
