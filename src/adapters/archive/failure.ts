import { statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'better-sqlite3';
import type { ArchiveError, ArchiveFailure } from '../../ports/archive.ts';

/** Thrown where a stored row cannot be what was written; `guard` turns it into an `ArchiveError`. */
export class DamageError extends Error {
  override readonly name = 'DamageError';
}

export function archiveError(failure: ArchiveFailure): ArchiveError {
  const reason = 'reason' in failure ? `: ${failure.reason}` : '';
  return Object.assign(new Error(`archive ${failure.path} (${failure.kind})${reason}`), { failure });
}

/** What an error of SQLite, or a row that cannot be, means for the user; null: not one of those, thus a bug. */
export function toArchiveFailure(error: unknown, path: string): ArchiveFailure | null {
  if (error instanceof DamageError) return { kind: 'damaged', path, reason: error.message };
  if (!(error instanceof Database.SqliteError)) return null;
  const { code } = error;
  const reason = `${error.message} (${code})`;
  // PROTOCOL: the locks of the write-ahead log could not be had in many tries.
  if (/^SQLITE_(BUSY|LOCKED|PROTOCOL)/.test(code)) return { kind: 'busy', path };
  if (code === 'SQLITE_FULL') return { kind: 'no-space', path };
  if (/^SQLITE_(CORRUPT|NOTADB)/.test(code)) return { kind: 'damaged', path, reason };
  // A full disk can also show as a failed write of the log's index.
  if (code.startsWith('SQLITE_IOERR') && isDiskFull(path)) return { kind: 'no-space', path };
  if (/^SQLITE_(IOERR|CANTOPEN|READONLY|PERM)/.test(code)) return { kind: 'cannot-open', path, reason };
  return null;
}

/**
 * What is wrong with a part of an archive that could not be read, though others may be: a row that cannot be, a page that is none, a disk that
 * does not give it back. Null: an error of another kind.
 */
export function describeDamage(error: unknown): string | null {
  if (error instanceof DamageError) return error.message;
  if (!(error instanceof Database.SqliteError)) return null;
  const isDamage = /^SQLITE_(CORRUPT|IOERR_(READ|SHORT_READ|CORRUPTFS|DATA))/.test(error.code);
  return isDamage ? `it cannot be read: ${error.message} (${error.code})` : null;
}

/** Runs one method of the archive; what a database can do to its user is thrown as an `ArchiveError`, the rest as it is. */
export function guard<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    const failure = toArchiveFailure(error, path);
    throw failure === null ? error : archiveError(failure);
  }
}

function isDiskFull(path: string): boolean {
  try {
    return statfsSync(dirname(path)).bavail === 0;
  } catch {
    return false; // the folder itself cannot be read: the first error says more
  }
}
