import { closeSync, openSync, statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { findRemedy, systemCode } from '../../core/result.ts';
import type { ArchiveError, ArchiveFailure } from '../../ports/archive.ts';

/** Thrown for a stored row that cannot have been written like this; `guardPort` turns it into an `ArchiveError`. */
export class DamageError extends Error {
  override readonly name = 'DamageError';
}

export function archiveError(failure: ArchiveFailure): ArchiveError {
  const reason = 'reason' in failure ? `: ${failure.reason}` : '';
  return Object.assign(new Error(`archive ${failure.path} (${failure.kind})${reason}`), { failure });
}

/** An archive whose tables are not those of its version: before the first release, the schema changes while its version stays the same. */
export function refuseOtherBuild(path: string, reason: string): ArchiveFailure {
  return {
    kind: 'cannot-open',
    path,
    reason: `another version of compact may have made it: ${reason}`,
    advice:
      'Export it with that version and import it into a new archive, or name another archive with --archive. If this version made it, it is damaged: use a backup.',
  };
}

/** By name, so that other engines can share this module without loading SQLite. */
export function isSqliteError(error: unknown): error is Error & { readonly code: string } {
  return error instanceof Error && error.name === 'SqliteError' && 'code' in error;
}

/** What an SQLite error or a damaged row means for the user; null: another error, so a bug. */
export function toArchiveFailure(error: unknown, path: string): ArchiveFailure | null {
  if (error instanceof DamageError) return { kind: 'damaged', path, reason: error.message };
  if (!isSqliteError(error)) return null;
  const { code } = error;
  const reason = `${error.message} (${code})`;
  // PROTOCOL: SQLite gave up on the locks of the write-ahead log.
  if (/^SQLITE_(BUSY|LOCKED|PROTOCOL)/.test(code)) return { kind: 'busy', path };
  if (code === 'SQLITE_FULL') return { kind: 'no-space', path };
  if (/^SQLITE_(CORRUPT|NOTADB)/.test(code)) return { kind: 'damaged', path, reason };
  // A full disk can also appear as a failed write of the log's index.
  if (code.startsWith('SQLITE_IOERR') && isDiskFull(path)) return { kind: 'no-space', path };
  if (!/^SQLITE_(IOERR|CANTOPEN|READONLY|PERM)/.test(code)) return null;
  const remedy = code.startsWith('SQLITE_CANTOPEN') ? whyNothingOpens(path) : null;
  return { kind: 'cannot-open', path, reason, ...remedy };
}

/**
 * What is wrong with a part of an archive that cannot be read although others may be: a damaged row or page, or a disk
 * error. Null: another error.
 */
export function describeDamage(error: unknown): string | null {
  if (error instanceof DamageError) return error.message;
  if (!isSqliteError(error)) return null;
  const isDamage = /^SQLITE_(CORRUPT|IOERR_(READ|SHORT_READ|CORRUPTFS|DATA))/.test(error.code);
  return isDamage ? `it cannot be read: ${error.message} (${error.code})` : null;
}

/** Whether something cannot be read because it was erased on purpose. */
export function isErased(error: unknown): boolean {
  return error instanceof Error && 'failure' in error && (error as ArchiveError).failure.kind === 'erased';
}

/** SQLite does not say why it could not open a file. It needs as many at once as are opened here. */
function whyNothingOpens(path: string): ReturnType<typeof findRemedy> {
  const opened: number[] = [];
  try {
    while (opened.length < FILES_OF_SQLITE) opened.push(openSync(dirname(path), 'r'));
    return null;
  } catch (error) {
    return findRemedy(systemCode(error) ?? '');
  } finally {
    for (const descriptor of opened) closeSync(descriptor);
  }
}

/** The database, its log, the log's index, a journal, and a temporary file. */
const FILES_OF_SQLITE = 5;

function isDiskFull(path: string): boolean {
  try {
    return statfsSync(dirname(path)).bavail === 0;
  } catch {
    return false; // the folder cannot be read either: the first error says more
  }
}

type ToFailure = (error: unknown) => ArchiveFailure | null;

/** The same port, whose methods throw `ArchiveError`s for errors that mean a failure. Writers that a method gives are ports too. */
export function guardPort<Port extends object>(port: Port, toFailure: ToFailure): Port {
  const entries = Object.entries(port).map(([name, value]): [string, unknown] => [name, guardValue(value, toFailure)]);
  return Object.fromEntries(entries) as Port; // the same names with values of the same types
}

function guardValue(value: unknown, toFailure: ToFailure): unknown {
  if (typeof value === 'function') {
    return (...args: readonly unknown[]): unknown => {
      const returned: unknown = Reflect.apply(value, undefined, args);
      const isIterable = typeof returned === 'object' && returned !== null && Symbol.asyncIterator in returned;
      return isIterable
        ? guardIterable(returned as AsyncIterable<unknown>, toFailure)
        : guardPromise(returned, toFailure);
    };
  }
  const isPort = typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
  return isPort ? guardPort(value, toFailure) : value;
}

async function guardPromise(promise: unknown, toFailure: ToFailure): Promise<unknown> {
  try {
    const value = await promise;
    const isWriter = typeof value === 'object' && value !== null && 'abandon' in value;
    return isWriter ? guardPort(value, toFailure) : value;
  } catch (error) {
    throw translate(error, toFailure);
  }
}

async function* guardIterable(items: AsyncIterable<unknown>, toFailure: ToFailure): AsyncGenerator {
  try {
    yield* items;
  } catch (error) {
    throw translate(error, toFailure);
  }
}

function translate(error: unknown, toFailure: ToFailure): unknown {
  if (error instanceof Error && 'failure' in error) return error;
  const failure = toFailure(error);
  return failure === null ? error : archiveError(failure);
}
