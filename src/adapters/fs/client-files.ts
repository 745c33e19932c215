import { existsSync, realpathSync, rmSync, rmdirSync, statSync } from 'node:fs';
import { delimiter, dirname, isAbsolute, join } from 'node:path';
import { err, ok, type Result } from '../../core/result.ts';
import type { ClientFiles } from '../../ports/clients.ts';
import type { FileFailure } from '../../ports/files.ts';
import { lockFile, type LockOptions } from './file-lock.ts';
import { decodeText, MAX_OUTSIDE_LINE_BYTES, readOutsideFile } from '../../system/outside-file.ts';
import { stampOf } from './file-store.ts';
import { makeFolder, toFileFailure, tryTo } from '../../system/files.ts';

type ClientFilesOptions = Pick<LockOptions, 'removeAtExit'> & {
  /** The value of PATH. */
  readonly path: string;
};

/** Settings of other programs on the local disk. */
export function createClientFiles({ removeAtExit, path: searched }: ClientFilesOptions): ClientFiles {
  const replace: ClientFiles['replace'] = async (path, { expected, text }) => {
    try {
      makeFolder(dirname(path));
    } catch (error) {
      return err(toFileFailure(error, { path: dirname(path), what: 'write' }));
    }
    const locked = await lockFile({ path, removeAtExit });
    if (!locked.ok) return locked;
    const lock = locked.value;
    try {
      const begun = await lock.begin(expected === null ? undefined : path);
      if (!begun.ok) return begun;
      const file = begun.value;
      try {
        const written = file.write(new TextEncoder().encode(text));
        if (!written.ok) return written;
        const synced = file.sync();
        if (!synced.ok) return synced;
        const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
        const current = read(path);
        if (!current.ok) return current.error === 'not-text' ? err('file-changed') : err(current.error);
        if (current.value !== expected) return err('file-changed');
        const placed = await file.takePlace(stats === undefined ? null : stampOf(stats));
        if (!placed.ok) return placed;
        if (placed.value === 'taken') return err('file-changed');
        placed.value?.drop();
        return await file.syncFolder();
      } finally {
        file.close();
      }
    } finally {
      lock.release();
    }
  };
  const hasProgram = (name: string): boolean =>
    searched.split(delimiter).some((folder) => isAbsolute(folder) && existsSync(join(folder, name)));
  return { exists: existsSync, hasProgram, read, replace, remove };
}

/** People keep their settings elsewhere and link to them. */
function read(path: string): ReturnType<ClientFiles['read']> {
  const file = readOutsideFile(path, { followsLinks: true, maxBytes: MAX_OUTSIDE_LINE_BYTES });
  if (!file.ok) return file.error.kind === 'not-found' ? ok(null) : file;
  const text = decodeText(file.value.bytes, { keepsMark: true });
  return text === null ? err('not-text') : ok(text);
}

function remove(path: string, folders: readonly string[] = []): Result<void, FileFailure> {
  try {
    // A link stays.
    if (existsSync(path)) rmSync(realpathSync(path));
  } catch (error) {
    return err(toFileFailure(error, { path, what: 'write' }));
  }
  // It holds something else, or it is gone.
  for (const folder of folders) tryTo(() => rmdirSync(folder));
  return ok(undefined);
}
