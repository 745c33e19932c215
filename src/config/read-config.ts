import { constants, type Stats } from 'node:fs';
import { type FileHandle, lstat, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { err, ok, type Result, systemCode } from '../core/result.ts';
import { type ConfigPlace, describeOwner, lookAtFolder, type HostEnvironment } from './find.ts';
import type { ConfigProblem } from './parse.ts';

/** A configuration file, read once, so that the parsed text is the hashed text. */
export type ConfigText = {
  readonly bytes: Uint8Array;
  readonly text: string;
  /** Why a project's file counts as another user's; null: it does not, or the user named the file. */
  readonly owner: string | null;
};

const MAX_CONFIG_BYTES = 1024 * 1024; // a larger file was named by mistake

/**
 * Reads a configuration file. A project's file must be a regular file, because it could be a link to a device, or a
 * FIFO that never ends.
 */
export async function readConfigText(
  { path, place }: { readonly path: string; readonly place: ConfigPlace },
  host: Pick<HostEnvironment, 'userId'>,
): Promise<Result<ConfigText, ConfigProblem>> {
  try {
    const isProject = place === 'project';
    // A file that the user named may be a pipe: `--config <(…)`. Without a writer, opening one would block for good.
    const file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    try {
      const stats = await file.stat();
      if (stats.isDirectory()) return unreadable(path, 'it is a folder');
      if (isProject && !stats.isFile()) return unreadable(path, 'it is not a regular file');
      const bytes = await readBytes(file);
      if (stats.isFIFO() && bytes.length === 0) return unreadable(path, 'it is a pipe, and nothing was written to it');
      if (bytes.length > MAX_CONFIG_BYTES) return unreadable(path, 'it is larger than 1 MiB');
      const owner = isProject ? await findStranger(path, stats, host) : null;
      // Fatal, so that another encoding is an error; a byte order mark is dropped.
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

/** Stops one byte past the limit, because `/dev/zero` has no end. */
async function readBytes(file: FileHandle): Promise<Uint8Array> {
  const buffer = Buffer.allocUnsafe(MAX_CONFIG_BYTES + 1);
  let length = 0;
  while (length < buffer.length) {
    const bytesRead = await readNow(file, buffer.subarray(length));
    if (bytesRead === 0) break;
    if (bytesRead === null) await setTimeout(POLL_MS);
    else length += bytesRead;
  }
  return buffer.subarray(0, length);
}

const POLL_MS = 10;

/** Null: the writer of a pipe has nothing yet. */
async function readNow(file: FileHandle, into: Uint8Array): Promise<number | null> {
  try {
    return (await file.read(into, 0, into.length, null)).bytesRead;
  } catch (error) {
    if (systemCode(error) === 'EAGAIN') return null;
    throw error;
  }
}

/** The user must own the folder, the file and, if the name is a link, the link. */
async function findStranger(path: string, stats: Stats, host: Pick<HostEnvironment, 'userId'>): Promise<string | null> {
  const folder = lookAtFolder(dirname(path));
  return (
    (folder === null ? null : describeOwner('its folder', folder, host)) ??
    describeOwner('it', await lstat(path), host) ??
    describeOwner('it', stats, host)
  );
}

const REASONS: { readonly [code: string]: string } = {
  EISDIR: 'it is a folder',
  ELOOP: 'it is a circle of links',
  ENXIO: 'it is a socket',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  ENOENT: 'it does not exist',
};

function unreadable(path: string, reason: string): Result<never, ConfigProblem> {
  return err({ kind: 'config-unreadable', path, reason });
}
