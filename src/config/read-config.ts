import { constants } from 'node:fs';
import type { Stats } from 'node:fs';
import { lstat, open } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { err, ok } from '../core/result.ts';
import type { Result } from '../core/result.ts';
import { describeOwner, lookAtFolder } from './find.ts';
import type { ConfigPlace, Surroundings } from './find.ts';
import type { ConfigProblem } from './problem.ts';

/** A config file as it was read, once: what is parsed is what was hashed. */
export type ConfigText = {
  readonly bytes: Uint8Array;
  readonly text: string;
  /** Why a project's file is another user's; null: it is not, or the user named it. */
  readonly owner: string | null;
};

const MAX_CONFIG_BYTES = 1024 * 1024; // a config of a megabyte is some other file, named by mistake

/** A project's file must be a regular one: a repository can bring links to devices, and an archive can bring a FIFO. */
export async function readConfigText(
  { path, place }: { readonly path: string; readonly place: ConfigPlace },
  surroundings: Pick<Surroundings, 'userId'>,
): Promise<Result<ConfigText, ConfigProblem>> {
  try {
    const isProject = place === 'project';
    // Not blocking, or a FIFO would wait for its writer. What the user named may be a pipe, as of `<(…)`.
    const file = await open(path, constants.O_RDONLY | (isProject ? (constants.O_NONBLOCK ?? 0) : 0));
    try {
      const stats = await file.stat();
      if (stats.isDirectory()) return unreadable(path, 'it is a folder');
      if (isProject && !stats.isFile()) return unreadable(path, 'it is not a regular file');
      const bytes = await readBytes(file);
      if (bytes.length > MAX_CONFIG_BYTES) return unreadable(path, 'it is larger than 1 MiB');
      const owner = isProject ? await findStranger(path, stats, surroundings) : null;
      // Fatal, so that a file in another encoding is an error; a byte order mark is dropped.
      return ok({ bytes, text: new TextDecoder('utf-8', { fatal: true }).decode(bytes), owner });
    } finally {
      await file.close();
    }
  } catch (error) {
    if (error instanceof TypeError) return unreadable(path, 'it is not UTF-8 text');
    const code = error instanceof Error && 'code' in error ? String(error.code) : null;
    if (code === null) throw error;
    if ((code === 'ENOENT' || code === 'ENOTDIR') && place !== 'project' && place !== 'user') {
      return err({ kind: 'config-missing', path, namedBy: place === 'flag' ? '--config' : '$COMPACT_CONFIG' });
    }
    return unreadable(path, REASONS[code] ?? code);
  }
}

/** Reads no more than is needed to see that it is too much: `/dev/zero` has no end. */
async function readBytes(file: FileHandle): Promise<Uint8Array> {
  const buffer = Buffer.alloc(MAX_CONFIG_BYTES + 1);
  let length = 0;
  while (length < buffer.length) {
    const { bytesRead } = await file.read(buffer, length, buffer.length - length, null);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return buffer.subarray(0, length);
}

/** The folder, the name (which may be a link) and the file must all be the user's own. */
async function findStranger(
  path: string,
  stats: Stats,
  surroundings: Pick<Surroundings, 'userId'>,
): Promise<string | null> {
  const folder = lookAtFolder(dirname(path));
  return (
    (folder === null ? null : describeOwner('its folder', folder, surroundings)) ??
    describeOwner('it', await lstat(path), surroundings) ??
    describeOwner('it', stats, surroundings)
  );
}

const REASONS: { readonly [code: string]: string } = {
  EISDIR: 'it is a folder',
  EACCES: 'you may not read it',
  EPERM: 'you may not read it',
  ENOENT: 'it is not there',
};

function unreadable(path: string, reason: string): Result<never, ConfigProblem> {
  return err({ kind: 'config-unreadable', path, reason });
}
