import type Database from 'better-sqlite3';
import type { BatchChange, BatchRecord } from '../../ports/batch.ts';
import { guard } from './failure.ts';
import type { SchemaGuard } from './identity.ts';
import { createStatements, readText, type Row, textColumn } from './rows.ts';
import type { SyncArchive } from './sync-archive.ts';

/** For both engines. */
export const BATCH_SQL = {
  list: 'SELECT * FROM batch_records WHERE kind = :kind AND key > :after ORDER BY key LIMIT :limit',
  listInState:
    'SELECT * FROM batch_records WHERE kind = :kind AND state = :state AND key > :after ORDER BY key LIMIT :limit',
  find: 'SELECT * FROM batch_records WHERE kind = :kind AND key = :key',
  add: `
INSERT INTO batch_records (kind, key, state, value) VALUES (:kind, :key, :state, :value)
ON CONFLICT DO NOTHING RETURNING kind`,
  change: `
UPDATE batch_records SET state = :state, value = :value WHERE kind = :kind AND key = :key AND state = :from
RETURNING kind`,
} as const;

/** Rolls a transaction back: a record is not in the state in which it should be. */
export class OutdatedChangeError extends Error {}

export function createBatchRecords(
  db: Database.Database,
  { path, checkSchema }: { readonly path: string; readonly checkSchema: SchemaGuard },
): SyncArchive['batches'] {
  const statement = createStatements(db);
  const change = db.transaction((changes: readonly BatchChange[]): void => {
    checkSchema();
    for (const { from, key, ...one } of changes) {
      const values = { ...one, key: textColumn(key), ...(from === null ? {} : { from }) };
      if (statement(from === null ? BATCH_SQL.add : BATCH_SQL.change).all(values).length === 0)
        throw new OutdatedChangeError();
    }
  });
  return {
    list: (kind, { state, after, limit }) =>
      guard(path, () => {
        const values = { kind, after: textColumn(after), limit };
        const rows =
          state === null
            ? statement(BATCH_SQL.list).all(values)
            : statement(BATCH_SQL.listInState).all({ ...values, state });
        return rows.map(toBatchRecord);
      }),
    find: (kind, keys) =>
      guard(path, () =>
        keys.flatMap((key) =>
          statement(BATCH_SQL.find)
            .all({ kind, key: textColumn(key) })
            .map(toBatchRecord),
        ),
      ),
    change: (changes) =>
      guard(path, () => {
        try {
          change.immediate(changes);
          return true;
        } catch (error) {
          if (error instanceof OutdatedChangeError) return false;
          throw error;
        }
      }),
  };
}

export function toBatchRecord(row: Row): BatchRecord {
  const kind = readText(row, 'kind');
  return {
    kind: kind === 'file' || kind === 'batch' ? kind : 'request',
    key: readText(row, 'key'),
    state: readText(row, 'state'),
    value: readText(row, 'value'),
  };
}
