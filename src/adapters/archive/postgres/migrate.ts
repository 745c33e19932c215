import { createHash } from 'node:crypto';
import { err, ok, type Result } from '../../../core/result.ts';
import type { ArchiveFailure } from '../../../ports/archive.ts';
import { refuseOtherBuild } from '../failure.ts';
import { readInteger, readText } from '../rows.ts';
import { MIN_SERVER_VERSION, type Place } from './failure.ts';
import { keepLogs } from './grants.ts';
import { findForeignCode } from './foreign.ts';
import { noSamples, UNSAMPLED } from './months.ts';
import { MIGRATIONS } from './schema.ts';
import type { Query, Sql } from '../sql/query.ts';

const INSPECT_SERVER = `
SELECT current_setting('server_version_num')::int AS version, current_setting('server_version') AS name, current_setting('server_encoding') AS encoding,
  pg_is_in_recovery()::int AS is_replica, (current_setting('is_superuser') = 'on')::int AS is_superuser, current_setting('search_path') AS search_path, current_setting('synchronous_commit') AS synchronous_commit`;
const INSPECT_SCHEMA = `
SELECT (to_regclass(quote_ident(:schema) || '.archive_version') IS NOT NULL)::int AS is_archive,
  (SELECT count(*) FROM pg_class WHERE relnamespace = to_regnamespace(quote_ident(:schema))) AS entries,
  (to_regnamespace(quote_ident(:schema)) IS NOT NULL)::int AS has_schema`;
/** Of the newest version. Earlier builds kept no hash, and had no column for it. */
const READ_VERSION =
  "SELECT version, to_jsonb(v) ->> 'schema_sha256' AS sha256 FROM archive_version AS v ORDER BY version DESC LIMIT 1";
/** Held until the end of a transaction that changes the schema. */
const LOCK_SCHEMA = "SELECT pg_advisory_xact_lock(hashtextextended('compact schema ' || :schema, 0))";

type Opened = { readonly isReadOnly: boolean; readonly isSuperuser: boolean };

type Preparing = {
  readonly schema: string;
  readonly place: Place;
  /** Makes a missing archive. */
  readonly create: boolean;
  /** The queue in the same schema is used too, not only the archive. */
  readonly isQueue: boolean;
};

/**
 * Finds the archive in a schema of the database, and brings it up to date. Null: there is none. The search path of the connection leads to the
 * schema.
 */
export async function prepareSchema(
  sql: Sql,
  { schema, create, place, isQueue }: Preparing,
): Promise<Result<Opened | null, ArchiveFailure>> {
  const { path } = place;
  const [server = {}] = await sql.query(INSPECT_SERVER);
  if (readInteger(server, 'version') < MIN_SERVER_VERSION * 10_000) {
    const reason = `it is on Postgres ${readText(server, 'name')}, and compact needs ${MIN_SERVER_VERSION} or newer`;
    return err({ kind: 'cannot-open', path, reason, advice: 'Update the server, or name another one with --archive.' });
  }
  if (readText(server, 'encoding') !== 'UTF8') {
    const reason = `its database has the encoding ${readText(server, 'encoding')}, and compact needs UTF8`;
    return err({ kind: 'cannot-open', path, reason, advice: `Create one with: createdb -E UTF8 -T template0 NAME` });
  }
  if (readText(server, 'search_path') !== schema || readText(server, 'synchronous_commit') === 'off') {
    const reason = 'its connection does not keep the options that compact sets (search_path, synchronous_commit)';
    return err({ kind: 'cannot-open', path, reason, advice: 'Connect to the server itself, without a pooler.' });
  }
  const isReplica = readInteger(server, 'is_replica') === 1;
  const { found, foreign } = await sql.transaction('snapshot', async (query) => {
    await query('SET LOCAL search_path = pg_catalog');
    const [row = {}] = await query(INSPECT_SCHEMA, { schema });
    return { found: row, foreign: await findForeignCode(query, { path, schema, isQueue }) };
  });
  if (readInteger(found, 'is_archive') === 0 && readInteger(found, 'entries') > 0)
    return err({ kind: 'not-ours', path, reason: `its schema ${schema} belongs to another program` });
  if (foreign !== null) return err(foreign);
  if (readInteger(found, 'is_archive') === 0) {
    if (!create) return ok(null);
    if (isReplica)
      return err({ kind: 'cannot-open', path, reason: 'the server is a replica, where nothing can be stored' });
  }
  const refusal = await sql.transaction(isReplica ? 'snapshot' : 'write', async (query) =>
    migrate(query, { schema, path, isReplica, hasSchema: readInteger(found, 'has_schema') === 1 }),
  );
  if (refusal !== null) return err(refusal);
  const [rights = {}] = await sql.query("SELECT has_table_privilege('compactions', 'INSERT')::int AS may_store");
  return ok({
    isReadOnly: isReplica || readInteger(rights, 'may_store') === 0,
    isSuperuser: readInteger(server, 'is_superuser') === 1,
  });
}

type Target = {
  readonly schema: string;
  readonly path: string;
  readonly isReplica: boolean;
  readonly hasSchema: boolean;
};

/** Applies the steps that are missing, each once, whoever else opens the archive now. */
async function migrate(query: Query, { schema, path, isReplica, hasSchema }: Target): Promise<ArchiveFailure | null> {
  if (!isReplica) await query(LOCK_SCHEMA, { schema });
  if (!hasSchema) await query(`CREATE SCHEMA IF NOT EXISTS "${schema}"`);
  const [made = {}] = await query(INSPECT_SCHEMA, { schema });
  if (readInteger(made, 'is_archive') === 0)
    await query('CREATE TABLE archive_version (version int PRIMARY KEY, schema_sha256 text NOT NULL)');
  const [current] = await query(READ_VERSION);
  const version = current === undefined ? 0 : readInteger(current, 'version');
  const supported = MIGRATIONS.length;
  if (version > supported) return { kind: 'newer', path, version, supported };
  if (current !== undefined && current['sha256'] !== schemaHash(version))
    return refuseOtherBuild(path, `its tables are not those of version ${version}`);
  if (version === supported) return null;
  if (isReplica) {
    const reason = `it is of version ${version} on a replica, so that it cannot be brought to version ${supported}`;
    return { kind: 'cannot-open', path, reason, advice: 'Open it on the primary server once.' };
  }
  for (const [step, statements] of MIGRATIONS.entries()) {
    if (step < version) continue;
    for (const statement of statements.replaceAll('[schema]', schema).split(/;\n/))
      if (/\w/.test(statement)) await query(statement);
    for (const [table, column] of UNSAMPLED) await query(noSamples(table, column));
    await query('INSERT INTO archive_version (version, schema_sha256) VALUES (:version, :sha256)', {
      version: step + 1,
      sha256: schemaHash(step + 1),
    });
  }
  await query(keepLogs(schema));
  return null;
}

/** Of the statements that lead to a version, without comments and spacing. */
function schemaHash(version: number): string {
  const statements = MIGRATIONS.slice(0, version).join('\n').replaceAll(/--.*/g, '').replaceAll(/\s+/g, ' ');
  return createHash('sha256').update(statements).digest('hex');
}
