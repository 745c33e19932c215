import type { ArchiveRole } from '../../../ports/archive.ts';
import { LOGS } from '../sql/definitions.ts';

const RIGHTS = {
  writer: { tables: 'SELECT, INSERT, UPDATE, DELETE', sequences: 'USAGE, SELECT', functions: 'EXECUTE' },
  reader: { tables: 'SELECT', sequences: 'SELECT' },
} as const;

/**
 * The statements that an administrator runs to let a role use the archive in a schema, in any order and as often as needed: what the owner
 * makes later has the same rights.
 */
export function grantsFor(role: ArchiveRole, schema: string) {
  const [owner, name] = [`${schema}_owner`, `${schema}_${role}`];
  const createRole = (one: string): string =>
    `DO $$ BEGIN CREATE ROLE ${one} LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$;`;
  const createOwner = [createRole(owner), `CREATE SCHEMA IF NOT EXISTS ${schema} AUTHORIZATION ${owner};`];
  if (role === 'owner') return { name, sql: createOwner };
  const rights = Object.entries(RIGHTS[role]).map(([kind, right]) => [kind.toUpperCase(), right] as const);
  const sql = [
    ...createOwner,
    createRole(name),
    // The queue's own functions are code of the owner, which a worker runs only if the owner could become the worker anyway.
    `GRANT ${name} TO ${owner};`,
    `GRANT USAGE ON SCHEMA ${schema} TO ${name};`,
    ...rights.flatMap(([kind, right]) => [
      `GRANT ${right} ON ALL ${kind} IN SCHEMA ${schema} TO ${name};`,
      `ALTER DEFAULT PRIVILEGES FOR ROLE ${owner} IN SCHEMA ${schema} GRANT ${right} ON ${kind} TO ${name};`,
    ]),
    ...(role === 'writer' ? [`${keepLogs(schema)};`] : []),
  ];
  return { name, sql };
}

/** Takes from everybody but the owner what would change or remove rows of the logs. */
export function keepLogs(schema: string, tables: readonly string[] = LOGS): string {
  const logs = tables.map((table) => `'${table}'`).join(', ');
  return `DO $$ DECLARE one record; BEGIN FOR one IN
  SELECT DISTINCT c.relname, CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(a.grantee)) END AS grantee
  FROM pg_class AS c CROSS JOIN LATERAL aclexplode(c.relacl) AS a
  WHERE c.relnamespace = to_regnamespace('${schema}') AND c.relname = ANY(ARRAY[${logs}]::text[]) AND a.grantee <> c.relowner
LOOP EXECUTE format('REVOKE UPDATE, DELETE, TRUNCATE ON ${schema}.%I FROM %s', one.relname, one.grantee); END LOOP; END $$`;
}
