import type { ArchiveFailure } from '../../../ports/archive.ts';
import { readOptionalText, readText, type Row } from '../rows.ts';
import { ADD_MONTH_SHA256 } from './months.ts';

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
const OF_QUEUE = [
  'create_queue',
  'delete_queue',
  'job_now',
  'job_table_format',
  'job_table_run',
  'job_table_run_async',
];

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
    WHERE NOT (:isQueue::boolean OR proname = ANY('{${OF_QUEUE.join(',')}}') OR proname = 'add_month' AND encode(sha256(convert_to(prosrc, 'UTF8')), 'hex') = '${ADD_MONTH_SHA256}' AND prosecdef
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
export async function findForeignCode(
  query: (sql: string, values: { readonly schema: string; readonly isQueue: boolean }) => Promise<readonly Row[]>,
  { path, schema, isQueue }: { readonly path: string; readonly schema: string; readonly isQueue: boolean },
): Promise<ArchiveFailure | null> {
  const [found] = await query(FIND_FOREIGN, { schema, isQueue });
  if (found === undefined) return null;
  const owner = readOptionalText(found, 'owner');
  const what = `the ${readText(found, 'type')} ${readText(found, 'identity').replaceAll(/\s+/g, ' ')}`;
  if (owner !== null)
    return {
      kind: 'cannot-open',
      path,
      reason: `${owner} owns ${what}, and its code would run with your rights`,
      advice: 'Connect as the same user as all other workers, or name another schema.',
    };
  const reason = `compact did not make ${what}, which could run in it`;
  const advice = what.startsWith('the event trigger')
    ? "If the server's administrator made it, connect as a user who is no superuser. Otherwise find out who did, and remove it."
    : 'Find out who made it and remove it, or use another database.';
  return { kind: 'cannot-open', path, reason, advice };
}
