import { createHash } from 'node:crypto';
import { err, ok, type Result } from '../../../core/result.ts';
import type { ArchiveFailure } from '../../../ports/archive.ts';
import { refuseOtherBuild } from '../failure.ts';
import { readInteger, readOptionalText, readText, type Row } from '../rows.ts';
import { MIN_SERVER_VERSION, type Place } from './failure.ts';
import { keepLogs } from './grants.ts';
import { ADD_MONTH_SHA256, MIGRATIONS, noSamples, UNSAMPLED } from './schema.ts';
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
): Promise<Result<{ readonly isReadOnly: boolean; readonly isSuperuser: boolean } | null, ArchiveFailure>> {
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

type Target = Pick<Preparing, 'schema'> & {
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
    await query.insert('archive_version', [{ version: step + 1, schema_sha256: schemaHash(step + 1) }]);
  }
  await query(keepLogs(schema));
  return null;
}

/** Of the statements that lead to a version, without comments and spacing. */
function schemaHash(version: number): string {
  const statements = MIGRATIONS.slice(0, version).join('\n').replaceAll(/--.*/g, '').replaceAll(/\s+/g, ' ');
  return createHash('sha256').update(statements).digest('hex');
}

/** What an extension brought, if a superuser owns it: others can add code of their own to an extension that is theirs. */
const ofExtension = (catalog: string, id: string): string => `
(EXISTS (SELECT FROM pg_depend AS e WHERE e.classid = ${catalog} AND e.objid = ${id} AND e.deptype = 'e') AND NOT EXISTS (
  SELECT FROM pg_shdepend AS e JOIN pg_roles AS r ON r.oid = e.refobjid
  WHERE e.dbid = (SELECT oid FROM pg_database WHERE datname = current_database()) AND e.classid = ${catalog} AND e.objid = ${id} AND e.deptype = 'o' AND NOT r.rolsuper))`;

/** Whoever may become this user can do with its rights what they want in any case. */
const isTrusted = (owner: string): string => `pg_has_role(${owner}, current_user, 'MEMBER')`;

/** The server's own functions in our tables and in those of pg-boss; others can be made to run any statement (`query_to_xml`). `at` is a column. */
const CALLED =
  'nextval|length|pg_current_xact_id|now|clock_timestamp|gen_random_uuid|near_vector|array_agg|get_byte|generate_series|at';

/** The functions of pg-boss, which the archive never calls. */
const OF_QUEUE = '{create_queue,delete_queue,job_now,job_table_format,job_table_run,job_table_run_async}';

/**
 * Everything in a schema that could run code of somebody else. The server notes what calls functions that are not its own, and an index can
 * call none of its own that does more than calculate. For a queue, all tables have to be ours: pg-boss runs statements that are stored in them.
 */
const FIND_FOREIGN = `
WITH space AS (SELECT to_regnamespace(quote_ident(:schema))::oid AS id),
tables AS (SELECT f.oid AS id, f.relkind AS kind, f.relowner AS owner FROM pg_class AS f JOIN space ON f.relnamespace = space.id),
functions AS (SELECT f.oid AS id, f.proowner AS owner, f.* FROM pg_proc AS f JOIN space ON f.pronamespace = space.id),
parts AS (
  SELECT 'pg_class'::regclass AS catalog, id FROM tables
  UNION SELECT 'pg_proc'::regclass, id FROM functions
  UNION SELECT d.classid, d.objid FROM pg_depend AS d JOIN tables AS t ON t.id = d.refobjid
    WHERE d.refclassid = 'pg_class'::regclass AND d.deptype IN ('a', 'i') AND d.classid <> 'pg_rewrite'::regclass),
expressions AS (
  SELECT 'pg_attrdef'::regclass AS catalog, f.oid AS id, pg_get_expr(f.adbin, f.adrelid) AS text FROM pg_attrdef AS f JOIN tables AS t ON t.id = f.adrelid
  UNION ALL SELECT 'pg_constraint'::regclass, f.oid, pg_get_expr(f.conbin, f.conrelid) FROM pg_constraint AS f JOIN tables AS t ON t.id = f.conrelid
  UNION ALL SELECT 'pg_proc'::regclass, id, pg_get_function_sqlbody(id) FROM functions),
found AS (
  SELECT 'pg_class'::regclass::oid AS catalog, id, owner FROM tables WHERE :isQueue::boolean AND kind IN ('r', 'p') AND NOT ${isTrusted('owner')}
  UNION ALL SELECT 'pg_proc'::regclass, id, owner FROM functions WHERE :isQueue::boolean AND NOT ${isTrusted('owner')}
  UNION ALL SELECT 'pg_proc'::regclass, id, NULL FROM functions
    WHERE NOT (:isQueue::boolean OR proname = ANY('${OF_QUEUE}') OR proname = 'add_month' AND encode(sha256(convert_to(prosrc, 'UTF8')), 'hex') = '${ADD_MONTH_SHA256}' AND prosecdef
      OR proname = 'near_vector' AND provolatile = 'i' AND prosqlbody IS NOT NULL)
  UNION ALL SELECT 'pg_trigger'::regclass, f.oid, NULL FROM pg_trigger AS f JOIN tables AS t ON t.id = f.tgrelid WHERE NOT f.tgisinternal AND f.tgenabled <> 'D'
  UNION ALL SELECT 'pg_rewrite'::regclass, f.oid, NULL FROM pg_rewrite AS f JOIN tables AS t ON t.id = f.ev_class WHERE t.kind IN ('r', 'p')
  UNION ALL SELECT 'pg_policy'::regclass, f.oid, NULL FROM pg_policy AS f JOIN tables AS t ON t.id = f.polrelid
  UNION ALL SELECT 'pg_class'::regclass, id, NULL FROM tables WHERE kind IN ('v', 'm', 'f')
  UNION ALL SELECT 'pg_class'::regclass, f.inhrelid, NULL FROM pg_inherits AS f JOIN tables AS t ON t.id = f.inhparent WHERE f.inhrelid NOT IN (SELECT id FROM tables)
  UNION ALL SELECT 'pg_type'::regclass, f.oid, NULL FROM pg_type AS f JOIN space ON f.typnamespace = space.id WHERE f.typtype IN ('d', 'r')
  UNION ALL SELECT 'pg_operator'::regclass, f.oid, NULL FROM pg_operator AS f JOIN space ON f.oprnamespace = space.id
  UNION ALL SELECT p.catalog, p.id, NULL FROM parts AS p JOIN pg_depend AS d ON d.classid = p.catalog AND d.objid = p.id
    WHERE d.refclassid IN ('pg_proc'::regclass, 'pg_type'::regclass, 'pg_operator'::regclass, 'pg_opclass'::regclass)
    AND (pg_identify_object(d.refclassid, d.refobjid, 0)).schema <> quote_ident(:schema) AND NOT ${ofExtension('d.refclassid', 'd.refobjid')}
  UNION ALL SELECT catalog, id, NULL FROM expressions WHERE regexp_replace(text, '(?<![a-z0-9_])(${CALLED})[(]', '', 'g') ~ '[A-Za-z0-9_"][(]'
  UNION ALL SELECT 'pg_event_trigger'::regclass, f.oid, NULL FROM pg_event_trigger AS f JOIN pg_proc AS p ON p.oid = f.evtfoid
    WHERE f.evtenabled <> 'D' AND NOT (current_setting('is_superuser') = 'off' AND ${isTrusted('f.evtowner')} AND ${isTrusted('p.proowner')}))
SELECT o.type, o.identity, pg_get_userbyid(f.owner)::text AS owner FROM found AS f CROSS JOIN LATERAL pg_identify_object(f.catalog, f.id, 0) AS o
WHERE NOT ${ofExtension('f.catalog', 'f.id')} ORDER BY 3 NULLS LAST, 1, 2 LIMIT 1`;

/**
 * Finds something in a schema that compact or pg-boss did not make and that could run with the rights of the connected user. `query` must look
 * into pg_catalog alone, so that nothing of the schema runs in place of what the server has. Null: there is nothing.
 */
async function findForeignCode(
  query: (sql: string, values: { readonly schema: string; readonly isQueue: boolean }) => Promise<readonly Row[]>,
  { path, schema, isQueue }: { readonly path: string; readonly schema: string; readonly isQueue: boolean },
): Promise<ArchiveFailure | null> {
  const [found] = await query(FIND_FOREIGN, { schema, isQueue });
  if (found === undefined) return null;
  const owner = readOptionalText(found, 'owner');
  const what = `the ${readText(found, 'type')} ${readText(found, 'identity').replaceAll(/\s+/g, ' ')}`;
  if (owner !== null) {
    const advice = 'Connect as the same user as all other workers, or name another schema.';
    return {
      kind: 'cannot-open',
      path,
      reason: `${owner} owns ${what}, and its code would run with your rights`,
      advice,
    };
  }
  const reason = `compact did not make ${what}, which could run in it`;
  const advice = what.startsWith('the event trigger')
    ? "If the server's administrator made it, connect as a user who is no superuser. Otherwise find out who did, and remove it."
    : 'Find out who made it and remove it, or use another database.';
  return { kind: 'cannot-open', path, reason, advice };
}
