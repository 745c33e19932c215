import { readText, type Row } from '../archive/rows.ts';
import type { Values } from '../archive/sql/query.ts';

/** What an extension owns came with it, and only an administrator installs one. */
const NOT_OF_EXTENSION = (catalog: string): string =>
  `NOT EXISTS (SELECT 1 FROM pg_depend AS d WHERE d.classid = '${catalog}'::regclass AND d.objid = f.oid AND d.deptype = 'e')`;

/**
 * Code that would run by itself, or in place of the server's own, while an archive is used. The search path is the schema, so a function or an
 * operator in it may be taken for another one. `near_vector` is ours (pgvector.ts), if the archive's owner made it.
 */
const FIND_FOREIGN = `
SELECT what, name FROM (
  SELECT 'the trigger' AS what, f.tgname::text AS name FROM pg_trigger AS f JOIN pg_class AS c ON c.oid = f.tgrelid
    WHERE c.relnamespace = to_regnamespace(quote_ident(:schema)) AND NOT f.tgisinternal AND f.tgenabled <> 'D'
  UNION ALL
  SELECT 'the rule', f.rulename::text FROM pg_rewrite AS f JOIN pg_class AS c ON c.oid = f.ev_class
    WHERE c.relnamespace = to_regnamespace(quote_ident(:schema)) AND f.rulename <> '_RETURN'
  UNION ALL
  SELECT 'the function', f.proname::text FROM pg_proc AS f
    WHERE f.pronamespace = to_regnamespace(quote_ident(:schema)) AND ${NOT_OF_EXTENSION('pg_proc')}
    AND NOT ((:functions::text[] IS NULL OR f.proname = ANY (:functions::text[])) AND NOT f.prosecdef AND EXISTS (
      SELECT 1 FROM pg_class AS c WHERE c.relnamespace = f.pronamespace AND c.relname IN ('archive_version', 'version') AND pg_has_role(f.proowner, c.relowner, 'MEMBER')))
  UNION ALL
  SELECT 'the operator', f.oprname::text FROM pg_operator AS f
    WHERE f.oprnamespace = to_regnamespace(quote_ident(:schema)) AND ${NOT_OF_EXTENSION('pg_operator')}
  UNION ALL
  SELECT 'the event trigger', f.evtname::text FROM pg_event_trigger AS f
    WHERE f.evtenabled <> 'D' AND ${NOT_OF_EXTENSION('pg_event_trigger')}
) AS found ORDER BY what, name LIMIT 1`;

/** Names something in a schema that compact did not make and that could run; null: there is nothing. `functions`: names of ours; null: whatever the owner made. */
export async function findForeignCode(
  query: (sql: string, values: Values) => Promise<readonly Row[]>,
  { schema, functions }: { readonly schema: string; readonly functions: readonly string[] | null },
): Promise<string | null> {
  const [found] = await query(FIND_FOREIGN, { schema, functions });
  return found === undefined ? null : `${readText(found, 'what')} ${JSON.stringify(readText(found, 'name'))}`;
}

/** Of the archive's own schema. */
export const OWN_FUNCTIONS: readonly string[] = ['near_vector'];
