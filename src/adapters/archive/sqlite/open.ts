import { realpathSync, statSync } from 'node:fs';
import Database from 'better-sqlite3';
import { err, ok, type Result } from '../../../core/result.ts';
import type { Archive, ArchiveFailure, OpenArchiveOptions } from '../../../ports/archive.ts';
import { createArchiveFile } from './create.ts';
import { createArchive } from '../archive.ts';
import { guardPort, toArchiveFailure } from '../failure.ts';
import { type ArchiveFile, findForeignLog, prepareFile } from './file.ts';
import { createSchemaGuard, refuse, toOpenFailure } from './identity.ts';
import { openInPlace, openReadOnly } from './read-only.ts';
import { migrate, migrateFile, readSchemaVersion, SCHEMA_VERSION } from './schema.ts';
import { type Connection, createSqliteSql } from './sql.ts';
import { SQLITE_STORE } from './store.ts';
import { type TakeTurn, turnsAt } from './turns.ts';

/** Storing 100 MB holds the write lock for about ten seconds, and several processes may be waiting. */
export const DEFAULT_BUSY_TIMEOUT_MS = 60_000;
/** After one big compaction, the write-ahead log is truncated to this size. */
const MAX_IDLE_LOG_BYTES = 64 * 1024 * 1024;

/**
 * Opens an archive, or creates it (0600) and its folders (0700). A file that is not our archive is never changed; a
 * read-only one is opened for reading only. Its writes take turns with those of other openings in this thread.
 */
export async function openArchive(options: OpenArchiveOptions): Promise<Result<Archive, ArchiveFailure>> {
  return openSqliteArchive(options);
}

export function openSqliteArchive({
  path,
  create = true,
  busyTimeoutMs = DEFAULT_BUSY_TIMEOUT_MS,
  vectorExtension,
}: OpenArchiveOptions): Result<Archive, ArchiveFailure> {
  return withFile(path, create ? createArchiveFile : null, (file) =>
    (file.isWritable ? openForWriting : openForReading)(file.path, {
      path,
      busyTimeoutMs,
      extension: vectorExtension ?? null,
    }),
  );
}

/** Opens the file of an archive. `make` creates a missing one; null: nothing does. */
export function withFile<T>(
  path: string,
  make: Parameters<typeof prepareFile>[1],
  open: (file: ArchiveFile) => Result<T, ArchiveFailure>,
): Result<T, ArchiveFailure> {
  const file = prepareFile(path, make);
  if (!file.ok) return file;
  try {
    const foreignLog = findForeignLog(file.value.path);
    return foreignLog === null ? open(file.value) : err({ kind: 'cannot-open', path, reason: foreignLog });
  } catch (error) {
    const failure = toOpenFailure(error, { file: file.value.path, path });
    if (failure === null) throw error;
    return err(failure);
  }
}

type Opening = Required<Pick<OpenArchiveOptions, 'path' | 'busyTimeoutMs'>> & { readonly extension: string | null };

function openForWriting(file: string, { path, busyTimeoutMs, extension }: Opening): Result<Archive, ArchiveFailure> {
  const refusal = hasUnmergedLog(file) ? refuseUntouched(file, { path, busyTimeoutMs }) : null;
  if (refusal !== null) return err(refusal);
  const db = new Database(file, { fileMustExist: true, timeout: busyTimeoutMs });
  // What is being stored must not be seen before it is complete, so it has a connection of its own.
  const writers: Database.Database[] = [];
  const openWriter = (): Database.Database => {
    if (!db.open) throw new Error('this archive is closed'); // a part of it may have been loaded meanwhile
    const writer = new Database(file, { fileMustExist: true, timeout: busyTimeoutMs });
    writers.push(writer);
    configure(writer, busyTimeoutMs);
    return writer;
  };
  const close = (): void => {
    for (const one of [...writers, db]) one.close();
  };
  return useDatabase({ db, path, close }, () => {
    // First, because changing the journal mode writes to the file, and whoever opened it in between would find an empty
    // database.
    migrateFile(db, file);
    configure(db, busyTimeoutMs);
    const opened = { path, isReadOnly: false, extension, openWriter, close, takeTurn: turnsAt(path) };
    return ok(createSqliteArchive(db, opened));
  });
}

function openForReading(file: string, { path, busyTimeoutMs, extension }: Opening): Result<Archive, ArchiveFailure> {
  const isReadable = (found: Database.Database): boolean => readSchemaVersion(found) >= SCHEMA_VERSION;
  const { db, isCopy, seal, close } = openReadOnly(file, { busyTimeoutMs, isReadable });
  return useDatabase({ db, path, close }, () => {
    const version = readSchemaVersion(db);
    if (version < SCHEMA_VERSION && !isCopy) {
      const reason = `it is of version ${version}, and read-only, so that it cannot be brought to version ${SCHEMA_VERSION}; copy it to where it can`;
      return err({ kind: 'cannot-open', path, reason });
    }
    restrictSchema(db);
    migrate(db);
    seal();
    const opened = { path, isReadOnly: true, extension, openWriter: null, close, takeTurn: turnsAt(path) };
    return ok(createSqliteArchive(db, opened));
  });
}

/** Checks that a database is an archive, and closes it again if it is not used. */
export function useDatabase<T>(
  { db, path, close }: { readonly db: Database.Database; readonly path: string; readonly close: () => void },
  open: () => Result<T, ArchiveFailure>,
): Result<T, ArchiveFailure> {
  let isOpen = false;
  try {
    const refusal = refuse(db, path);
    const opened = refusal === null ? open() : err(refusal);
    isOpen = opened.ok;
    return opened;
  } finally {
    if (!isOpen) close();
  }
}

/** Whether a writer is active, or was killed. */
function hasUnmergedLog(file: string): boolean {
  return (statSync(`${realpathSync(file)}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;
}

/**
 * Like `refuse`, but without merging the log: the last connection to close a database does that, and the database may
 * be somebody else's.
 */
function refuseUntouched(file: string, { path, busyTimeoutMs }: Omit<Opening, 'extension'>): ArchiveFailure | null {
  const opened = openInPlace(file, busyTimeoutMs);
  if (opened === null) return null; // its writer is just closing it
  try {
    return refuse(opened.db, path);
  } finally {
    opened.close();
  }
}

export function configure(db: Database.Database, busyTimeoutMs: number): void {
  useWriteAheadLog(db, busyTimeoutMs);
  // A commit is on disk before the transcript is replaced.
  db.pragma('synchronous = FULL');
  db.pragma('foreign_keys = ON');
  db.pragma(`journal_size_limit = ${MAX_IDLE_LOG_BYTES}`);
  restrictSchema(db);
}

/** The file may come from anywhere: its schema must not call functions, and its cells are checked before use. */
export function restrictSchema(db: Database.Database): void {
  db.pragma('trusted_schema = OFF');
  db.pragma('cell_size_check = ON');
}

const LOG_RETRY_MS = 10;

/** SQLite does not wait for other processes when it changes the journal mode, so this does. */
function useWriteAheadLog(db: Database.Database, busyTimeoutMs: number): void {
  for (let waitedMs = 0; db.pragma('journal_mode', { simple: true }) !== 'wal'; waitedMs += LOG_RETRY_MS) {
    try {
      db.pragma('journal_mode = WAL');
      return; // even if the file system does not support it: the archive then works with the older journal
    } catch (error) {
      const isBusy = error instanceof Database.SqliteError && error.code.startsWith('SQLITE_BUSY');
      if (!isBusy || waitedMs >= busyTimeoutMs) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LOG_RETRY_MS);
    }
  }
}

type Opened = {
  readonly path: string;
  readonly isReadOnly: boolean;
  readonly extension: string | null;
  /** Opens another connection, which `close` closes too. Null: nothing is written. */
  readonly openWriter: (() => Database.Database) | null;
  readonly close: () => void;
  /** The turns of those who write in this thread. */
  readonly takeTurn: TakeTurn;
};

export function createSqliteArchive(
  db: Database.Database,
  { path, isReadOnly, extension, openWriter, close, takeTurn }: Opened,
): Archive {
  const isReadableWhileStoring = db.pragma('journal_mode', { simple: true }) === 'wal';
  const open = (): Connection => {
    const opened = openWriter?.() ?? db;
    return { db: opened, checkSchema: createSchemaGuard(opened, path) };
  };
  const connections = { db, open: openWriter === null ? null : open, takeTurn, isReadableWhileStoring };
  const sql = createSqliteSql({ path, extension, ...connections });
  const facts = { path, isReadOnly, isReadableWhileStoring, close: async () => close() };
  return createArchive(sql, facts, {
    store: SQLITE_STORE,
    loadOthers: async () => (await import('./later.ts')).createSqliteLater(sql, { db, path, takeTurn }),
    guard: (port) => guardSqlite(port, path),
  });
}

/** The same port, whose methods throw `ArchiveError`s for failures of SQLite. */
export function guardSqlite<Port extends object>(port: Port, path: string): Port {
  return guardPort(port, (error) => toArchiveFailure(error, path));
}
