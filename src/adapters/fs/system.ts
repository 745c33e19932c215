import { type BigIntStats, type Stats, writeSync } from 'node:fs';
import type { FileFailure } from '../../ports/files.ts';

type Attempt = { readonly path: string; readonly what: 'read' | 'write' };

/** Turns a system error into a value; rethrows other errors. */
export function toFileFailure(error: unknown, { path, what }: Attempt): FileFailure {
  const code = errorCode(error);
  if (code === null) throw error;
  switch (code) {
    case 'ENOENT':
    case 'ENOTDIR':
      return { kind: 'not-found', path };
    case 'EISDIR':
      return { kind: 'not-a-file', path, is: 'a folder' };
    case 'ENXIO':
      return { kind: 'not-a-file', path, is: 'a socket' }; // it cannot be opened
    case 'ELOOP':
      return { kind: 'not-a-file', path, is: 'a circle of links' };
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return { kind: 'denied', path, what };
    case 'ENOSPC':
    case 'EDQUOT':
      return { kind: 'no-space', path };
    default:
      return { kind: 'io', path, code };
  }
}

/** The code of a system error ("ENOENT"); null: another error. */
export function errorCode(error: unknown): string | null {
  const isSystemError = error instanceof Error && 'code' in error && 'syscall' in error;
  return isSystemError && typeof error.code === 'string' ? error.code : null;
}

/** An error that carries its failure as data, for where no Result can be returned. */
export function fileError(message: string, fileFailure: FileFailure): Error {
  return Object.assign(new Error(message), { fileFailure });
}

/** Null: the error carries none. */
export function carriedFileFailure(error: unknown): FileFailure | null {
  return error instanceof Error && 'fileFailure' in error ? (error.fileFailure as FileFailure) : null;
}

/** What is there instead of a file ("a folder"); null: it is a file. */
export function describeNonFile(stats: Stats | BigIntStats): string | null {
  if (stats.isFile()) return null;
  if (stats.isDirectory()) return 'a folder';
  if (stats.isFIFO()) return 'a pipe';
  if (stats.isSocket()) return 'a socket';
  return 'a device';
}

/** Writes all bytes, because one write may take fewer. */
export function writeAll(fd: number, bytes: Uint8Array): void {
  let done = 0;
  while (done < bytes.length) done += writeSync(fd, bytes, done, bytes.length - done);
}
