import type { BatchRecord, BatchRecords } from '../../../ports/batch.ts';
import { readText, type Row } from '../rows.ts';
import type { Sql } from '../sql/query.ts';

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
