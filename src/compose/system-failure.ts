import type { FileFailure } from '../ports/files.ts';
import { systemCode } from '../core/result.ts';

/** The system's error as data; any other error is rethrown. */
export function toFileFailure(
  error: unknown,
  { path, what }: { readonly path: string; readonly what: 'read' | 'write' },
): FileFailure {
  const code = systemCode(error);
  if (code === null) throw error;
  switch (code) {
    case 'ENOENT':
      return { kind: 'not-found', path };
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return { kind: 'denied', path, what };
    case 'EEXIST':
    case 'ENOTDIR':
      return { kind: 'not-a-file', path, is: 'a file, not a folder' };
    case 'EISDIR':
      return { kind: 'not-a-file', path, is: 'a folder' };
    case 'ENOSPC':
    case 'EDQUOT':
      return { kind: 'no-space', path };
    default:
      return { kind: 'io', path, code };
  }
}
