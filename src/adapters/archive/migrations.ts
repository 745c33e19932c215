import type Database from 'better-sqlite3';
import { FIRST_SCHEMA } from './schema.ts';

/**
 * Step n leads from schema version n to n + 1. A step that was released is never changed; fixtures/archives has an archive of each version,
 * written by the program of that time.
 */
export const MIGRATIONS: readonly string[] = [FIRST_SCHEMA];

export const SCHEMA_VERSION = MIGRATIONS.length;

export function readSchemaVersion(db: Database.Database): number {
  return Number(db.pragma('user_version', { simple: true }));
}

/** Brings the schema up to date; each step and its number are one transaction, so that a step is taken whole, and never twice. */
export function migrate(db: Database.Database, migrations: readonly string[] = MIGRATIONS): void {
  const step = db.transaction((): boolean => {
    const version = readSchemaVersion(db);
    const sql = migrations[version];
    if (sql === undefined) return false;
    db.exec(sql);
    db.pragma(`user_version = ${version + 1}`);
    return true;
  });
  if (readSchemaVersion(db) >= migrations.length) return;
  while (step.immediate()) continue;
}
