import { accessSync, chmodSync, closeSync, constants, mkdirSync, openSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { err, ok } from '../../core/result.ts';
import type { Result } from '../../core/result.ts';
import type { ArchiveFailure } from '../../ports/archive.ts';

/**
 * The absolute path of a file that SQLite may open: one that is there, or a new empty one (0600, its folders 0700). An existing file is
 * not opened here: closing it again would drop the locks that SQLite holds on it for other connections of this process.
 */
export function prepareFile(path: string, create: boolean): Result<string, ArchiveFailure> {
  const cannotOpen = (reason: string): Result<string, ArchiveFailure> => err({ kind: 'cannot-open', path, reason });
  const file = resolve(path);
  // better-sqlite3 trims the name, and would open another file.
  if (file !== file.trim()) return cannotOpen('its name ends in white space');
  try {
    const stats = statSync(file, { throwIfNoEntry: false });
    if (stats === undefined) {
      if (!create) return cannotOpen('it does not exist');
      mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
      closeSync(openSync(file, 'a', 0o600));
    } else if (!stats.isFile()) {
      return cannotOpen(stats.isDirectory() ? 'it is a folder' : 'it is not a regular file');
    } else {
      accessSync(file, constants.R_OK);
      if (create && stats.size === 0) chmodSync(file, 0o600);
    }
    return ok(file);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : null;
    if (code === null) throw error;
    return code === 'ENOSPC' ? err({ kind: 'no-space', path }) : cannotOpen(describe(code));
  }
}

/** Whether there is anything to open; an empty file is an archive yet to be made. */
export function archiveExists(path: string): boolean {
  return (statSync(resolve(path), { throwIfNoEntry: false })?.size ?? 0) > 0;
}

function describe(code: string): string {
  if (code === 'EACCES' || code === 'EPERM') return `permission denied (${code})`;
  if (code === 'EROFS') return `the file system is read-only (${code})`;
  if (code === 'ENOTDIR' || code === 'EEXIST') return 'a part of its path is a file, not a folder';
  return `the system says ${code}`;
}
