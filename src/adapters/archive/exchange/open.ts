import { existsSync, realpathSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import Database from 'better-sqlite3';
import { err, ok, type Result } from '../../../core/result.ts';
import type { ArchiveFailure } from '../../../ports/archive.ts';
import type { OpenSource, OpenTarget } from '../../../ports/exchange.ts';
import type { ArchiveFile } from '../sqlite/file.ts';
import { createSchemaGuard } from '../sqlite/identity.ts';
import { openUntouched } from '../sqlite/read-only.ts';
import { readSchemaVersion, SCHEMA_VERSION } from '../sqlite/schema.ts';
import {
  configure,
  createSqliteArchive,
  DEFAULT_BUSY_TIMEOUT_MS,
  guardSqlite,
  restrictSchema,
  useDatabase,
  withFile,
} from '../sqlite/open.ts';
import { MANIFEST } from './manifest.ts';
import { SQLITE } from '../sqlite/dialect.ts';
import { SQLITE_VECTORS } from '../sqlite/vectors.ts';
import { createQuery, createSqliteSql } from '../sqlite/sql.ts';
import { SQLITE_STORE } from '../sqlite/store.ts';
import { createTurns } from '../sqlite/turns.ts';
import { createReader } from './read-units.ts';
import { createUnitStore } from './unit-store.ts';
import { orElse } from '../../../system/files.ts';

/** A file is the same under any name. Null: there is none. */
export function identifyFile(path: string): string | null {
  return orElse(null, () => {
    const { dev, ino } = statSync(realpathSync(resolve(path)), { bigint: true });
    return `${dev}:${ino}`;
  });
}

/** Opens an archive to read one state of it. Nothing in it changes, and nothing stays beside it. */
export function openFileSource(path: string): Result<OpenSource, ArchiveFailure> {
  return withDatabase(path, (file) => {
    const isReadable = (found: Database.Database): boolean => readSchemaVersion(found) >= SCHEMA_VERSION;
    const { db, close } = openUntouched(file.path, { busyTimeoutMs: DEFAULT_BUSY_TIMEOUT_MS, isReadable });
    return useDatabase({ db, path, close }, () => {
      if (!isReadable(db)) {
        const reason = `it is of version ${readSchemaVersion(db)}, and must be of version ${SCHEMA_VERSION}`;
        const advice = 'Open it once with another command, such as archive list, to bring it up to date.';
        return err({ kind: 'cannot-open', path, reason, advice });
      }
      restrictSchema(db);
      db.exec('BEGIN'); // until it is closed
      db.prepare('SELECT 1 FROM compactions').get();
      const opened = { path, isReadOnly: true, extension: null, openWriter: null, close, takeTurn: createTurns() };
      const reader = guardSqlite(createReader(createQuery(db), SQLITE), path);
      const identity = identifyFile(path) ?? path;
      return ok({ path, identity, archive: createSqliteArchive(db, opened), reader, close: async () => close() });
    });
  });
}

/** Opens an existing archive to store units in it. `extension`: of vectors; null: none can be stored. */
export function openFileTarget(path: string, extension: string | null): Result<OpenTarget, ArchiveFailure> {
  return withDatabase(path, (file) => {
    const db = new Database(file.path, { fileMustExist: true, timeout: DEFAULT_BUSY_TIMEOUT_MS });
    const close = (): void => void db.close();
    return useDatabase({ db, path, close }, () => {
      configure(db, DEFAULT_BUSY_TIMEOUT_MS);
      const connection = { db, checkSchema: createSchemaGuard(db, path) };
      const sql = createSqliteSql({
        path,
        extension,
        db,
        open: () => connection,
        isReadableWhileStoring: true,
        takeTurn: createTurns(),
      });
      const store = createUnitStore({
        ...sql,
        path,
        transaction: (work) => sql.transaction('write', work),
        storing: SQLITE_STORE,
        vectors: extension === null ? null : SQLITE_VECTORS,
      });
      return ok({ identity: identifyFile(path) ?? path, store: guardSqlite(store, path), close: async () => close() });
    });
  });
}

function withDatabase<T>(path: string, open: (file: ArchiveFile) => Result<T, ArchiveFailure>) {
  if (!existsSync(join(path, MANIFEST))) return withFile(path, null, open);
  const advice = `Run 'compact archive import ${path}'.`;
  return err<ArchiveFailure>({ kind: 'cannot-open', path, reason: 'it is an export', advice });
}
