import { type AuditLog, type Deed, DEEDS, type LogEntry } from '../../../ports/archive.ts';
import { thisCaller } from '../../runtime/node.ts';
import { DamageError } from '../failure.ts';
import { readCaller, readFields, readMoment, readText, type Row, timeColumn } from '../rows.ts';
import type { Query, Sql } from '../sql/query.ts';

const LIST = 'SELECT * FROM deeds ORDER BY done_at_ms, id';
const ADD = `
INSERT INTO deeds (token, done_at_ms, user_name, host, version, action, details)
VALUES (:token, :doneAtMs, :user, :host, :version, :action, :details) ON CONFLICT (token) DO NOTHING RETURNING token`;

export function createAuditLog({ query, transaction }: Sql): AuditLog {
  return {
    list: async () => (await query(LIST)).map(toEntry),
    add: async (deed) => {
      const entry = toLogEntry(deed);
      await transaction('write', (within) => keepEntry(within, entry));
    },
  };
}

/** Names who does it. Made before a transaction, so that one which is repeated logs it once. */
export function toLogEntry(deed: Deed): LogEntry {
  return { ...deed, token: crypto.randomUUID(), by: thisCaller() };
}

/** Says whether it is new. */
export async function keepEntry(query: Query, { doneAt, by, ...entry }: LogEntry): Promise<boolean> {
  return (await query(ADD, { ...entry, ...by, doneAtMs: timeColumn(doneAt) })).length > 0;
}

function toEntry(row: Row): LogEntry {
  const action = DEEDS.find((one) => one === row['action']);
  if (action === undefined) throw new DamageError("a row's action is not what was stored");
  const entry = readFields(row, { token: readText, doneAt: readMoment, details: readText });
  return { ...entry, by: readCaller(row), action };
}
