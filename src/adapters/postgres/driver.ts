import { Pool, types } from 'pg';
import type { Driver } from './sql.ts';

/** Enough for one program: a search, and a transaction beside it. Each worker has a pool of its own. */
const MAX_CONNECTIONS = 4;
const CONNECT_TIMEOUT_MS = 10_000;
/** Longer than any statement should take, so that a broken one does not hold its locks forever. */
const STATEMENT_TIMEOUT_MS = 300_000;
const IDLE_TRANSACTION_TIMEOUT_MS = 600_000;

/** A pool of connections to a server, which opens them when they are needed. */
export function connectPool(url: string, schema: string): Driver {
  const pool = new Pool({
    connectionString: url,
    max: MAX_CONNECTIONS,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    idle_in_transaction_session_timeout: IDLE_TRANSACTION_TIMEOUT_MS,
    application_name: 'compact',
    options: `-c search_path=${schema}`,
    allowExitOnIdle: true,
    types: {
      // No number of an archive is as large as 2^53.
      getTypeParser: (oid, format) => (oid === types.builtins.INT8 ? Number : types.getTypeParser(oid, format)),
    },
  });
  // A connection that breaks while nothing runs on it is replaced; a statement on it fails by itself.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  return {
    query: async (sql, values) => (await pool.query<Record<string, unknown>>(sql, [...values])).rows,
    connect: async () => {
      const client = await pool.connect();
      return {
        query: async (sql, values) => (await client.query<Record<string, unknown>>(sql, [...values])).rows,
        release: (isBroken) => client.release(isBroken),
      };
    },
    close: () => pool.end(),
  };
}
