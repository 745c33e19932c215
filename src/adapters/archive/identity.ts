import { closeSync, openSync, readSync, statSync } from 'node:fs';
import Database from 'better-sqlite3';
import type { ArchiveFailure } from '../../ports/archive.ts';
import { toArchiveFailure } from './failure.ts';
import { systemCode } from './file.ts';
import { readSchemaVersion, SCHEMA_VERSION } from './migrations.ts';
import { APPLICATION_ID } from './schema.ts';

/** Why a database is not to be used; null: it is an archive. */
export function refuse(db: Database.Database, path: string): ArchiveFailure | null {
  const { applicationId, version } = identify(db);
  if (applicationId !== APPLICATION_ID) {
    return { kind: 'not-ours', path, reason: "it is another program's SQLite database" };
  }
  return version > SCHEMA_VERSION ? { kind: 'newer', path, version, supported: SCHEMA_VERSION } : null;
}

type Identity = { readonly applicationId: number; readonly version: number };

/** In one transaction: another process may be changing the archive at this moment. */
function identify(db: Database.Database): Identity {
  const read = db.transaction((): Identity => {
    // Unlike the pragmas, this reads the schema and fails if the file is not a database.
    db.prepare('SELECT 1 FROM sqlite_schema').get();
    const applicationId = Number(db.pragma('application_id', { simple: true }));
    return { applicationId, version: readSchemaVersion(db) };
  });
  return read();
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
