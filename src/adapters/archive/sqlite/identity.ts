import { closeSync, openSync, readSync, statSync } from 'node:fs';
import Database from 'better-sqlite3';
import { lazily } from '../../../core/lazy.ts';
import type { ArchiveFailure } from '../../../ports/archive.ts';
import { archiveError, refuseOtherBuild, toArchiveFailure } from '../failure.ts';
import type { Row } from '../rows.ts';
import { APPLICATION_ID, migrate, MIGRATIONS, readSchemaVersion, SCHEMA_VERSION } from './schema.ts';
import { systemCode } from '../../../core/result.ts';

/**
 * Why a database must not be used; null: it is an archive, and contains nothing that this program did not make. Looks
 * at one snapshot, because another process may be changing the archive.
 */
export function refuse(db: Database.Database, path: string): ArchiveFailure | null {
  const notOurs = (reason: string): ArchiveFailure => ({ kind: 'not-ours', path, reason });
  const inspect = db.transaction((): ArchiveFailure | null => {
    // Unlike the pragmas, this reads the schema and fails if the file is not a database.
    db.prepare('SELECT 1 FROM sqlite_schema').get();
    if (db.pragma('application_id', { simple: true }) !== APPLICATION_ID)
      return notOurs("it is another program's SQLite database");
    const version = readSchemaVersion(db);
    if (version > SCHEMA_VERSION) return { kind: 'newer', path, version, supported: SCHEMA_VERSION };
    return findForeignEntry(db, { version, path }) ?? findMissingEntry(db, { version, path });
  });
  return inspect();
}

/**
 * What an error while opening a file means; null: it does not come from the database. `path` is the user's name for the
 * file.
 */
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
    // A statement cannot be prepared: one of our tables or columns is missing.
    if (error.code === 'SQLITE_ERROR') return { kind: 'damaged', path, reason: error.message };
  }
  const failure = toArchiveFailure(error, path);
  const cut = failure?.kind === 'damaged' ? describeCut(file) : null;
  return cut === null ? failure : { kind: 'damaged', path, reason: cut };
}

const HEADER_BYTES = 100;

/**
 * Describes a file that is shorter than its header says; null: it is not. SQLite's file format: page size at 16, page
 * count at 28, valid if 24 equals 92.
 */
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
  return isKnown && size < wholeBytes ? `it is truncated: it has ${size} of its ${wholeBytes} bytes` : null;
}

const LIST_ENTRIES = 'SELECT type, name, tbl_name, sql FROM sqlite_schema';
const MAX_NAME_CHARS = 60;

/**
 * Refuses a database whose schema has an entry that this program did not make for that version: a foreign trigger, view,
 * table or index, or one of ours with other SQL. Another version may have made tables and indexes, so the others are
 * named first. Null: there is none. Only reads the schema, so nothing in it runs.
 */
export function findForeignEntry(
  db: Database.Database,
  { version, path }: { readonly version: number; readonly path: string },
): ArchiveFailure | null {
  const { names, texts } = entriesOf(version);
  const foreign = db
    .prepare<[], Row>(LIST_ENTRIES)
    .all()
    .filter((row) => !texts.has(textOf(row)) && !isVectorIndexEntry(row));
  const code = foreign.find(({ type }) => type !== 'table' && type !== 'index');
  const row = code ?? foreign[0];
  if (row === undefined) return null;
  const what = `${String(row['type'])} ${JSON.stringify(String(row['name']).slice(0, MAX_NAME_CHARS))}`;
  const reason = names.has(row['name']) ? `its ${what} is not as compact makes it` : `compact did not make its ${what}`;
  return code === undefined ? refuseOtherBuild(path, reason) : { kind: 'not-ours', path, reason };
}

/** Refuses an archive that lacks a part of the schema. */
function findMissingEntry(
  db: Database.Database,
  { version, path }: { readonly version: number; readonly path: string },
): ArchiveFailure | null {
  const found = new Set(db.prepare<[], Row>(LIST_ENTRIES).all().map(textOf));
  const missing = entriesOf(version).required.find((entry) => !found.has(textOf(entry)));
  if (missing === undefined) return null;
  return refuseOtherBuild(path, `its ${String(missing['type'])} "${String(missing['name'])}" is missing`);
}

function entriesOf(version: number): ReturnType<typeof listExpected> {
  return EXPECTED[version]?.() ?? listExpected(version);
}

/** By schema version; each is made once, because an archive is checked again for every connection to it. */
const EXPECTED = Array.from({ length: SCHEMA_VERSION + 1 }, (_, version) => lazily(() => listExpected(version)));

/** The entries that the schema's SQL creates, and the statistics that SQLite adds after an ANALYZE. */
function listExpected(version: number) {
  const db = new Database(':memory:');
  try {
    migrate(db, MIGRATIONS.slice(0, version));
    const required = db.prepare<[], Row>(LIST_ENTRIES).all();
    db.exec('ANALYZE');
    const rows = db.prepare<[], Row>(LIST_ENTRIES).all();
    return { names: new Set(rows.map((row) => row['name'])), texts: new Set(rows.map(textOf)), required };
  } finally {
    db.close();
  }
}

function textOf({ type, name, tbl_name: table, sql }: Row): string {
  return JSON.stringify([type, name, table, sql]);
}

/** Must be called first in every writing transaction. Throws an `ArchiveError`. */
export type SchemaGuard = () => void;

/**
 * Checks the schema again if it has changed since the last check: someone may have added a trigger after the archive
 * was opened, but nobody can while a transaction holds the write lock.
 */
export function createSchemaGuard(db: Database.Database, path: string): SchemaGuard {
  const state = { checkedVersion: -1 };
  return () => {
    const version = Number(db.pragma('schema_version', { simple: true }));
    if (version === state.checkedVersion) return;
    const foreign = findForeignEntry(db, { version: SCHEMA_VERSION, path });
    if (foreign !== null) throw archiveError(foreign);
    state.checkedVersion = version;
  };
}

const INDEX = 'message_vector_search';

/** The index over the signs of the vectors, which the extension creates. */
export function vectorIndexSql(bits: number): string {
  return `CREATE VIRTUAL TABLE ${INDEX} USING vec0 (line_id INTEGER PRIMARY KEY, signs bit[${bits}])`;
}

/**
 * The tables that the extension (sqlite-vec 0.1) creates for the index. It is not loaded when an archive is opened, so
 * its SQL is repeated here; a test checks that it matches.
 */
const TABLES = [
  ['info', '(key text primary key, value any)'],
  [
    'chunks',
    '(chunk_id INTEGER PRIMARY KEY AUTOINCREMENT,size INTEGER NOT NULL,validity BLOB NOT NULL,rowids BLOB NOT NULL)',
  ],
  ['rowids', '(rowid INTEGER PRIMARY KEY AUTOINCREMENT,id,chunk_id INTEGER,chunk_offset INTEGER)'],
  ['vector_chunks00', '(rowid PRIMARY KEY,vectors BLOB NOT NULL)'],
] as const;
const ENTRIES = TABLES.flatMap(([end, columns]): readonly (readonly (string | null)[])[] => {
  const name = `${INDEX}_${end}`;
  const space = end === 'info' ? ' ' : '';
  const table = ['table', name, name, `CREATE TABLE "${name}"${space}${columns}`];
  // A key that is no integer has an index.
  return columns.includes('AUTOINCREMENT') ? [table] : [table, ['index', `sqlite_autoindex_${name}_1`, name, null]];
});
const TEXTS = new Set(ENTRIES.map((entry) => JSON.stringify(entry)));

/** Whether an entry of `sqlite_schema` is the index, for vectors of any length, or one of its tables. */
function isVectorIndexEntry({ type, name, tbl_name: table, sql }: Row): boolean {
  if (TEXTS.has(JSON.stringify([type, name, table, sql]))) return true;
  const bits = /bit\[(\d{1,4})\]/.exec(String(sql))?.[1];
  return (
    bits !== undefined && type === 'table' && name === INDEX && table === INDEX && sql === vectorIndexSql(Number(bits))
  );
}
