import process from 'node:process';
import { Client, Pool, type QueryConfig, types } from 'pg';
import { HIDDEN_PASSWORD, hidePassword } from '../../../core/paths.ts';
import { err, ok, type Result } from '../../../core/result.ts';
import type { Archive, ArchiveFailure } from '../../../ports/archive.ts';
import { createPostgresArchive } from './archive.ts';
import { isConflict, isLost, type Place, toFailure } from './failure.ts';
import { prepareSchema } from './migrate.ts';
import { createSql, type Driver, type PostgresSql, type Retry } from './sql.ts';

/** What the driver and the queue tell programmers: pg, pg-connection-string, pg-boss. */
const ADVICE = /\bpg@\d|\bpg v\d|^SECURITY WARNING: The SSL modes|pgboss\.io|PGBOSS_/;

/** Keeps the driver's advice to programmers from the users' stderr. Other warnings are shown as before. */
export function hideDriverAdvice(host: Pick<NodeJS.Process, 'emitWarning'> = process): void {
  const emit = host.emitWarning.bind(host);
  host.emitWarning = (warning: string | Error, ...rest: readonly unknown[]): void => {
    const text = typeof warning === 'string' ? warning : warning.message;
    if (!ADVICE.test(`${text} ${rest.join(' ')}`)) Reflect.apply(emit, host, [warning, ...rest]);
  };
}

hideDriverAdvice();

export type OpenPostgresOptions = {
  /** postgres://user@host:port/database?schema=compact */
  readonly url: string;
  /** False: a missing archive is null, and nothing is created. */
  readonly create: boolean;
  /** Tells people that the connection is lost, and that it is back. */
  readonly notice: (message: string) => void;
  /** An aborted wait ends at once. */
  readonly wait: (ms: number, signal?: AbortSignal) => Promise<void>;
};

/** Opens the archive in a Postgres database. The password comes from PGPASSWORD or ~/.pgpass. */
export async function openPostgresArchive(
  options: OpenPostgresOptions,
): Promise<Result<Archive | null, ArchiveFailure>> {
  return openPostgresFor(options, useArchive);
}

/** The same for merging. */
export async function openPostgresFor<T>(
  options: OpenPostgresOptions,
  use: Use<T>,
): Promise<Result<T | null, ArchiveFailure>> {
  const target = parseTarget(options.url);
  if (!target.ok) return target;
  return openSql(connectPool(options.url, target.value.schema), { ...options, ...target.value }, use);
}

/** The same on a driver whose search path leads to the schema. */
export async function openOn(driver: Driver, opening: Opening): Promise<Result<Archive | null, ArchiveFailure>> {
  return openSql(driver, opening, useArchive);
}

type Opening = Pick<OpenPostgresOptions, 'create' | 'notice' | 'wait'> & Target;
type Opened = Target & { readonly sql: PostgresSql; readonly isReadOnly: boolean };
type Use<T> = (opened: Opened) => Promise<Result<T, ArchiveFailure>>;

const useArchive: Use<Archive> = async ({ sql, ...opened }) => ok(createPostgresArchive(sql, opened));

/** Gives what `use` makes of the database; null: there is no archive in it. */
export async function openSql<T>(
  driver: Driver,
  { create, notice, wait, place, schema }: Opening,
  use: Use<T>,
): Promise<Result<T | null, ArchiveFailure>> {
  const state = { isOpen: false };
  const waitForServer = createRetry({ path: place.path, notice, wait });
  // A server that is not there at the beginning is a mistake in the URL, mostly.
  const sql = createSql(driver, (work) => (state.isOpen ? waitForServer(work) : work()));
  try {
    const prepared = await prepareSchema(sql, { schema, create, place, isQueue: false });
    if (!prepared.ok || prepared.value === null) return prepared.ok ? ok(null) : prepared;
    state.isOpen = true;
    const advice = "Use a role that owns only the archive: 'compact archive grants owner' prints the SQL for it.";
    if (prepared.value.isSuperuser) notice(`${place.path}: user ${place.user} is a superuser of the server. ${advice}`);
    return await use({ sql, place, schema, isReadOnly: prepared.value.isReadOnly });
  } catch (error) {
    const failure = toFailure(error, place);
    if (failure === null) throw error;
    return err(failure);
  } finally {
    if (!state.isOpen) await driver.close();
  }
}

const DEFAULT_SCHEMA = 'compact';

export type Target = { readonly place: Place; readonly schema: string };

export function parseTarget(url: string): Result<Target, ArchiveFailure> {
  const path = hidePassword(url);
  const refuse = (reason: string, advice: string): Result<never, ArchiveFailure> =>
    err({ kind: 'cannot-open', path, reason, advice });
  if (path.includes(HIDDEN_PASSWORD))
    return refuse(
      'its URL has a password, which other users of this machine could see',
      'Remove it, and set PGPASSWORD or add a line for this server to ~/.pgpass.',
    );
  const parsed = URL.parse(url);
  if (parsed === null) return refuse('its URL cannot be read', 'Write it as postgres://user@host/database.');
  const schema = parsed.searchParams.get('schema') ?? DEFAULT_SCHEMA;
  if (!/^[a-z_][\da-z_]{0,40}$/.test(schema))
    return refuse(
      'its schema name is not valid',
      'Use up to 41 lowercase letters, digits and underscores, and start with a letter or an underscore.',
    );
  try {
    const { isEncrypted, ...connection } = readConnection(url);
    const mode = parsed.searchParams.get('sslmode') ?? process.env['PGSSLMODE'];
    if (!isEncrypted && mode !== 'disable' && !isThisMachine(connection.host))
      return refuse(
        `the connection to ${connection.host} would not be encrypted`,
        'Add sslmode=verify-full to the URL, or sslmode=disable if nobody else can read what goes there.',
      );
    return ok({ place: { path, ...connection }, schema });
  } catch (error) {
    return refuse(`its URL cannot be used: ${error instanceof Error ? error.message : String(error)}`, 'Correct it.');
  }
}

/** How long a run waits for a server that is gone. */
const MAX_OUTAGE_MS = 120_000;
const [FIRST_WAIT_MS, MAX_WAIT_MS] = [250, 5000];
const MAX_CONFLICTS = 5;

type RetryOptions = Pick<OpenPostgresOptions, 'notice' | 'wait'> & {
  readonly path: string;
  readonly maxOutageMs?: number;
  /** Ends the waiting, which then fails as without it. */
  readonly signal?: AbortSignal | undefined;
};

export function createRetry({ path, notice, wait, maxOutageMs = MAX_OUTAGE_MS, signal }: RetryOptions): Retry {
  const outage = { isTold: false };
  return async (work) => {
    let waitedMs = 0;
    for (let conflicts = 0, waitMs = FIRST_WAIT_MS; ;) {
      try {
        const result = await work();
        if (outage.isTold && waitedMs > 0) {
          outage.isTold = false;
          notice(`${path}: the server is back after ${Math.round(waitedMs / 1000)} s. The run goes on.`);
        }
        return result;
      } catch (error) {
        if (isConflict(error) && conflicts < MAX_CONFLICTS) {
          conflicts += 1;
          continue;
        }
        if (!isLost(error) || waitedMs >= maxOutageMs || signal?.aborted) throw error;
        if (!outage.isTold)
          notice(`${path}: no connection to the server. Trying again for up to ${maxOutageMs / 1000} s.`);
        outage.isTold = true;
        await wait(waitMs, signal);
        waitedMs += waitMs;
        waitMs = Math.min(MAX_WAIT_MS, 2 * waitMs);
      }
    }
  };
}

/** Enough for one program: a search, and a transaction beside it. Each worker has a pool of its own. */
const MAX_CONNECTIONS = 4;
const CONNECT_TIMEOUT_MS = 10_000;
/** Longer than most models take, so that an answer is stored without connecting first. */
const IDLE_CONNECTION_MS = 300_000;
/** Longer than any statement should take, so that a broken one does not hold its locks forever. */
export const STATEMENT_TIMEOUT_MS = 300_000;
/** The server would have stopped the statement by now, so the network is gone. */
const ANSWER_TIMEOUT_MS = STATEMENT_TIMEOUT_MS + 30_000;
/** While a statement waits for a table, all others wait behind it. */
const MAX_LOCK_WAIT_MS = 10_000;
const MAX_MAINTENANCE_MS = 24 * 60 * 60_000;
const IDLE_TRANSACTION_TIMEOUT_MS = 600_000;
const KEEP_ALIVE_AFTER_MS = 30_000;

/** A socket, or an address that never leaves the machine. */
function isThisMachine(hostAndPort: string): boolean {
  return /^(?:\/.*|(?:localhost|127(?:\.\d{1,3}){3}|\[?::1\]?)?):\d+$/i.test(hostAndPort);
}

/** What a URL means after the environment has filled its gaps. Throws if a file that it names cannot be read. */
export function readConnection(
  url: string,
): Pick<Place, 'host' | 'user' | 'database'> & { readonly isEncrypted: boolean } {
  const client = new Client({ connectionString: url });
  const { host, port, user, database } = client;
  const ssl: unknown = client.ssl; // its type says less than it can be
  // Where USER is unset, the driver names nobody, and the server asks for a name.
  return { host: `${host}:${port}`, user: user ?? '', database: database ?? '', isEncrypted: Boolean(ssl) };
}

/** A pool of connections to a server, which opens them when they are needed. */
export function connectPool(url: string, schema: string): Driver {
  const pool = new Pool({
    ...withOptions(url, schema),
    max: MAX_CONNECTIONS,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    idleTimeoutMillis: IDLE_CONNECTION_MS,
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
    maintain: async (sql) => {
      const client = await pool.connect();
      try {
        await client.query(`SET statement_timeout = 0`);
        await client.query(`SET lock_timeout = ${MAX_LOCK_WAIT_MS}`);
        await client.query({ text: sql, query_timeout: MAX_MAINTENANCE_MS } as QueryConfig);
      } finally {
        client.release(true); // with its settings
      }
    },
    close: async () => {
      if (!pool.ending) await pool.end();
    },
  };
}

/**
 * The driver prefers options of the URL, so ours go behind them. A file gets its new name only after a commit that is on disk. Compiling a
 * statement (`jit`) takes far longer than any of ours runs.
 */
export function withOptions(url: string, schema: string) {
  const parsed = new URL(url);
  const theirs = parsed.searchParams.get('options') ?? '';
  parsed.searchParams.delete('options');
  const options = `${theirs} -c search_path=${schema} -c synchronous_commit=on -c jit=off`.trim();
  return { connectionString: parsed.href, options };
}
