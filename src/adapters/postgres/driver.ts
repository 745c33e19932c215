import { Client, Pool, types } from 'pg';
import type { Place } from './failure.ts';
import type { Driver } from './sql.ts';

/** Enough for one program: a search, and a transaction beside it. Each worker has a pool of its own. */
const MAX_CONNECTIONS = 4;
const CONNECT_TIMEOUT_MS = 10_000;
/** Longer than any statement should take, so that a broken one does not hold its locks forever. */
const STATEMENT_TIMEOUT_MS = 300_000;
/** The server would have stopped the statement by now, so the network is gone. */
const ANSWER_TIMEOUT_MS = STATEMENT_TIMEOUT_MS + 30_000;
const IDLE_TRANSACTION_TIMEOUT_MS = 600_000;
const KEEP_ALIVE_AFTER_MS = 30_000;

/** What a URL means after the environment has filled its gaps. Throws if a file that it names cannot be read. */
export function readConnection(url: string): Pick<Place, 'host' | 'user' | 'database'> {
  const { host, port, user, database } = new Client({ connectionString: url });
  // Where USER is unset, the driver names nobody, and the server asks for a name.
  return { host: `${host}:${port}`, user: user ?? '', database: database ?? '' };
}

/** A pool of connections to a server, which opens them when they are needed. */
export function connectPool(url: string, schema: string): Driver {
  const pool = new Pool({
    ...withOptions(url, schema),
    max: MAX_CONNECTIONS,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    query_timeout: ANSWER_TIMEOUT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_AFTER_MS,
    idle_in_transaction_session_timeout: IDLE_TRANSACTION_TIMEOUT_MS,
    application_name: 'compact',
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
    close: async () => {
      if (!pool.ending) await pool.end();
    },
  };
}

/** The driver prefers options of the URL, so ours go behind them. A file gets its new name only after a commit that is on disk. */
function withOptions(url: string, schema: string): { readonly connectionString: string; readonly options: string } {
  const parsed = new URL(url);
  const theirs = parsed.searchParams.get('options') ?? '';
  parsed.searchParams.delete('options');
  const options = `${theirs} -c search_path=${schema} -c synchronous_commit=on`.trim();
  return { connectionString: parsed.href, options };
}
