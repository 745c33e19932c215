import type { ArchiveFailure } from '../../ports/archive.ts';
import type { FileFailure } from '../../ports/files.ts';
import type { Failure } from './failure.ts';

/** The failure that a port's error carries; anything else is a bug and is thrown on. */
export function toFailure(error: unknown, file: string): Failure {
  const archive = carriedFailure(error);
  if (archive !== null) return { kind: 'archive', failure: archive };
  if (carries<FileFailure>(error, 'fileFailure'))
    return { kind: 'file', failure: { ...error.fileFailure, path: file } };
  throw error;
}

/** What an archive's error says; null: it is none. */
export function carriedFailure(error: unknown): ArchiveFailure | null {
  return carries<ArchiveFailure>(error, 'failure') ? error.failure : null;
}

function carries<T>(error: unknown, key: 'failure' | 'fileFailure'): error is { failure: T; fileFailure: T } {
  return typeof error === 'object' && error !== null && key in error;
}
