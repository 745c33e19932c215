import type Database from 'better-sqlite3';
import { archiveError } from './failure.ts';
import { findForeignEntry } from './foreign-entry.ts';
import { SCHEMA_VERSION } from './migrations.ts';

/** To be called first in every transaction that writes; throws an `ArchiveError`. */
export type SchemaGuard = () => void;

/**
 * Looks at the schema again where it has changed since the last look: somebody may have put a trigger into the archive after it was opened, and
 * while a transaction holds the write lock nobody can.
 */
export function createSchemaGuard(db: Database.Database, path: string): SchemaGuard {
  const state = { checkedVersion: -1 };
  return () => {
    const version = Number(db.pragma('schema_version', { simple: true }));
    if (version === state.checkedVersion) return;
    const foreign = findForeignEntry(db, SCHEMA_VERSION);
    if (foreign !== null) throw archiveError({ kind: 'not-ours', path, reason: foreign });
    state.checkedVersion = version;
  };
}
