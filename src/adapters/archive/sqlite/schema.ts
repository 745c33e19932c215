import { randomBytes } from 'node:crypto';
import { existsSync, fsyncSync, rmSync } from 'node:fs';
import type Database from 'better-sqlite3';
import { moveFile, withOpenFile } from '../../../system/files.ts';
import { tablesFor } from '../sql/definitions.ts';

/** `PRAGMA application_id` of an archive: the letters "cmpt". */
export const APPLICATION_ID = 0x63_6d_70_74;

const FIRST_SCHEMA = `
PRAGMA application_id = ${APPLICATION_ID};
${tablesFor('sqlite')}
-- Their rowids are the ids of lines and of batches. Of a message only the words are kept, not where they are: a quarter of the room.
CREATE VIRTUAL TABLE message_search
  USING fts5 (text, content = '', contentless_delete = 1, detail = none, tokenize = 'porter unicode61');
INSERT INTO message_search (message_search, rank) VALUES ('hashsize', ${16 * 1024 * 1024}); -- fewer pieces, each with its own words
CREATE VIRTUAL TABLE batch_search
  USING fts5 (content, content = '', contentless_delete = 1, detail = full, tokenize = 'porter unicode61');`;

/**
 * Step n leads from schema version n to n + 1. Never change a released step; fixtures/archives has an archive of each
 * version, written by the program of its time.
 */
export const MIGRATIONS: readonly string[] = [FIRST_SCHEMA];

export const SCHEMA_VERSION = MIGRATIONS.length;

export function readSchemaVersion(db: Database.Database): number {
  return Number(db.pragma('user_version', { simple: true }));
}

/** Brings the schema up to date in one transaction: all steps that are missing, whoever else opens the archive now, or none. */
export function migrate(db: Database.Database, migrations: readonly string[] = MIGRATIONS): void {
  const isCurrent = (): boolean => readSchemaVersion(db) >= migrations.length;
  const takeSteps = db.transaction((): void => {
    if (isCurrent()) return;
    for (const sql of migrations.slice(readSchemaVersion(db))) db.exec(sql);
    db.pragma(`user_version = ${migrations.length}`);
  });
  if (!isCurrent()) takeSteps.immediate();
}

/** The same for the archive in a file. A copy from before stands beside it until the archive is opened for writing again. */
export function migrateFile(db: Database.Database, file: string, migrations: readonly string[] = MIGRATIONS): void {
  const version = readSchemaVersion(db);
  if (version >= migrations.length) return removeCopies(file, migrations);
  if (version > 0) keepCopy(db, copyOf(file, version));
  migrate(db, migrations);
}

/** Removes the copies from before, which have what is erased later. */
export function removeCopies(file: string, migrations: readonly string[] = MIGRATIONS): void {
  for (let version = 1; version < migrations.length; version += 1) rmSync(copyOf(file, version), { force: true });
}

function copyOf(file: string, version: number): string {
  return `${file}.before-${version}`;
}

/** A copy under this name is complete. */
function keepCopy(db: Database.Database, path: string): void {
  if (existsSync(path)) return;
  const unfinished = `${path}.${randomBytes(8).toString('hex')}.tmp`;
  try {
    withOpenFile(unfinished, 'wx', () => undefined, 0o600);
    db.prepare('VACUUM INTO ?').run(unfinished);
    withOpenFile(unfinished, 'r+', fsyncSync);
    moveFile(unfinished, path);
  } finally {
    rmSync(unfinished, { force: true });
  }
}
