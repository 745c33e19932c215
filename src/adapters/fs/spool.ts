import { closeSync, mkdtempSync, openSync, rmdirSync, unlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { err, ok, type Result } from '../../core/result.ts';
import type { FileFailure } from '../../ports/files.ts';
import { errorCode } from './failure.ts';

/**
 * A file without a name, open for writing and reading, in the folder for temporary files: whatever ends the process, nothing of a private
 * conversation is left there. `path` is what messages are about.
 */
export function openSpool(path: string): Result<number, FileFailure> {
  try {
    const folder = mkdtempSync(join(tmpdir(), 'compact-unpacked-'));
    const file = join(folder, 'content');
    try {
      const fd = openSync(file, 'wx+', 0o600);
      try {
        unlinkSync(file);
      } catch (error) {
        closeSync(fd);
        throw error;
      }
      return ok(fd);
    } finally {
      rmdirSync(folder);
    }
  } catch (error) {
    return err(toRoomFailure(error, path));
  }
}

/** Why a file's content cannot be kept while it is read; an error that is not the system's is thrown on. */
export function toRoomFailure(error: unknown, path: string): FileFailure {
  const code = errorCode(error);
  if (code === null) throw error;
  return { kind: 'no-room', path, folder: tmpdir(), code };
}
