import { closeSync, openSync, readSync, statSync } from 'node:fs';
import Database from 'better-sqlite3';
import type { ArchiveFailure } from '../../ports/archive.ts';
import { toArchiveFailure } from './failure.ts';
import { systemCode } from './file.ts';
import { findForeignEntry } from './foreign-entry.ts';
import { readSchemaVersion, SCHEMA_VERSION } from './migrations.ts';
import { APPLICATION_ID } from './schema.ts';

/**
 * Why a database is not to be used; null: it is an archive, and holds nothing that this program did not make. Looks at one state of it: another
 * process may be changing the archive at this moment.
 */
export function refuse(db: Database.Database, path: string): ArchiveFailure | null {
  const notOurs = (reason: string): ArchiveFailure => ({ kind: 'not-ours', path, reason });
  const look = db.transaction((): ArchiveFailure | null => {
    // Unlike the pragmas, this reads the schema and fails if the file is not a database.
    db.prepare('SELECT 1 FROM sqlite_schema').get();
    if (db.pragma('application_id', { simple: true }) !== APPLICATION_ID)
      return notOurs("it is another program's SQLite database");
    const version = readSchemaVersion(db);
    if (version > SCHEMA_VERSION) return { kind: 'newer', path, version, supported: SCHEMA_VERSION };
    const foreign = findForeignEntry(db, version);
    return foreign === null ? null : notOurs(foreign);
  });
  return look();
}

/** What an error of opening a file means; null: it is none of the database's. `path` is what the user calls the file. */
export function toOpenFailure(
  error: unknown,
  { file, path }: { readonly file: string; readonly path: string },
): ArchiveFailure | null {
  if (error instanceof Error && 'syscall' in error) {
    const reason = `it is read-only, and no copy of it can be made for reading (${systemCode(error)})`;
    return { kind: 'cannot-open', path, reason };
  }
  if (error instanceof Database.SqliteError) {
    if (error.code === 'SQLITE_NOTADB') return { kind: 'not-ours', path, reason: 'it is not an SQLite database' };
    // A statement that cannot be prepared: a table or column of ours is not there.
    if (error.code === 'SQLITE_ERROR') return { kind: 'damaged', path, reason: error.message };
  }
  const failure = toArchiveFailure(error, path);
  const cut = failure?.kind === 'damaged' ? describeCut(file) : null;
  return cut === null ? failure : { kind: 'damaged', path, reason: cut };
}

const HEADER_BYTES = 100;

/** Of a file that is shorter than its header says; null: it is not. SQLite's file format: page size at 16, pages at 28, valid where 24 equals 92. */
function describeCut(file: string): string | null {
  const header = Buffer.alloc(HEADER_BYTES);
  const descriptor = openSync(file, 'r');
  try {
    if (readSync(descriptor, header) < HEADER_BYTES) return null;
  } finally {
    closeSync(descriptor);
  }
  const pageBytes = header.readUInt16BE(16) === 1 ? 65_536 : header.readUInt16BE(16);
  const wholeBytes = pageBytes * header.readUInt32BE(28);
  const { size } = statSync(file);
  const isKnown = header.readUInt32BE(24) === header.readUInt32BE(92);
  return isKnown && size < wholeBytes ? `it was cut off: ${size} of its ${wholeBytes} bytes are there` : null;
}
