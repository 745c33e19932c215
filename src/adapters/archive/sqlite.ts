import Database from 'better-sqlite3';
import { err, ok } from '../../core/result.ts';
import type { Result } from '../../core/result.ts';
import type { Archive, ArchiveFailure } from '../../ports/archive.ts';
import { toArchiveFailure } from './failure.ts';
import { prepareFile } from './file.ts';
import { createLineReader } from './lines.ts';
import { createCompactionReader } from './load.ts';
import { APPLICATION_ID, migrate, readSchemaVersion, SCHEMA_VERSION } from './migrations.ts';
import { createSettling } from './settle.ts';
import { createStore } from './store.ts';

export type OpenArchiveOptions = {
  readonly path: string;
  /** False: a missing archive is a failure, and nothing is made. */
  readonly create?: boolean;
  /** How long to wait for another process that writes. */
  readonly busyTimeoutMs?: number;
};

/** Storing a gigabyte holds the write lock for some ten seconds, and several processes may stand in line. */
const DEFAULT_BUSY_TIMEOUT_MS = 60_000;
/** The write-ahead log of one big compaction is not kept at its size. */
const MAX_IDLE_LOG_BYTES = 64 * 1024 * 1024;

/** Opens an archive, or creates it with its folders (0700) and file (0600). A file that is no archive of ours is never changed. */
export function openArchive({
  path,
  create = true,
  busyTimeoutMs = DEFAULT_BUSY_TIMEOUT_MS,
}: OpenArchiveOptions): Result<Archive, ArchiveFailure> {
  const file = prepareFile(path, create);
  if (!file.ok) return file;
  let db: Database.Database | null = null;
  try {
    db = new Database(file.value, { fileMustExist: true, timeout: busyTimeoutMs });
    const refusal = refuse(db, path, create);
    if (refusal !== null) {
      db.close();
      return err(refusal);
    }
    configure(db, busyTimeoutMs);
    migrate(db);
    return ok(createArchive(db, path));
  } catch (error) {
    db?.close();
    const failure = toOpenFailure(error, path);
    if (failure === null) throw error;
    return err(failure);
  }
}

/** Why a database is not to be used; null: it is an archive, or an empty one that may become an archive. */
function refuse(db: Database.Database, path: string, create: boolean): ArchiveFailure | null {
  const { applicationId, version, isEmpty } = identify(db);
  if (applicationId === APPLICATION_ID) {
    return version > SCHEMA_VERSION ? { kind: 'newer', path, version, supported: SCHEMA_VERSION } : null;
  }
  const isBlank = isEmpty && applicationId === 0 && version === 0;
  if (!isBlank) return { kind: 'not-ours', path, reason: "it is another program's SQLite database" };
  return create ? null : { kind: 'not-ours', path, reason: 'it is empty' };
}

type Identity = { readonly applicationId: number; readonly version: number; readonly isEmpty: boolean };

/** In one transaction: another process may be making the archive at this moment. */
function identify(db: Database.Database): Identity {
  const read = db.transaction((): Identity => {
    const isEmpty = db.prepare('SELECT 1 FROM sqlite_schema').get() === undefined;
    const applicationId = Number(db.pragma('application_id', { simple: true }));
    return { applicationId, version: readSchemaVersion(db), isEmpty };
  });
  return read();
}

function configure(db: Database.Database, busyTimeoutMs: number): void {
  useWriteAheadLog(db, busyTimeoutMs);
  // A commit is on disk before the transcript is replaced.
  db.pragma('synchronous = FULL');
  db.pragma('foreign_keys = ON');
  db.pragma(`journal_size_limit = ${MAX_IDLE_LOG_BYTES}`);
  // The file may come from elsewhere: its schema calls no functions, its cells are checked before they are used.
  db.pragma('trusted_schema = OFF');
  db.pragma('cell_size_check = ON');
}

const LOG_RETRY_MS = 10;

/** SQLite does not wait for others when it changes the kind of journal, so this does. */
function useWriteAheadLog(db: Database.Database, busyTimeoutMs: number): void {
  for (let waitedMs = 0; db.pragma('journal_mode', { simple: true }) !== 'wal'; waitedMs += LOG_RETRY_MS) {
    try {
      db.pragma('journal_mode = WAL');
      return; // also where a file system cannot have one: the archive then works with its older journal
    } catch (error) {
      const isBusy = error instanceof Database.SqliteError && error.code.startsWith('SQLITE_BUSY');
      if (!isBusy || waitedMs >= busyTimeoutMs) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LOG_RETRY_MS);
    }
  }
}

function toOpenFailure(error: unknown, path: string): ArchiveFailure | null {
  if (error instanceof Database.SqliteError) {
    if (error.code === 'SQLITE_NOTADB') return { kind: 'not-ours', path, reason: 'it is not an SQLite database' };
    // A statement that cannot be prepared: a table or column of ours is not there.
    if (error.code === 'SQLITE_ERROR') return { kind: 'damaged', path, reason: error.message };
  }
  return toArchiveFailure(error, path);
}

function createArchive(db: Database.Database, path: string): Archive {
  return {
    path,
    ...createCompactionReader(db, path),
    ...createLineReader(db, path),
    ...createSettling(db, path),
    store: createStore(db, path),
    close: () => {
      db.close();
    },
  };
}
