import { randomBytes } from 'node:crypto';
import {
  type BigIntStats,
  closeSync,
  constants,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { platform } from 'node:os';
import { basename, dirname, isAbsolute, join } from 'node:path';
import type { FileFailure } from '../ports/files.ts';

/** The code of a system error ("ENOENT"); null: another error. Node itself refuses a path with a NUL character. */
export function errorCode(error: unknown): string | null {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return null;
  return 'syscall' in error || error.code === 'ERR_INVALID_ARG_VALUE' ? error.code : null;
}

/** What `work` gives; `otherwise` after a system error, or only after those with these codes. */
export function orElse<T, const O>(otherwise: O, work: () => T, codes?: readonly string[]): T | O {
  try {
    return work();
  } catch (error) {
    const code = errorCode(error);
    if (code === null || codes?.includes(code) === false) throw error;
    return otherwise;
  }
}

type Attempt = { readonly path: string; readonly what: 'read' | 'write'; readonly isFolder?: boolean };

/** False: the system refused it, with one of these codes if any are given. */
export function tryTo(work: () => void, codes?: readonly string[]): boolean {
  const attempt = (): true => {
    work();
    return true;
  };
  return orElse(false, attempt, codes);
}

/** Turns a system error, or one that carries its failure, into a value; rethrows other errors. */
export function toFileFailure(error: unknown, { path, what, isFolder = false }: Attempt): FileFailure {
  const carried = carriedFileFailure(error);
  if (carried !== null) return carried;
  const code = errorCode(error);
  if (code === null) throw error;
  switch (code) {
    case 'EEXIST':
    case 'ENOTDIR':
      if (isFolder) return { kind: 'not-a-file', path, is: 'a file, not a folder' };
      return code === 'ENOTDIR' ? { kind: 'not-found', path } : { kind: 'io', path, code };
    case 'ENOENT':
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
    default:
      return isFullDisk(code) ? { kind: 'no-space', path } : { kind: 'io', path, code };
  }
}

/** Whether a system's code says that there is no space, or no more for this user. */
export function isFullDisk(code: string | null): boolean {
  return code === 'ENOSPC' || code === 'EDQUOT';
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

/** Stats the name itself, not what a link leads to. */
export function statName(path: string): BigIntStats | undefined {
  return lstatSync(path, { bigint: true, throwIfNoEntry: false });
}

export function isSameFile(a: BigIntStats | undefined, b: BigIntStats | undefined): boolean {
  return a !== undefined && a.ino === b?.ino && a.dev === b.dev;
}

/** No link is followed. */
export const NO_FOLLOW = constants.O_NOFOLLOW ?? 0;
/** A named pipe would wait for a writer forever. */
export const NO_WAIT = constants.O_NONBLOCK ?? 0;

/** Opens a file for the time of `work`. */
export function withOpenFile<T>(path: string, flags: number | string, work: (fd: number) => T, mode?: number): T {
  const fd = openSync(path, flags, mode);
  try {
    return work(fd);
  } finally {
    closeSync(fd);
  }
}

/** Writes all bytes, because one write may take fewer. */
export function writeAll(fd: number, bytes: Uint8Array): void {
  let done = 0;
  while (done < bytes.length) done += writeSync(fd, bytes, done, bytes.length - done);
}

/** Creates a folder and its parents one at a time, because Node's recursive mkdir never returns below /proc. */
export function makeFolder(folder: string): void {
  const missing: string[] = [];
  for (let at = folder; statSync(at, { throwIfNoEntry: false }) === undefined; at = dirname(at)) missing.push(at);
  // Another run may be faster.
  for (const one of missing.toReversed()) tryTo(() => mkdirSync(one, { mode: 0o700 }), ['EEXIST']);
}

/** The names in a folder; none if it cannot be read. */
export function listNames(folder: string): readonly string[] {
  return orElse([], () => readdirSync(folder));
}

/** What Windows says while a scanner or an indexer has a file open, which passes. */
const BUSY_CODES = ['EPERM', 'EACCES', 'EBUSY'];
const BUSY_WAITS_MS = [1, 10, 50, 150, 400];

/** What a test has in the place of the system. */
type Renaming = {
  readonly isWindows: boolean;
  readonly rename: (from: string, to: string) => void;
  readonly wait: (ms: number) => void;
};

const RENAMING: Renaming = { isWindows: platform() === 'win32', rename: renameSync, wait: sleepSync };

/** Renames a file. On Windows this waits for programs that have it open, and fails with EBUSY where one keeps it. */
export function moveFile(from: string, to: string, { isWindows, rename, wait }: Renaming = RENAMING): void {
  for (const waitMs of isWindows ? BUSY_WAITS_MS : []) {
    if (tryTo(() => rename(from, to), BUSY_CODES)) return;
    wait(waitMs);
  }
  try {
    rename(from, to);
  } catch (error) {
    if (isWindows && error instanceof Error && BUSY_CODES.includes(errorCode(error) ?? ''))
      throw Object.assign(error, { code: 'EBUSY' });
    throw error;
  }
}

export function sleepSync(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

/** Replaces a file atomically. */
export function replaceFile(file: string, text: string, mode = 0o600): void {
  const temporary = `${file}.${randomBytes(8).toString('hex')}.tmp`;
  try {
    withOpenFile(
      temporary,
      'wx',
      (fd) => {
        writeFileSync(fd, text);
        fsyncSync(fd);
      },
      mode,
    );
    moveFile(temporary, file);
  } finally {
    rmSync(temporary, { force: true });
  }
}

/** Returned by file systems that cannot sync a folder, and by Windows; its names are as safe as they get. */
const CANNOT_SYNC_FOLDER = ['EINVAL', 'ENOTSUP', 'EOPNOTSUPP', 'EISDIR', 'EPERM', 'EACCES', 'EBADF'];

/** Flushes the names in a folder to disk. */
export function syncFolder(folder: string): void {
  tryTo(() => withOpenFile(folder, 'r', fsyncSync), CANNOT_SYNC_FOLDER);
}

/** The limit of Linux. */
const MAX_LINKS = 40;

/**
 * Follows the links of a path to a file that may not exist. On macOS and Windows, where names ignore case or
 * normalization, it returns the name that the file has; on Linux (folders with casefold), or if there is no file, the
 * name as given. Throws system errors.
 */
export function followLinks(path: string): string {
  let current = path;
  for (let links = 0; links <= MAX_LINKS; links += 1) {
    // The real folder, because `..` in a link counts from there.
    const folder = realpathSync.native(dirname(current));
    const named = join(folder, basename(current));
    const text = readLink(named);
    if (text === null) return orElse(named, () => realpathSync.native(named), ['ENOENT']);
    current = isAbsolute(text) ? text : `${folder}/${text}`;
  }
  throw Object.assign(new Error(`too many links: ${path}`), { code: 'ELOOP', syscall: 'readlink' });
}

/** What a link says; null: it is none. */
export function readLink(path: string): string | null {
  return statName(path)?.isSymbolicLink() === true ? orElse(null, () => readlinkSync(path), ['ENOENT']) : null;
}
