import { fsyncSync, rmSync, statSync } from 'node:fs';
import type Database from 'better-sqlite3';
import { moveFile, withOpenFile } from '../../../system/files.ts';
import { tablesFor } from '../sql/definitions.ts';
import { unfinishedName } from './unfinished.ts';

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

/** The same for the archive in a file. A copy from before stands beside it until a run that began later has stored something. */
export function migrateFile(db: Database.Database, file: string, migrations: readonly string[] = MIGRATIONS): void {
  const version = readSchemaVersion(db);
  if (version >= migrations.length) return removeCopies(file, { migrations, unlessNeeded: db });
  if (version > 0) keepCopy(db, { version, path: copyOf(file, version) });
  migrate(db, migrations);
}

type Removal = { readonly migrations?: readonly string[]; readonly unlessNeeded?: Database.Database };

/** Removes the copies from before, which have what is erased later. `unlessNeeded`: the archive, if it decides. */
export function removeCopies(file: string, { migrations = MIGRATIONS, unlessNeeded: db }: Removal = {}): void {
  for (let version = 1; version < migrations.length; version += 1) {
    const copy = copyOf(file, version);
    const copiedAtMs = statSync(copy, { throwIfNoEntry: false })?.mtimeMs;
    if (copiedAtMs === undefined) continue;
    if (db === undefined || db.prepare(HAS_LATER_RUN).get(copiedAtMs) !== undefined) rmSync(copy, { force: true });
  }
}

const HAS_LATER_RUN = 'SELECT 1 FROM runs WHERE begun_at_ms > ?';

function copyOf(file: string, version: number): string {
  return `${file}.before-${version}`;
}

/** A copy under this name is complete. */
function keepCopy(db: Database.Database, { version, path }: { readonly version: number; readonly path: string }): void {
  const unfinished = unfinishedName(path);
  try {
    withOpenFile(unfinished, 'wx', () => undefined, 0o600);
    db.prepare('VACUUM INTO ?').run(unfinished);
    // Another program has kept a copy already, and this would be one from after.
    if (readSchemaVersion(db) !== version) return;
    withOpenFile(unfinished, 'r+', fsyncSync);
    moveFile(unfinished, path);
  } finally {
    rmSync(unfinished, { force: true });
  }
}
